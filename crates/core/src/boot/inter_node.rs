//! Inter-node wire-up: how the ranks of several nodes connect. The ranks of a node connect to its first rank,
//! its leader; the leaders exchange the node address tables in rounds.
//!
//! ```text
//!  leader of a node          publishes its addresses                   barrier
//!  all ranks of the node     connect to the leader, send their ports   gather
//!  leaders                   exchange node address tables              rounds
//!  leader                    sends all tables to its ranks             release, barrier
//! ```
//!
//! After the last barrier no leader waits for a node address table any more, so later frames on these
//! connections are messages.

use oxmpi_shm::GatheredNode;
use oxmpi_wire::exchange::{self, AddressDirectory, AddressExchange, NodeAddressTable};
use oxmpi_wire::{Network, Peer};

use super::business_card::{WireLengths, agree, cannot_watch, co_located};
use super::endpoint_address::is_first_alone;
use super::leader_exchange::{self, LeaderAddress, malformed};
use super::node::{gather, gather_at_node, release};
use super::nodes::PublishedNodes;
use super::{
    ExchangeTraffic, NetworkListener, ProcessManager, RemoteRanks, StartOptions, WiredRanks,
    address, rdma,
};
use crate::error::Result;

/// The key, with a node's number, under which the leader of a node publishes its lengths and its addresses:
/// `LENGTHS/CARD`.
const CARD: &str = "oxmpi-card";

