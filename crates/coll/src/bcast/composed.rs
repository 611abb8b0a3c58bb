//! Broadcast by a scatter of the catalog and then an allgather of the catalog.
//!
//! The vector is cut into one block for each rank. All have the same length but the last ones, which
//! are shorter or empty; so each plan is that of equal blocks, cut where the vector ends. The root has
//! the vector and gets nothing in the allgather. Blocks are received where they belong, and sent from
//! there.
//!
//! So a broadcast need not be slower than a scatter and an allgather, whichever are best for the
//! blocks.

use core::marker::PhantomData;

use crate::allgather::{self, Bruck};
use crate::catalog::{Call, Parameters};
use crate::plan::{Act, Acts, Buf, Known, Part, Plan};
use crate::scatter::{self, Knomial};

/// The largest group where every rank sends to every other one.
pub const MAX_SIZE: u32 = 128;

/// The first tag of the allgather; the scatter has those below.
const FIRST_TAG: u32 = 64;

/// One rank's part in a broadcast by a scatter and an allgather: the steps of the one, then those of
/// the other. It keeps no plan of either, but makes them when it is asked, and so stays small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composed<S, G> {
    vector: Vector,
    radix: u32,
    window: u32,
    phases: PhantomData<(S, G)>,
}

/// Every block straight from the root, and then from every rank to every other one.
pub type LinearLinear = Composed<scatter::Linear, allgather::Linear>;

/// Every block straight from the root, and then Bruck's algorithm.
pub type LinearBruck = Composed<scatter::Linear, Bruck>;

/// Blocks down a tree, and then from every rank to every other one.
pub type KnomialLinear = Composed<Knomial, allgather::Linear>;

/// Blocks down a tree, and then Bruck's algorithm.
pub type KnomialBruck = Composed<Knomial, Bruck>;

/// A vector cut into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Vector {
    rank: u32,
    size: u32,
    root: u32,
    /// Elements of the vector.
    count: u64,
}

/// A collective of the catalog as a phase of another one.
pub trait Phase: Plan {
    /// One rank's plan.
    fn of(call: &Call, parameters: &Parameters) -> Self;

    /// The first of the blocks that a rank keeps in scratch on their way.
    fn stock(&self) -> u32 {
        0
    }
}

impl Phase for scatter::Linear {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        scatter::Linear::of(call, parameters)
    }
}

impl Phase for Knomial {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        Knomial::of(call, parameters)
    }

    fn stock(&self) -> u32 {
        self.first()
    }
}

impl Phase for allgather::Linear {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        allgather::Linear::of(call, parameters)
    }
}

impl Phase for Bruck {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        Bruck::of(call, parameters)
    }
}

impl Vector {
    /// Elements of a block that is not shorter.
    fn block(&self) -> u64 {
        self.count.div_ceil(self.size.into())
    }

    const fn is_at_root(&self) -> bool {
        self.rank == self.root
    }

    /// The scatter, in place.
    fn scatter(&self) -> Call {
        let call = Call::scatter(self.rank, self.size, self.root, self.block());
        call.with_in_place(self.is_at_root())
    }

    /// The allgather, in place.
    fn gather(&self) -> Call {
        Call::allgather(self.rank, self.size, self.block()).with_in_place(true)
    }

    /// A run of blocks, without what lies beyond the vector; it may go around.
    fn cut(&self, part: Part) -> Part {
        let end = part.first + part.count;
        let beyond = match part.wrap {
            0 => 0,
            wrap => end.saturating_sub(wrap),
        };
        let (first, end) = (part.first.min(self.count), end.min(self.count));
        let (high, low) = (end - first, beyond.min(self.count));
        let buf = if self.is_at_root() { Buf::In } else { Buf::Out };
        match high {
            0 => Part::new(buf, 0, low),
            _ => Part::new(buf, first, high + low).around(self.count),
        }
    }

    /// An act of the scatter, the blocks from number `stock` on being in scratch; `None` where
    /// nothing is left of it.
    fn scattered(&self, act: Act, stock: u32) -> Option<Act> {
        let own = u64::from(self.rank) * self.block();
        let place = |part: Part| {
            let before = match part.buf {
                Buf::Scratch => u64::from(stock) * self.block(),
                Buf::Out => own,
                _ => 0,
            };
            let first = part.first + before;
            self.cut(Part { first, ..part })
        };
        // Its own block already lies where it belongs.
        let is_moved = !matches!(act, Act::Copy { .. });
        let act = act.with_parts(place);
        (is_moved && !is_empty(&act)).then_some(act)
    }

    /// An act of the allgather, whose messages have tags of their own; `None` for what would come to
    /// the root, and where nothing is left.
    fn gathered(&self, act: Act) -> Option<Act> {
        let act = match act {
            Act::Send { to, tag, from } if to != self.root => Act::Send {
                to,
                tag: FIRST_TAG + tag,
                from,
            },
            Act::Recv { from, tag, into } if !self.is_at_root() => Act::Recv {
                from,
                tag: FIRST_TAG + tag,
                into,
            },
            _ => return None,
        };
        let act = act.with_parts(|part| self.cut(part));
        (!is_empty(&act)).then_some(act)
    }
}

fn is_empty(act: &Act) -> bool {
    let parts = [act.reads(), act.writes()];
    parts.iter().flatten().all(Part::is_empty)
}

impl<S: Phase, G: Phase> Composed<S, G> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let &Call {
            rank, size, root, ..
        } = call;
        Composed {
            vector: Vector {
                rank,
                size,
                root,
                count: call.count,
            },
            radix: parameters.radix,
            window: parameters.window,
            phases: PhantomData,
        }
    }

    fn parameters(&self) -> Parameters {
        Parameters {
            radix: self.radix,
            window: self.window,
            ..Parameters::NONE
        }
    }

    fn scatter(&self) -> S {
        S::of(&self.vector.scatter(), &self.parameters())
    }

    fn gather(&self) -> G {
        G::of(&self.vector.gather(), &self.parameters())
    }
}

impl<S: Phase, G: Phase> Plan for Composed<S, G> {
    fn steps(&self) -> u32 {
        self.scatter().steps() + self.gather().steps()
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let (scatter, mut inner) = (self.scatter(), Acts::new());
        let before = scatter.steps();
        let Some(after) = i.checked_sub(before) else {
            let needs = scatter.step(i, known, &mut inner)?;
            let stock = scatter.stock();
            let acted = inner.iter();
            let acted = acted.filter_map(|&act| self.vector.scattered(act, stock));
            acted.for_each(|act| acts.push(act));
            return Some(needs);
        };
        let needs = self.gather().step(after, known, &mut inner)?;
        let acted = inner.iter().filter_map(|&act| self.vector.gathered(act));
        acted.for_each(|act| acts.push(act));
        Some(before + needs)
    }
}
