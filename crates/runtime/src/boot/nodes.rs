//! Which ranks are on which node: rank 0 finds it from the addresses of all ranks, and publishes a few
//! numbers for each rank and one for each node.

use std::collections::{BTreeMap, HashMap};

use super::{ProcessManager, get_published};
use crate::error::{Error, Result};

/// The key of the number of nodes, or of the rank whose settings differ.
const NODES: &str = "oxmpi-nodes";
/// The prefix of the rank whose settings differ from those of rank 0.
const DIFFERS: &str = "other:";
/// The key of the nodes and local ranks of all ranks, with the number of a piece of the list.
const NODE_RANKS: &str = "oxmpi-node-ranks";
/// The key of the leaders of all nodes, with the number of a piece of the list.
const LEADERS: &str = "oxmpi-leaders";

/// Rows under one key: as many as process managers take with the longest numbers.
const ROWS_PER_KEY: u32 = 32;

/// A rank's node and its rank there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeRank {
    /// The number of its node.
    pub(super) node: u32,
    /// Its rank among the node's ranks, which are in the order of their numbers.
    pub(super) place: u32,
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
    /// The nodes of ranks with these node names, in the order of ranks.
    pub(super) fn named<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut known = HashMap::new();
        let (mut leaders, mut counts, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (rank, name) in (0..).zip(names) {
            let node: usize = *known.entry(name).or_insert(leaders.len());
            if node == leaders.len() {
                leaders.push(rank);
                counts.push(0);
            }
            places.push((node, counts[node]));
            counts[node] += 1;
        }
        let node_rank = |(node, place): (usize, u32)| NodeRank {
            node: node as u32,
            place,
            leader: leaders[node],
            ranks: counts[node],
        };
        Self {
            node_ranks: places.into_iter().map(node_rank).collect(),
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
                place,
                leader,
                ranks,
            } = *node_rank;
            [node, place, leader, ranks]
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

fn publish<const N: usize>(
    manager: &mut ProcessManager,
    key: &str,
    rows: &[[u32; N]],
) -> Result<()> {
    let mut pieces = rows.chunks(ROWS_PER_KEY as usize).enumerate();
    pieces.try_for_each(|(number, piece)| manager.put(&format!("{key}-{number}"), &write(piece)))
}

/// What rank 0 has published. Lists are read piece by piece, and kept.
#[derive(Debug)]
pub(super) struct PublishedNodes {
    /// The number of nodes.
    pub(super) nodes: u32,
    node_ranks: PublishedList<4>,
    leaders: PublishedList<1>,
}

impl PublishedNodes {
    /// The number of nodes, or the first rank whose settings differ from those of rank 0.
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
        let [node, place, leader, ranks] = self.node_ranks.at(manager, rank)?;
        Ok(NodeRank {
            node,
            place,
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

/// The numbers of a row separated by dots, and rows by commas.
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
        let node_rank = |node, place, leader, ranks| NodeRank {
            node,
            place,
            leader,
            ranks,
        };
        let (first, second, last) = (
            node_rank(0, 0, 0, 3),
            node_rank(1, 0, 1, 2),
            node_rank(2, 0, 3, 1),
        );
        let node_ranks = [
            first,
            second,
            NodeRank { place: 1, ..first },
            last,
            NodeRank { place: 1, ..second },
            NodeRank { place: 2, ..first },
        ];
        assert_eq!(nodes.node_ranks, node_ranks);
        assert_eq!(nodes.leaders, [0, 1, 3]);
        assert_eq!(nodes.numbers(), [0, 1, 0, 2, 1, 0]);
    }

    #[test]
    fn what_is_written_is_read_and_fits_the_managers() {
        let rows = [[9_999_999, 99_999, 9_999_999, 99_999]; ROWS_PER_KEY as usize];
        let text = write(&rows);
        assert!(text.len() <= 1000, "{}", text.len());
        assert_eq!(read(&text), Some(rows.to_vec()));
        for other in ["", "1", "1.", "1.2,", "1.2,x.3", "1.2,1.2.3", "one"] {
            assert_eq!(read::<2>(other), None, "{other}");
        }
    }
}