/// Connects all ranks of the job, which are on the nodes that rank 0 has `published`.
///
/// # Errors
/// When a rank of this node or a leader does not connect, or sends malformed data.
pub(super) fn wire_up(
    manager: &mut ProcessManager,
    listening: NetworkListener,
    mut published: PublishedNodes,
    options: &StartOptions,
) -> Result<WiredRanks> {
    let (rank, size, nodes) = (manager.rank(), manager.size(), published.nodes);
    let node_rank = published.node_rank(manager, rank)?;
    let NetworkListener {
        acceptor,
        address: own,
        endpoint,
        lengths,
        card,
        rdma,
    } = listening;
    if node_rank.local_rank == 0 {
        let own = format!("{lengths}/{card}");
        manager.put(&format!("{CARD}-{}", node_rank.node), &own)?;
    }
    manager.barrier()?;
    let mut ends = endpoint
        .join_without_cards(rank, size)
        .map_err(cannot_watch)?;
    let mut traffic = ExchangeTraffic::default();
    let note = RankNote {
        rank,
        port: card.port,
        fabric: rdma.fabric_number(),
    };
    let (node, tables) = if node_rank.local_rank == 0 {
        let layout = options.layout(node_rank.ranks);
        let gathered = gather(acceptor, layout, options.heap, note.word())?;
        let mut notes = gathered.notes().iter().map(|word| RankNote::of(*word));
        let fabric = match notes.all(|other| other.fabric == note.fabric) {
            true => rdma.fabric(),
            false => rdma::NONE.into(),
        };
        let common = format!("{}/{lengths}/{fabric}/{card}", own.node);
        let table = node_address_table(common, &gathered);
        let mut exchange = AddressExchange::new(node_rank.node, nodes, &table);
        let timeout = options.network.options.connect_timeout;
        (ends, traffic) = leader_exchange::run(&mut exchange, ends, timeout, |node, with_card| {
            let leader = published.leader(manager, node)?;
            let card = with_card.then(|| card_of(manager, leader, node, lengths));
            Ok(LeaderAddress {
                rank: leader,
                card: card.transpose()?.flatten(),
            })
        })?;
        let tables = exchange.encode_all();
        (release(gathered, &tables)?, tables)
    } else {
        let first = address(manager, node_rank.leader)?;
        gather_at_node(&first, node_rank.local_rank, node_rank.ranks, note.word())?
    };
    manager.barrier()?;
    let all = AddressDirectory::read(size, nodes, &tables).map_err(leader_exchange::wrong)?;
    let order = introduce(&mut ends.0, &all, rank)?;
    if order.get(node_rank.local_rank as usize) != Some(&rank) {
        let why = format!("rank {rank} found other ranks on its node than rank 0 has published");
        return Err(malformed(&why));
    }
    let places = || (0..size).filter_map(|rank| all.locate(rank));
    let nodes = places().map(|place| (node_of(place.common), place.pid));
    let (ranks_on_machine, visible_pids) = co_located(&own.node, nodes);
    let speaks_for_host = is_first_alone(&own.node, places().map(|place| node_of(place.common)));
    let fabric = |rank| {
        all.locate(rank)
            .map_or(rdma::NONE, |place| fabric_of(place.common))
    };
    let (_, there) = order.split_at(node_rank.ranks as usize);
    let heap = node.rank_areas().map(|areas| &**areas.heap());
    let (network, warning) = rdma.over(ends, fabric(rank), (0..size).map(fabric), there, heap)?;
    let remote = RemoteRanks {
        speaks_for_host,
        warning,
        network,
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

/// What a rank tells the leader of its node, in one word.
#[derive(Clone, Copy)]
struct RankNote {
    rank: u32,
    /// Where it listens.
    port: u16,
    /// [`Rdma::fabric_number`](rdma::Rdma::fabric_number).
    fabric: u16,
}

impl RankNote {
    fn word(self) -> u64 {
        u64::from(self.fabric) << 48 | u64::from(self.rank) << 16 | u64::from(self.port)
    }

    const fn of(word: u64) -> Self {
        Self {
            rank: (word >> 16) as u32,
            port: word as u16,
            fabric: (word >> 48) as u16,
        }
    }
}

/// The node address table of the ranks that have gathered.
fn node_address_table(common: String, gathered: &GatheredNode) -> NodeAddressTable {
    let ranks = (0..).zip(gathered.notes()).map(|(place, word)| {
        let note = RankNote::of(*word);
        exchange::RankAddress {
            rank: note.rank,
            pid: gathered.pid(place),
            port: note.port,
        }
    });
    NodeAddressTable {
        common,
        ranks: ranks.collect(),
    }
}

/// Gives the network the addresses of all ranks of other nodes, which node address tables carry with the node's name
/// and lengths: `NAME/LENGTHS/FABRIC/CARD`. Returns all ranks, those of rank `me`'s node first.
///
/// # Errors
/// When a table is malformed, or the lengths of two nodes differ.
fn introduce(network: &mut impl Network, all: &AddressDirectory, me: u32) -> Result<Vec<u32>> {
    let home = all.locate(me).map(|place| place.node);
    let (mut here, mut there) = (Vec::new(), Vec::new());
    let mut peers = vec![Vec::new(); all.node_texts().len()];
    for (rank, place) in (0..).map_while(|rank| Some((rank, all.locate(rank)?))) {
        if Some(place.node) == home {
            here.push(rank);
        } else {
            there.push(rank);
            peers[place.node as usize].push((Peer(rank), Some(place.port)));
        }
    }
    let mut lengths = Vec::new();
    for (common, peers) in all.node_texts().iter().zip(&peers) {
        let mut parts = common.splitn(4, '/').skip(1);
        let mut next = || parts.next().unwrap_or_default();
        lengths.push(next().parse().map_err(|why| malformed(&why))?);
        next();
        (network.introduce(next(), peers)).map_err(|why| malformed(&why))?;
    }
    agree(&lengths, |node| match peers[node].first() {
        Some(&(peer, _)) => network.host(peer).to_owned(),
        None => oxmpi_os::host::name(),
    })?;
    here.extend(there);
    Ok(here)
}

/// The business card of the leader of `node`, which is rank `of`.
///
/// # Errors
/// When its lengths differ from `own`. That is checked before anything of the wrong length is read.
fn card_of(
    manager: &mut ProcessManager,
    of: u32,
    node: u32,
    own: WireLengths,
) -> Result<Option<String>> {
    let text = manager.get(of, &format!("{CARD}-{node}"))?;
    let Some(text) = text else {
        return Ok(None);
    };
    let (lengths, card) = text.split_once('/').unwrap_or_default();
    let lengths = lengths.parse().map_err(|why| malformed(&why))?;
    if lengths != own {
        let host = address(manager, of)?.host;
        agree(&[lengths, own], |one| match one {
            0 => format!("rank {of} on {host}"),
            _ => "this rank".into(),
        })?;
    }
    Ok(Some(card.to_owned()))
}

/// The name before the lengths and the addresses.
fn node_of(common: &str) -> &str {
    common.split('/').next().unwrap_or_default()
}

/// The fabric after the name and the lengths.
fn fabric_of(common: &str) -> &str {
    common.split('/').nth(2).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{RankNote, fabric_of, node_of};

    #[test]
    fn a_note_is_one_word() {
        for (rank, port, fabric) in [
            (0, 1, 0),
            (u32::MAX, u16::MAX, u16::MAX),
            (7, 40_001, 0x8003),
        ] {
            let note = RankNote { rank, port, fabric };
            let RankNote {
                rank: of,
                port: at,
                fabric: on,
            } = RankNote::of(note.word());
            assert_eq!((of, at, on), (rank, port, fabric));
        }
    }

    #[test]
    fn a_common_text_has_four_parts() {
        let common = "node.1.2/65536.524288/ib.fe80000000000000/host:4001,10.0.0.7/24";
        assert_eq!(node_of(common), "node.1.2");
        assert_eq!(fabric_of(common), "ib.fe80000000000000");
    }
}
