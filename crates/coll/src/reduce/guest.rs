//! Reduction in blocks over the circulant graph of all ranks but one, whose vector the root gets straight and whole
//! while it waits for the first sums.
//!
//! Where the number of ranks is a power of two every round of the [circulant](super::Circulant) reduction waits for the
//! one before. With one rank less some ranks are idle in some rounds, and the latest sum comes a round earlier or
//! almost; meanwhile the root has time for the vector of the last rank, its guest. That pays for short vectors. The
//! operation must commute.
//!
//! Rounds, with one message at a time: one for the guest, and those of the others.

use super::Circulant;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::circulant::Pipeline;
use crate::hierarchy::renamed;
use crate::plan::{Acts, Buf, Known, Part, Plan, Side};

/// One rank's part in a reduction with a guest, the rank below the root. The guest has one step, which sends; the root
/// takes that in a step and merges it in another one, and goes on as the root of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guest {
    circle: Circle,
    root: u32,
    in_place: bool,
    /// What the others do; at the guest what the root does.
    others: Circulant,
}

/// The call of the ranks but the guest, counted from the root. The guest's is the root's.
pub(crate) const fn without_guest(call: &Call) -> Call {
    let size = if call.size > 1 { call.size - 1 } else { 1 };
    Call {
        rank: call.from_root() % size,
        size,
        root: 0,
        ..*call
    }
}

impl Guest {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        // The root's sum has begun with what the guest gave.
        let others = without_guest(call).with_in_place(call.in_place || call.size > 1);
        Guest {
            circle: Circle::of(call),
            root: call.root,
            in_place: call.in_place,
            others: Circulant::of(&others, parameters),
        }
    }

    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let of_guest = u64::from(call.size > 1 && call.count > 0);
        of_guest + Pipeline::rounds_of(&without_guest(call), parameters)
    }

    /// The root.
    fn host(&self) -> Circle {
        Circle::new(self.root, self.circle.size())
    }

    fn guest(&self) -> u32 {
        self.host().below(1)
    }

    fn is_host(&self) -> bool {
        self.circle.rank() == self.root
    }

    /// Whether there is a guest that has something.
    fn has_guest(&self) -> bool {
        self.circle.size() > 1 && self.others.count() > 0
    }

    fn is_guest(&self) -> bool {
        self.has_guest() && self.circle.rank() == self.guest()
    }

    /// The whole vector.
    fn vector(&self, buf: Buf) -> Part {
        Part::new(buf, 0, self.others.count())
    }

    /// The root's steps before those of the others.
    fn before(&self) -> u32 {
        if self.has_guest() && self.is_host() {
            2
        } else {
            0
        }
    }

    /// Takes the guest's vector, or merges it.
    fn welcome(&self, i: u32, acts: &mut Acts) {
        let (room, own) = match self.in_place {
            true => (Buf::Scratch, Buf::Scratch),
            false => (Buf::Out, Buf::In),
        };
        match i {
            0 => acts.recv(self.guest(), 0, self.vector(room)),
            _ => acts.reduce(self.vector(own), self.vector(Buf::Out), Side::Right),
        }
    }
}

impl Plan for Guest {
    fn steps(&self) -> u32 {
        match self.is_guest() {
            true => 1,
            false => self.before() + self.others.steps(),
        }
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        match () {
            () if self.is_guest() => 0,
            // Room for what the guest gives has room for a block.
            () if self.in_place && self.before() > 0 => self.others.count(),
            () => self.others.scratch(known),
        }
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        if self.is_guest() {
            acts.send(self.root, 0, self.vector(Buf::In));
            return Some(i);
        }
        let Some(after) = i.checked_sub(self.before()) else {
            self.welcome(i, acts);
            return Some(i);
        };
        let host = self.host();
        let needs = renamed(&self.others, after, known, acts, |act| {
            act.with_peer(|rank| host.above(rank))
        });
        Some(i - after + needs?)
    }
}
