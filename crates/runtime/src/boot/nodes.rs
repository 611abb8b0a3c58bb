//! Which ranks are on which node, as rank 0 makes it of all invitations and tells the others by the
//! process manager: some numbers for each rank, and one for each node.

use std::collections::{BTreeMap, HashMap};

use super::{Manager, asked};
use crate::error::{Error, Result};

/// The key of the number of nodes, or of who differs.
const NODES: &str = "oxmpi-nodes";
/// Before the rank that was told otherwise than rank 0.
const DIFFERS: &str = "other:";
/// The key of the seats of all ranks, each piece of the list with its number.
const SEATS: &str = "oxmpi-seats";
/// The key of the leaders of all nodes, likewise.
const LEADERS: &str = "oxmpi-leaders";

/// Rows under one key: as many as the managers take with the longest numbers.
const PIECE: u32 = 32;

/// A rank among the nodes of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    /// The number of its node.
    pub(super) node: u32,
    /// Its place among the node's ranks, which stand in the order of their numbers.
    pub(super) place: u32,
    /// The first of these ranks.
    pub(super) leader: u32,
    /// How many these are.
    pub(super) ranks: u32,
}

/// The nodes of a job, numbered in the order of their first ranks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Nodes {
    seats: Vec<Seat>,
    leaders: Vec<u32>,
}

impl Nodes {
    /// Those that the ranks have named, in their order.
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
        let seat = |(node, place): (usize, u32)| Seat {
            node: node as u32,
            place,
            leader: leaders[node],
            ranks: counts[node],
        };
        Self {
            seats: places.into_iter().map(seat).collect(),
            leaders,
        }
    }

    /// The node of each rank.
    pub(super) fn numbers(&self) -> Vec<u32> {
        self.seats.iter().map(|seat| seat.node).collect()
    }

    /// Tells all ranks, after the next barrier. Nobody looks a rank up where there is one node.
    pub(super) fn publish(&self, manager: &mut Manager) -> Result<()> {
        manager.put(NODES, &self.leaders.len().to_string())?;
        if self.leaders.len() == 1 {
            return Ok(());
        }
        let seats = self.seats.iter().map(|seat| {
            let Seat {
                node,
                place,
                leader,
                ranks,
            } = *seat;
            [node, place, leader, ranks]
        });
        let seats: Vec<_> = seats.collect();
        let leaders: Vec<_> = self.leaders.iter().map(|&leader| [leader]).collect();
        publish(manager, SEATS, &seats)?;
        publish(manager, LEADERS, &leaders)
    }
}

/// Tells all ranks, after the next barrier, that this one was told otherwise than rank 0.
pub(super) fn publish_difference(manager: &mut Manager, rank: u32) -> Result<()> {
    manager.put(NODES, &format!("{DIFFERS}{rank}"))
}

fn publish<const N: usize>(manager: &mut Manager, key: &str, rows: &[[u32; N]]) -> Result<()> {
    let mut pieces = rows.chunks(PIECE as usize).enumerate();
    pieces.try_for_each(|(number, piece)| manager.put(&format!("{key}-{number}"), &write(piece)))
}

/// What rank 0 has published: asked for piece by piece, and kept.
#[derive(Debug)]
pub(super) struct Published {
    /// The number of nodes.
    pub(super) nodes: u32,
    seats: List<4>,
    leaders: List<1>,
}

impl Published {
    /// The nodes, or the first rank that was told otherwise than rank 0.
    pub(super) fn ask(manager: &mut Manager) -> Result<Result<Self, u32>> {
        let text = asked(manager, 0, NODES)?;
        let wrong = |_| misread(NODES, &text);
        if let Some(rank) = text.strip_prefix(DIFFERS) {
            return rank.parse().map(Err).map_err(wrong);
        }
        let nodes = text.parse().map_err(wrong)?;
        Ok(Ok(Self {
            nodes,
            seats: List::new(SEATS),
            leaders: List::new(LEADERS),
        }))
    }

    /// The seat of a rank.
    pub(super) fn seat(&mut self, manager: &mut Manager, rank: u32) -> Result<Seat> {
        let [node, place, leader, ranks] = self.seats.at(manager, rank)?;
        Ok(Seat {
            node,
            place,
            leader,
            ranks,
        })
    }

    /// The first rank of a node.
    pub(super) fn leader(&mut self, manager: &mut Manager, node: u32) -> Result<u32> {
        let [rank] = self.leaders.at(manager, node)?;
        Ok(rank)
    }
}

#[derive(Debug)]
struct List<const N: usize> {
    key: &'static str,
    pieces: BTreeMap<u32, Vec<[u32; N]>>,
}

impl<const N: usize> List<N> {
    const fn new(key: &'static str) -> Self {
        Self {
            key,
            pieces: BTreeMap::new(),
        }
    }

    fn at(&mut self, manager: &mut Manager, index: u32) -> Result<[u32; N]> {
        let (number, at) = (index / PIECE, (index % PIECE) as usize);
        if !self.pieces.contains_key(&number) {
            let key = format!("{}-{number}", self.key);
            let text = asked(manager, 0, &key)?;
            let piece = read(&text).ok_or_else(|| misread(&key, &text))?;
            self.pieces.insert(number, piece);
        }
        let found = self.pieces.get(&number).and_then(|piece| piece.get(at));
        found.copied().ok_or_else(|| {
            let why = format!("rank 0 has published {} without number {index}", self.key);
            Error::start("looking for the other ranks", why)
        })
    }
}

/// Numbers of a row with dots between them, rows with commas.
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

fn misread(key: &str, text: &str) -> Error {
    let why = format!("rank 0 says {key} = {text:?}: is it an oxmpi program of this version?");
    Error::start("looking for the other ranks", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_by_their_first_ranks() {
        let nodes = Nodes::named(["b", "a", "b", "c", "a", "b"].into_iter());
        let seat = |node, place, leader, ranks| Seat {
            node,
            place,
            leader,
            ranks,
        };
        let (first, second, last) = (seat(0, 0, 0, 3), seat(1, 0, 1, 2), seat(2, 0, 3, 1));
        let seats = [
            first,
            second,
            Seat { place: 1, ..first },
            last,
            Seat { place: 1, ..second },
            Seat { place: 2, ..first },
        ];
        assert_eq!(nodes.seats, seats);
        assert_eq!(nodes.leaders, [0, 1, 3]);
        assert_eq!(nodes.numbers(), [0, 1, 0, 2, 1, 0]);
    }

    #[test]
    fn what_is_written_is_read_and_fits_the_managers() {
        let rows = [[9_999_999, 99_999, 9_999_999, 99_999]; PIECE as usize];
        let text = write(&rows);
        assert!(text.len() <= 1000, "{}", text.len());
        assert_eq!(read(&text), Some(rows.to_vec()));
        for other in ["", "1", "1.", "1.2,", "1.2,x.3", "1.2,1.2.3", "one"] {
            assert_eq!(read::<2>(other), None, "{other}");
        }
    }
}
