//! Which ranks are on which node: rank 0 finds it from the addresses of all ranks, and publishes a few
//! numbers for each rank and one for each node.

use std::collections::{BTreeMap, HashMap};

use super::{ProcessManager, get_published};
use crate::error::{Error, Result};

/// The key under which rank 0 publishes the number of nodes, or [`DIFFERS`] and a rank whose settings differ.
const NODES: &str = "oxmpi-nodes";
/// The value's prefix before the rank whose settings differ from those of rank 0.
const DIFFERS: &str = "other:";
/// The start of the keys of the list of [`NodeRank`]s of all ranks; the number of the piece of the list follows.
const NODE_RANKS: &str = "oxmpi-node-ranks";
/// The start of the keys of the list of all nodes' leaders; the number of the piece of the list follows.
const LEADERS: &str = "oxmpi-leaders";

/// List entries under one key. With the longest numbers they still fit the 1000 bytes that process managers take as
/// a value.
const ROWS_PER_KEY: u32 = 32;

/// A rank's node and local rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeRank {
    /// The number of the rank's node.
    pub(super) node: u32,
    /// The local rank: how many lower ranks are on the same node.
    pub(super) local_rank: u32,
    /// The first rank of the node.
    pub(super) leader: u32,
    /// Number of ranks of the node.
    pub(super) ranks: u32,
}

/// The nodes of a job, numbered in the order of their first ranks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct JobNodes {
    node_ranks: Vec<NodeRank>,
    leaders: Vec<u32>,
}

impl JobNodes {
    /// Numbers the nodes, given each rank's node name in the order of ranks.
    pub(super) fn named<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut known = HashMap::new();
        let (mut leaders, mut counts, mut local_ranks) = (Vec::new(), Vec::new(), Vec::new());
        for (rank, name) in (0..).zip(names) {
            let node: usize = *known.entry(name).or_insert(leaders.len());
            if node == leaders.len() {
                leaders.push(rank);
                counts.push(0);
            }
            local_ranks.push((node, counts[node]));
            counts[node] += 1;
        }
        let node_rank = |(node, local_rank): (usize, u32)| NodeRank {
            node: node as u32,
            local_rank,
            leader: leaders[node],
            ranks: counts[node],
        };
        Self {
            node_ranks: local_ranks.into_iter().map(node_rank).collect(),
            leaders,
        }
    }

    /// The node of each rank.
    pub(super) fn numbers(&self) -> Vec<u32> {
        self.node_ranks
            .iter()
            .map(|node_rank| node_rank.node)
            .collect()
    }

    /// Publishes the nodes; other ranks can read them after the next barrier. With one node no rank needs the
    /// lists.
    pub(super) fn publish(&self, manager: &mut ProcessManager) -> Result<()> {
        manager.put(NODES, &self.leaders.len().to_string())?;
        if self.leaders.len() == 1 {
            return Ok(());
        }
        let node_ranks = self.node_ranks.iter().map(|node_rank| {
            let NodeRank {
                node,
                local_rank,
                leader,
                ranks,
            } = *node_rank;
            [node, local_rank, leader, ranks]
        });
        let node_ranks: Vec<_> = node_ranks.collect();
        let leaders: Vec<_> = self.leaders.iter().map(|&leader| [leader]).collect();
        publish(manager, NODE_RANKS, &node_ranks)?;
        publish(manager, LEADERS, &leaders)
    }
}

/// Publishes that the settings of `rank` differ from those of rank 0.
pub(super) fn publish_differing_rank(manager: &mut ProcessManager, rank: u32) -> Result<()> {
    manager.put(NODES, &format!("{DIFFERS}{rank}"))
}

/// Publishes a list in pieces of [`ROWS_PER_KEY`] entries.
fn publish<const N: usize>(
    manager: &mut ProcessManager,
    key: &str,
    rows: &[[u32; N]],
) -> Result<()> {
    let mut pieces = rows.chunks(ROWS_PER_KEY as usize).enumerate();
    pieces.try_for_each(|(number, piece)| manager.put(&format!("{key}-{number}"), &write(piece)))
}

/// The nodes as rank 0 has published them. A piece of a list is read when it is first needed, and kept.
#[derive(Debug)]
pub(super) struct PublishedNodes {
    /// The number of nodes.
    pub(super) nodes: u32,
    node_ranks: PublishedList<4>,
    leaders: PublishedList<1>,
}

