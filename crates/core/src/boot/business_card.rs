//! Listening to the network, and the business card by which other ranks connect to this one.

use std::str::FromStr;
use std::{fmt, process};

use oxmpi_shm::SegmentLayout;
use oxmpi_tcp::{BusinessCard, JobKey, PassiveEndpoint, TcpOptions};
use oxmpi_wire::{Network, Peer};

use super::endpoint_address::{is_first_alone, machine, processes};
use super::leader_exchange::malformed;
use super::network_preference::{NetworkPreference, STEP};
use super::node::Acceptor;
use super::nodes::JobNodes;
use super::rdma::Rdma;
use super::{EndpointAddress, ExchangeTraffic, RemoteRanks, WiredRanks, accept_ranks, join_node};
use crate::error::{Error, Result};

/// A rank that listens to its node and to the network, and has not connected to other ranks yet. Its text is
/// its business card.
pub(crate) struct NetworkListener {
    pub(super) acceptor: Acceptor,
    pub(super) address: EndpointAddress,
    pub(super) endpoint: PassiveEndpoint,
    pub(super) lengths: WireLengths,
    /// The addresses of the endpoint, in a text that process managers take.
    pub(super) card: BusinessCard,
    /// The RDMA port of this rank, where it has one.
    pub(super) rdma: Rdma,
}

impl NetworkListener {
    /// The longest business card in bytes, as process managers take it.
    pub(crate) const ROOM: usize = 1000;

    /// Listens to the network too, for `ranks` ranks. Those that know the key of `first`, the address of rank 0, may
    /// connect.
    ///
    /// # Errors
    /// When there is no network, or none is selected.
    pub(crate) fn open(
        preference: &NetworkPreference,
        acceptor: Acceptor,
        address: EndpointAddress,
        first: &EndpointAddress,
        ranks: u32,
    ) -> Result<Self> {
        let rdma = Rdma::open(preference, ranks);
        if !preference.selection.tcp && !rdma.is_open() {
            return Err(rdma.refusal(preference));
        }
        let key = JobKey::new(&first.key);
        let endpoint =
            PassiveEndpoint::open(key, &preference.filter, preference.options).map_err(|why| {
                let host = oxmpi_os::host::name();
                let why = format!("{host} has no network to the ranks of other nodes: {why}");
                Error::start(STEP, why)
            })?;
        let mut card = endpoint.card().clone();
        let lengths = WireLengths::of(&preference.options);
        let room = Self::ROOM - format!("{address}/4194304/{lengths}/{}/", rdma.fabric()).len();
        while card.to_string().len() > room && card.addresses.len() > 1 {
            card.addresses.pop();
        }
        Ok(Self {
            acceptor,
            address,
            endpoint,
            lengths,
            card,
            rdma,
        })
    }

    /// Connects all ranks, of which this is `rank`, by their business cards. `layout` gives the sizes of the
    /// shared memory of a number of ranks.
    ///
    /// # Errors
    /// When a business card is malformed, a rank's settings differ, or a rank of this node does not connect.
    pub(crate) fn join(
        self,
        rank: u32,
        texts: &[String],
        layout: impl Fn(u32) -> SegmentLayout,
    ) -> Result<WiredRanks> {
        let (mut addresses, mut pids, mut cards) = (Vec::new(), Vec::new(), Vec::new());
        let (mut lengths, mut fabrics) = (Vec::new(), Vec::new());
        for text in texts {
            let (address, pid, its_lengths, fabric, card) = parse(text)?;
            lengths.push(its_lengths);
            fabrics.push(fabric);
            addresses.push(address);
            pids.push(pid);
            cards.push(card);
        }
        agree(&lengths, |rank| {
            format!("rank {rank} on {}", addresses[rank].host)
        })?;
        let is_here = |&rank: &u32| addresses[rank as usize].node == self.address.node;
        let (here, there): (Vec<u32>, Vec<u32>) = (0..texts.len() as u32).partition(is_here);
        let place = here.iter().position(|&of| of == rank).unwrap_or_default() as u32;
        let size = here.len() as u32;
        let node = match place {
            0 => accept_ranks(self.acceptor, layout(size), None)?,
            _ => join_node(&addresses[here[0] as usize], place, size)?,
        };
        if there.is_empty() {
            return Ok(node.into());
        }
        let nodes = addresses.iter().map(|address| &*address.node);
        let (ranks_on_machine, visible_pids) =
            co_located(&self.address.node, nodes.clone().zip(pids.iter().copied()));
        let speaks_for_host = is_first_alone(&self.address.node, nodes.clone());
        let joined = self.endpoint.join_without_cards(rank, texts.len() as u32);
        let (mut tx, rx) = joined.map_err(cannot_watch)?;
        for &peer in &there {
            (tx.introduce(cards[peer as usize], &[(Peer(peer), None)]))
                .map_err(|why| malformed(&why))?;
        }
        let own = fabrics[rank as usize];
        let fabrics = fabrics.iter().copied();
        let heap = node.rank_areas().map(|areas| &**areas.heap());
        let (network, warning) = self.rdma.over((tx, rx), own, fabrics, &there, heap)?;
        let remote = RemoteRanks {
            speaks_for_host,
            warning,
            network,
            pids,
            order: [here, there].concat(),
            nodes: JobNodes::named(nodes).numbers(),
            ranks_on_machine,
            visible_pids,
            traffic: ExchangeTraffic::default(),
        };
        Ok(WiredRanks {
            node,
            remote: Some(remote.into()),
        })
    }
}

impl fmt::Display for NetworkListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, lengths, card) = (&self.address, self.lengths, &self.card);
        let (pid, fabric) = (process::id(), self.rdma.fabric());
        write!(f, "{address}/{pid}/{lengths}/{fabric}/{card}")
    }
}

