//! Reduce-scatter in pairs: in round `j` each rank sends one block to the rank `j` above it and gets
//! its own block from the rank `j` below it.
//!
//! `p - 1` rounds of one block each, the least volume there is. The lower ranks' contributions come
//! from the nearest on and are reduced from the left; the higher ranks', from the highest on, are
//! reduced on their own, and join at the end. So operations need not commute; for those that do,
//! all others count as lower, and there is one sum.

use crate::catalog::{Call, Collective, Parameters};
use crate::circle::Circle;
use crate::circulant::{Division, Turned};
use crate::plan::{Acts, Buf, Known, Part, Plan, Side, TAGS};

/// The largest group whose rounds can be counted.
pub const MAX_SIZE: u32 = 1 << 30;

/// One rank's part in reduce-scatter in pairs. Two steps a round, exchange and merge, and two to join
/// the sums and bring them home.
///
/// # Cost
///
/// Where the blocks are given, a step that sends sums over the lengths of those before the one sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairwise {
    view: Turned,
    /// The rounds whose contributions are reduced from the left.
    lower_rounds: u32,
    in_place: bool,
}

impl Pairwise {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        Pairwise {
            view: Turned {
                circle: Circle::of(call),
                blocks: match call.collective {
                    Collective::ReduceScatter => Division::Sends(call.count),
                    _ => Division::Equal(call.count),
                },
            },
            lower_rounds: match call.commutative {
                true => call.size - 1,
                false => call.rank,
            },
            in_place: call.in_place,
        }
    }

    /// The block that goes to the rank `distance` above.
    fn block(&self, distance: u32, known: &Known<'_>) -> Part {
        let buf = if self.in_place { Buf::Out } else { Buf::In };
        self.view.natural(buf, distance, distance + 1, known)
    }

    /// The length of the own block, which is that of every sum.
    fn len(&self, known: &Known<'_>) -> u64 {
        self.view.len(0, 1, known)
    }

    /// Where the sum of the lower ranks' contributions and the own one is, once there is a lower one:
    /// where the result belongs or, in place, where the own block is.
    fn lower(&self, len: u64, known: &Known<'_>) -> Part {
        if self.in_place {
            self.block(0, known)
        } else {
            result(len)
        }
    }

    /// Where the message of a round comes, and what its contribution is reduced into, from the
    /// left; nothing where it is the first higher one.
    fn meeting(&self, round: u32, len: u64, known: &Known<'_>) -> (Part, Option<Part>) {
        match () {
            () if round == 1 && self.lower_rounds > 0 && !self.in_place => (result(len), None),
            () if round <= self.lower_rounds => (later(len), Some(self.lower(len, known))),
            () if round == self.lower_rounds + 1 => (higher(len), None),
            () => (later(len), Some(higher(len))),
        }
    }

    fn exchange(&self, round: u32, len: u64, known: &Known<'_>, acts: &mut Acts) {
        if len > 0 {
            let (room, _) = self.meeting(round, len, known);
            acts.recv(self.view.circle.below(round), round % TAGS, room);
        }
        let block = self.block(round, known);
        if !block.is_empty() {
            acts.send(self.view.circle.above(round), round % TAGS, block);
        }
    }

    fn merge(&self, round: u32, len: u64, known: &Known<'_>, acts: &mut Acts) {
        match self.meeting(round, len, known) {
            (room, Some(sum)) => acts.reduce(room, sum, Side::Left),
            (room, None) if round <= self.lower_rounds => {
                acts.reduce(self.block(0, known), room, Side::Right);
            }
            _ => {}
        }
    }

    /// Whether some contributions are reduced on their own.
    const fn has_higher(&self) -> bool {
        self.lower_rounds + 1 < self.view.circle.size()
    }

    /// Joins the two sums: in place in scratch, since the two places in `Out` may overlap.
    fn join(&self, len: u64, known: &Known<'_>, acts: &mut Acts) {
        let lower = if self.lower_rounds == 0 {
            self.block(0, known)
        } else {
            self.lower(len, known)
        };
        let is_home = !self.is_moved();
        match self.has_higher() {
            true if is_home => acts.reduce(higher(len), lower, Side::Right),
            true => acts.reduce(lower, higher(len), Side::Left),
            false if is_home => {}
            false => acts.copy(lower, higher(len)),
        }
    }

    /// Whether the result is joined in scratch, and must be brought home.
    const fn is_moved(&self) -> bool {
        self.lower_rounds == 0 || self.in_place
    }

    /// Brings home what was joined in scratch.
    fn deliver(&self, len: u64, acts: &mut Acts) {
        if self.is_moved() {
            acts.copy(higher(len), result(len));
        }
    }
}

/// Where the result belongs.
const fn result(len: u64) -> Part {
    Part::new(Buf::Out, 0, len)
}

/// Where a contribution waits to be reduced.
const fn later(len: u64) -> Part {
    Part::new(Buf::Scratch, 0, len)
}

/// The sum of the higher ranks' contributions.
const fn higher(len: u64) -> Part {
    Part::new(Buf::Scratch, len, len)
}

impl Plan for Pairwise {
    fn steps(&self) -> u32 {
        2 * self.view.circle.size()
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        let sums = 1 + u64::from(self.has_higher() || self.is_moved());
        sums * self.len(known)
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let (round, rounds) = (1 + i / 2, self.view.circle.size() - 1);
        let len = self.len(known);
        match () {
            () if round <= rounds && i.is_multiple_of(2) => self.exchange(round, len, known, acts),
            () if len == 0 => {}
            () if round <= rounds => self.merge(round, len, known, acts),
            () if i.is_multiple_of(2) => self.join(len, known, acts),
            () => self.deliver(len, acts),
        }
        Some(i)
    }
}
