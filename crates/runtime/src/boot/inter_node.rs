//! How ranks on several nodes meet: those of a node at its first rank, which leads it, and the leaders in
//! rounds among themselves.
//!
//! ```text
//!  leader of a node          puts its card                       barrier
//!  all ranks of the node     join the leader and say their ports    gather
//!  leaders                   exchange their nodes' sheets           rounds
//!  leader                    tells its ranks all sheets             release, barrier
//! ```
//!
//! After the last barrier no leader waits for a sheet any more, so what comes over the rounds'
//! connections are messages.

use std::fmt::Display;

use oxmpi_os::RawBytes;
use oxmpi_shm::Gathered;
use oxmpi_tcp::{Card, TcpTx};
use oxmpi_wire::Peer;
use oxmpi_wire::exchange::{self, Directory, Exchange, Sheet};

use super::business_card::{WireLengths, agree, co_located, not_watched};
use super::endpoint_address::is_first_alone;
use super::leader_exchange::{self, ExchangeTraffic, LeaderAddress};
use super::node::{gather, gather_at_node, release};
use super::nodes::PublishedNodes;
use super::{NetworkListener, ProcessManager, RemoteRanks, StartOptions, WiredRanks, address};
use crate::error::{Error, Result};

/// The key under which the leader of a node says how long what it writes is and where it listens, `LENGTHS/CARD`, with
/// the node's number.
const CARD: &str = "oxmpi-card";

/// Meets all ranks of the job, which are on the nodes that rank 0 has `published`.
///
/// # Errors
/// When a rank of this node or a leader does not come, or says what makes no sense.
pub(super) fn meet(
    manager: &mut ProcessManager,
    listening: NetworkListener,
    mut published: PublishedNodes,
    options: &StartOptions,
) -> Result<WiredRanks> {
    let (rank, size, nodes) = (manager.rank(), manager.size(), published.nodes);
    let place = published.node_rank(manager, rank)?;
    let NetworkListener {
        acceptor,
        address: own,
        site,
        lengths,
        card,
    } = listening;
    if place.place == 0 {
        let own = format!("{lengths}/{card}");
        manager.put(&format!("{CARD}-{}", place.node), &own)?;
    }
    manager.barrier()?;
    let mut ends = site.enter(rank, size).map_err(not_watched)?;
    let mut traffic = ExchangeTraffic::default();
    let note = u64::from(rank) << 16 | u64::from(card.port);
    let (node, sheets) = if place.place == 0 {
        let gathered = gather(acceptor, options.layout(place.ranks), options.heap, note)?;
        let common = format!("{}/{lengths}/{card}", own.node);
        let mut exchange = Exchange::new(place.node, nodes, &sheet(common, &gathered));
        let patience = options.network.options.patience;
        (ends, traffic) =
            leader_exchange::run(&mut exchange, ends, patience, |node, with_card| {
                let leader = published.leader(manager, node)?;
                let card = with_card.then(|| card_of(manager, leader, node, lengths));
                Ok(LeaderAddress {
                    rank: leader,
                    card: card.transpose()?.flatten(),
                })
            })?;
        let sheets = exchange.whole();
        (release(gathered, &sheets)?, sheets)
    } else {
        let first = address(manager, place.leader)?;
        gather_at_node(&first, place.place, place.ranks, note)?
    };
    manager.barrier()?;
    let all = Directory::read(size, nodes, &sheets).map_err(leader_exchange::wrong)?;
    let order = introduce(&ends.0, &all, rank)?;
    if order.get(place.place as usize) != Some(&rank) {
        let why = format!("rank {rank} has met others on its node than rank 0 has counted there");
        return Err(misled(&why));
    }
    let (tx, rx) = ends;
    let places = || (0..size).filter_map(|rank| all.place(rank));
    let nodes = places().map(|place| (node_of(place.common), place.pid));
    let (ranks_on_machine, visible_pids) = co_located(&own.node, nodes);
    let speaks_for_host = is_first_alone(&own.node, places().map(|place| node_of(place.common)));
    let remote = RemoteRanks {
        speaks_for_host,
        tx,
        rx,
        order,
        nodes: places().map(|place| place.node).collect(),
        pids: places().map(|place| place.pid).collect(),
        ranks_on_machine,
        visible_pids,
        traffic,
    };
    Ok(WiredRanks {
        node,
        remote: Some(remote.into()),
    })
}

/// What the ranks that have gathered say of themselves.
fn sheet(common: String, gathered: &Gathered) -> Sheet {
    let ranks = (0..)
        .zip(gathered.notes())
        .map(|(place, note)| exchange::Seat {
            rank: (note >> 16) as u32,
            pid: gathered.pid(place),
            port: *note as u16,
        });
    Sheet {
        common,
        ranks: ranks.collect(),
    }
}

/// Tells the connections of rank `me` where all ranks are. Gives the ranks, those of its node first.
fn introduce(tx: &TcpTx<RawBytes>, all: &Directory, me: u32) -> Result<Vec<u32>> {
    let cards = cards(all)?;
    let home = all.place(me).map(|place| place.node);
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for (rank, place) in (0..).map_while(|rank| Some((rank, all.place(rank)?))) {
        if Some(place.node) == home {
            here.push(rank);
            continue;
        }
        there.push(rank);
        let mut card = cards[place.node as usize].clone();
        card.port = place.port;
        tx.introduce(Peer(rank), card);
    }
    here.extend(there);
    Ok(here)
}

/// Where the leader of `node`, which is rank `of`, listens.
///
/// # Errors
/// When its lengths are not this rank's `own`, which is told before what it writes is too long to read.
fn card_of(
    manager: &mut ProcessManager,
    of: u32,
    node: u32,
    own: WireLengths,
) -> Result<Option<Card>> {
    let text = manager.get(of, &format!("{CARD}-{node}"))?;
    let Some(text) = text else {
        return Ok(None);
    };
    let (lengths, card) = text.split_once('/').unwrap_or_default();
    let card: Card = card.parse().map_err(|why| misled(&why))?;
    let lengths = lengths.parse().map_err(|why| misled(&why))?;
    agree(&[lengths, own], |one| match one {
        0 => format!("rank {of} on {}", card.host),
        _ => "this rank".into(),
    })?;
    Ok(Some(card))
}

/// The card of each node's leader, which the ranks of a node have in common with its name and the lengths of what
/// they write: `NAME/LENGTHS/CARD`.
///
/// # Errors
/// When one of them makes no sense, or the lengths of two nodes differ.
fn cards(all: &Directory) -> Result<Vec<Card>> {
    let (mut lengths, mut cards) = (Vec::new(), Vec::<Card>::new());
    for common in all.commons() {
        let mut parts = common.splitn(3, '/').skip(1);
        let mut next = || parts.next().unwrap_or_default();
        lengths.push(next().parse().map_err(|why| misled(&why))?);
        cards.push(next().parse().map_err(|why| misled(&why))?);
    }
    agree(&lengths, |node| cards[node].host.clone())?;
    Ok(cards)
}

/// The name before these.
fn node_of(common: &str) -> &str {
    common.split('/').next().unwrap_or_default()
}

fn misled(why: &dyn Display) -> Error {
    Error::start("looking for the ranks of other nodes", why)
}
