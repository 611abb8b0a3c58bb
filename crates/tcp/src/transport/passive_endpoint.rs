//! [`PassiveEndpoint`]: a rank that listens and knows no address of a peer yet (libfabric's passive endpoint).

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

use oxmpi_os::tcp::Listener;
use oxmpi_os::{host, interface};
use oxmpi_wire::{Bytes, Peer};

use super::listening_endpoint::ListeningEndpoint;
use super::options::TcpOptions;
use super::peer_cards::PeerCards;
use super::rx::TcpRx;
use super::tx::TcpTx;
use crate::address::{BusinessCard, InterfaceFilter, advertised, nothing_left};
use crate::handshake::JobKey;

/// A rank that listens at the address on [`PassiveEndpoint::card`]; [`PassiveEndpoint::join`] makes it a transport.
#[derive(Debug)]
pub struct PassiveEndpoint(ListeningEndpoint);

impl PassiveEndpoint {
    /// Listens at a port that the kernel picks, on the addresses of this host that `filter` allows.
    ///
    /// # Errors
    /// The system's error when no socket can be made or interfaces cannot be listed;
    /// [`io::ErrorKind::AddrNotAvailable`] if `filter` allows no address.
    pub fn open(key: JobKey, filter: &InterfaceFilter, options: TcpOptions) -> io::Result<Self> {
        let any_v6 = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
        let any_v4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let listener = Listener::bind(any_v6).or_else(|_| Listener::bind(any_v4))?;
        let local = listener.local()?;
        let interfaces = interface::list()?;
        let mut addresses = advertised(&interfaces, filter);
        if local.is_ipv4() {
            addresses.retain(|subnet| subnet.address.is_ipv4());
        }
        if addresses.is_empty() {
            let why = nothing_left(&interfaces, filter);
            return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, why));
        }
        let card = BusinessCard {
            host: host::name(),
            port: local.port(),
            addresses,
        };
        Ok(Self(ListeningEndpoint {
            listener,
            card,
            key,
            options,
        }))
    }

    /// The addresses of this rank, which every peer needs.
    #[must_use]
    pub const fn card(&self) -> &BusinessCard {
        &self.0.card
    }

    /// The transport of rank `me`; `cards` are those of all ranks, by rank. Its own is not used: a rank
    /// has no connection to itself.
    ///
    /// # Errors
    /// As [`PassiveEndpoint::join_without_cards`].
    ///
    /// # Panics
    /// If `cards` has no entry for `me`.
    pub fn join<B: Bytes>(
        self,
        me: u32,
        cards: Vec<BusinessCard>,
    ) -> io::Result<(TcpTx<B>, TcpRx<B>)> {
        let (tx, rx) = self.join_without_cards(me, cards.len() as u32)?;
        for (peer, card) in (0..).zip(cards) {
            tx.set_card(Peer(peer), card);
        }
        Ok((tx, rx))
    }

    /// The transport of rank `me` of `ranks`. It accepts every peer at once, and connects to those whose
    /// card [`Network::introduce`](oxmpi_wire::Network::introduce) has given.
    ///
    /// # Errors
    /// The system's error when no epoll instance can be made.
    ///
    /// # Panics
    /// If `me` is not below `ranks`.
    pub fn join_without_cards<B: Bytes>(
        self,
        me: u32,
        ranks: u32,
    ) -> io::Result<(TcpTx<B>, TcpRx<B>)> {
        assert!(me < ranks, "rank {me} of {ranks}");
        let cards: PeerCards = (0..ranks).map(|_| OnceLock::new()).collect();
        cards[me as usize].get_or_init(|| self.0.card.clone());
        let tx = TcpTx::new(me, Arc::clone(&cards), self.0.options);
        let rx = TcpRx::new(me, cards, self.0)?;
        Ok((tx, rx))
    }
}