impl PublishedNodes {
    /// Reads the number of nodes, or as the inner error a rank whose settings differ from those of rank 0.
    pub(super) fn ask(manager: &mut ProcessManager) -> Result<Result<Self, u32>> {
        let text = get_published(manager, 0, NODES)?;
        let wrong = |_| malformed_list(NODES, &text);
        if let Some(rank) = text.strip_prefix(DIFFERS) {
            return rank.parse().map(Err).map_err(wrong);
        }
        let nodes = text.parse().map_err(wrong)?;
        Ok(Ok(Self {
            nodes,
            node_ranks: PublishedList::new(NODE_RANKS),
            leaders: PublishedList::new(LEADERS),
        }))
    }

    /// The node and local rank of a rank.
    pub(super) fn node_rank(
        &mut self,
        manager: &mut ProcessManager,
        rank: u32,
    ) -> Result<NodeRank> {
        let [node, local_rank, leader, ranks] = self.node_ranks.at(manager, rank)?;
        Ok(NodeRank {
            node,
            local_rank,
            leader,
            ranks,
        })
    }

    /// The first rank of a node.
    pub(super) fn leader(&mut self, manager: &mut ProcessManager, node: u32) -> Result<u32> {
        let [rank] = self.leaders.at(manager, node)?;
        Ok(rank)
    }
}

/// A list that rank 0 has published in pieces, with the pieces read so far.
#[derive(Debug)]
struct PublishedList<const N: usize> {
    key: &'static str,
    pieces: BTreeMap<u32, Vec<[u32; N]>>,
}

impl<const N: usize> PublishedList<N> {
    const fn new(key: &'static str) -> Self {
        Self {
            key,
            pieces: BTreeMap::new(),
        }
    }

    /// Entry `index` of the list.
    fn at(&mut self, manager: &mut ProcessManager, index: u32) -> Result<[u32; N]> {
        let (number, at) = (index / ROWS_PER_KEY, (index % ROWS_PER_KEY) as usize);
        if !self.pieces.contains_key(&number) {
            let key = format!("{}-{number}", self.key);
            let text = get_published(manager, 0, &key)?;
            let piece = read(&text).ok_or_else(|| malformed_list(&key, &text))?;
            self.pieces.insert(number, piece);
        }
        let found = self.pieces.get(&number).and_then(|piece| piece.get(at));
        found.copied().ok_or_else(|| {
            let why = format!("rank 0 has published no entry {index} of {}", self.key);
            Error::start("looking for the other ranks", why)
        })
    }
}

/// Entries as text: dots separate the numbers of an entry, commas the entries.
fn write<const N: usize>(rows: &[[u32; N]]) -> String {
    let rows = rows.iter().map(|row| row.map(|n| n.to_string()).join("."));
    rows.collect::<Vec<_>>().join(",")
}

/// The reverse of [`write`].
fn read<const N: usize>(text: &str) -> Option<Vec<[u32; N]>> {
    let row = |row: &str| {
        let numbers: Result<Vec<u32>, _> = row.split('.').map(str::parse).collect();
        numbers.ok()?.try_into().ok()
    };
    text.split(',').map(row).collect()
}

fn malformed_list(key: &str, text: &str) -> Error {
    let why =
        format!("rank 0 has published {key} = {text:?}: is it an oxmpi program of this version?");
    Error::start("looking for the other ranks", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_by_their_first_ranks() {
        let nodes = JobNodes::named(["b", "a", "b", "c", "a", "b"].into_iter());
        let node_rank = |node, local_rank, leader, ranks| NodeRank {
            node,
            local_rank,
            leader,
            ranks,
        };
        let (first, second, last) = (
            node_rank(0, 0, 0, 3),
            node_rank(1, 0, 1, 2),
            node_rank(2, 0, 3, 1),
        );
        let at = |local_rank, node: NodeRank| NodeRank { local_rank, ..node };
        let node_ranks = [
            first,
            second,
            at(1, first),
            last,
            at(1, second),
            at(2, first),
        ];
        assert_eq!(nodes.node_ranks, node_ranks);
        assert_eq!(nodes.leaders, [0, 1, 3]);
        assert_eq!(nodes.numbers(), [0, 1, 0, 2, 1, 0]);
    }

    #[test]
    fn written_entries_read_back_and_fit_a_published_value() {
        let rows = [[9_999_999, 99_999, 9_999_999, 99_999]; ROWS_PER_KEY as usize];
        let text = write(&rows);
        assert!(text.len() <= 1000, "{}", text.len());
        assert_eq!(read(&text), Some(rows.to_vec()));
        for other in ["", "1", "1.", "1.2,", "1.2,x.3", "1.2,1.2.3", "one"] {
            assert_eq!(read::<2>(other), None, "{other}");
        }
    }
}