/// The lengths in bytes by which ranks cut what they send to each other; all ranks need the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WireLengths {
    frame: u32,
    chunk: u32,
}

impl WireLengths {
    const fn of(options: &TcpOptions) -> Self {
        Self {
            frame: options.frame,
            chunk: options.chunk,
        }
    }
}

impl fmt::Display for WireLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.frame, self.chunk)
    }
}

impl FromStr for WireLengths {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let lengths = text.split_once('.').and_then(|(frame, chunk)| {
            Some(Self {
                frame: frame.parse().ok()?,
                chunk: chunk.parse().ok()?,
            })
        });
        lengths.ok_or("a rank published no frame length: is it an oxmpi program of this version?")
    }
}

/// Checks that these lengths, those of all ranks, are the same.
///
/// # Errors
/// Names the first ones that differ from those of rank 0; `owner` gives their owner.
pub(super) fn agree(lengths: &[WireLengths], owner: impl Fn(usize) -> String) -> Result<()> {
    let differs = lengths.iter().position(|of| *of != lengths[0]);
    let Some(other) = differs else {
        return Ok(());
    };
    let describe = |one: usize| {
        let WireLengths { frame, chunk } = lengths[one];
        format!("{} has tcp_frame={frame} and tcp_chunk={chunk}", owner(one))
    };
    let (one, other) = (describe(0), describe(other));
    let why = format!("{one}, {other}; all ranks of a job need the same");
    Err(Error::start("comparing the settings of all ranks", why))
}

/// The error of a system that cannot watch connections.
pub(super) fn cannot_watch(why: std::io::Error) -> Error {
    Error::start("setting up the network", why)
}

/// The number of ranks on the machine of node `own`, and the processes of those whose affinity a rank of that
/// node can read. `ranks` are the node names and processes of all ranks.
pub(super) fn co_located<'a>(
    own: &str,
    ranks: impl Iterator<Item = (&'a str, u32)>,
) -> (u32, Vec<u32>) {
    let on_machine = ranks.filter(|(node, _)| machine(node) == machine(own));
    let (mut count, mut seen) = (0, Vec::new());
    for (node, pid) in on_machine {
        count += 1;
        if processes(node) == processes(own) {
            seen.push(pid);
        }
    }
    (count, seen)
}

/// Reads a business card: endpoint address, process, lengths, fabric, and the network's own card.
fn parse(text: &str) -> Result<(EndpointAddress, u32, WireLengths, &str, &str)> {
    let mut parts = text.splitn(5, '/');
    let mut next = || parts.next().unwrap_or_default();
    let address = EndpointAddress::decode(next())?;
    let pid = next().parse().map_err(|why| malformed(&why))?;
    let lengths = next().parse().map_err(|why| malformed(&why))?;
    Ok((address, pid, lengths, next(), next()))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use oxmpi_os::fork::ForkGuard;
    use oxmpi_tcp::InterfaceFilter;
    use oxmpi_wire::transports::Selection;

    use super::*;
    use crate::boot::open_acceptor;
    use crate::{Communicator, Endpoint, EndpointCell, EndpointPolicy, Single, WaitMode};

    #[test]
    fn numbers_of_processes_count_in_one_namespace_of_one_machine() {
        let nodes = ["one.1.2.3", "one.9.2.3.77", "one.1.4.3", "two.1.2.3"];
        let ranks = nodes.into_iter().zip([10, 11, 12, 13]);
        assert_eq!(co_located("one.1.2.3", ranks), (3, vec![10, 11]));
    }

    /// Ranks on nodes of their own, which know each other by their texts only.
    #[test]
    fn ranks_join_by_their_business_cards() {
        const RANKS: u32 = 3;
        let selection = Selection {
            tcp: true,
            ..Selection::default()
        };
        let filter = InterfaceFilter::new("127.0.0.0/8", "").expect("a range");
        let preference = NetworkPreference::new(selection).with_tcp(filter, TcpOptions::default());
        let opened = (0..RANKS).map(|rank| {
            let (acceptor, mut address) = open_acceptor(false).expect("an acceptor");
            address.node.push_str(&rank.to_string());
            (acceptor, address)
        });
        let opened: Vec<_> = opened.collect();
        let first = opened[0].1.clone();
        let listeners: Vec<NetworkListener> = opened
            .into_iter()
            .map(|(acceptor, address)| {
                NetworkListener::open(&preference, acceptor, address, &first, RANKS)
                    .expect("a listener")
            })
            .collect();
        let texts: Vec<String> = listeners.iter().map(ToString::to_string).collect();
        let (done, ended) = channel();
        for (rank, listener) in (0..).zip(listeners) {
            let (texts, done) = (texts.clone(), done.clone());
            thread::spawn(move || {
                let wired = listener.join(rank, &texts, SegmentLayout::new);
                let wired = wired.expect("the others");
                let policy = EndpointPolicy {
                    wait: WaitMode::Passive,
                    ..EndpointPolicy::default()
                };
                let fork = ForkGuard::new().expect("a guard");
                let endpoint = Endpoint::new(wired, policy, fork).expect("an endpoint");
                let group = endpoint.all_ranks(rank);
                let access = Single::new(EndpointCell::new(endpoint).expect("a cell"));
                let comm = Communicator::new(access, Endpoint::FIRST_CONTEXT, group);
                for _ in 0..100 {
                    comm.barrier().expect("all are here");
                }
                done.send(comm.group().size()).expect("the test waits");
            });
        }
        for _ in 0..RANKS {
            let size = ended.recv_timeout(Duration::from_secs(120));
            assert_eq!(size, Ok(RANKS), "a rank hangs or has failed");
        }
    }
}
