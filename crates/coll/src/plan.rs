//! What a collective consists of: parts of buffers, acts on them, steps of acts, and the plan that
//! gives the steps.

use core::ops::{Deref, Range};

/// Tags of acts lie below this number, so that a runtime can pack one into eight bits beside its
/// collective's number.
///
/// Two messages between the same ranks may carry the same tag in one plan; they are matched in the
/// order in which they were started. A driver over a transport that keeps order between two ranks,
/// as MPI does, needs nothing more.
pub const TAGS: u32 = 256;

/// The most acts that one step may hold.
pub const ACTS: usize = 8;

/// A buffer of the rank that runs the plan.
///
/// What each collective reads and writes where is told in the module of that collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Buf {
    /// What the caller gives. Never written.
    In,
    /// What the caller gets. A call in place finds its input here too, and then `In` is not used.
    Out,
    /// Room of [`Plan::scratch`] elements, undefined at the start.
    Scratch,
}

/// The side on which a reduction's operand stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// `into = from op into`.
    Left,
    /// `into = into op from`.
    Right,
}

/// Elements of a buffer: `times` blocks of `count` elements, the starts of two blocks `stride`
/// elements apart.
///
/// An element is one item of the reduction's type; where nothing is reduced it is one packed byte.
/// A message that carries a part carries its elements in the order of [`Part::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The buffer.
    pub buf: Buf,
    /// Index of the first block's first element.
    pub first: u64,
    /// Elements in one block.
    pub count: u64,
    /// Elements from the start of one block to the start of the next; negative: the blocks are
    /// taken from high to low.
    pub stride: i64,
    /// Number of blocks.
    pub times: u32,
}

impl Part {
    /// No elements: what a message that only signals carries.
    pub const EMPTY: Part = Part::new(Buf::In, 0, 0);

    /// The `count` consecutive elements of `buf` that start at `first`.
    pub const fn new(buf: Buf, first: u64, count: u64) -> Self {
        Part {
            buf,
            first,
            count,
            stride: 0,
            times: 1,
        }
    }

    /// Number of elements in all blocks together.
    pub const fn len(&self) -> u64 {
        self.count * self.times as u64
    }

    /// Whether there is no element.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The blocks as ranges of element indexes, in message order.
    ///
    /// A block that would start below zero wraps to a range beyond any buffer, so a bounds check
    /// refuses it.
    pub fn blocks(self) -> impl Iterator<Item = Range<u64>> {
        (0..i64::from(self.times)).map(move |n| {
            let first = self.first.wrapping_add_signed(self.stride.wrapping_mul(n));
            first..first.saturating_add(self.count)
        })
    }

    /// Whether some element belongs to both parts.
    pub fn overlaps(self, other: Part) -> bool {
        let share = |a: &Range<u64>, b: &Range<u64>| a.start.max(b.start) < a.end.min(b.end);
        self.buf == other.buf && self.blocks().any(|a| other.blocks().any(|b| share(&a, &b)))
    }
}

/// One thing to do. Peers are ranks of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Act {
    /// Send a message.
    Send {
        /// The receiver.
        to: u32,
        /// Names the message within this collective; below [`TAGS`], the same in the receiver's
        /// plan.
        tag: u32,
        /// What it carries.
        from: Part,
    },
    /// Receive a message.
    Recv {
        /// The sender.
        from: u32,
        /// Names the message within this collective; below [`TAGS`], the same in the sender's plan.
        tag: u32,
        /// Where it goes; as long as what was sent.
        into: Part,
    },
    /// Copy elements within the rank. The two parts are equally long and do not overlap.
    Copy {
        /// Read.
        from: Part,
        /// Written.
        into: Part,
    },
    /// Combine elements within the rank, one by one. The two parts are equally long and do not
    /// overlap.
    Reduce {
        /// One operand.
        from: Part,
        /// The other operand, and the result.
        into: Part,
        /// On which side of the operation `from` stands.
        side: Side,
    },
}

impl Act {
    /// The part that is read, if there is one.
    pub const fn reads(&self) -> Option<Part> {
        match *self {
            Act::Send { from, .. } | Act::Copy { from, .. } | Act::Reduce { from, .. } => {
                Some(from)
            }
            Act::Recv { .. } => None,
        }
    }

    /// The part that is written, if there is one.
    pub const fn writes(&self) -> Option<Part> {
        match *self {
            Act::Recv { into, .. } | Act::Copy { into, .. } | Act::Reduce { into, .. } => {
                Some(into)
            }
            Act::Send { .. } => None,
        }
    }
}

/// The acts of one step, in the order in which they are to be started: receives first, local work
/// last, so that messages travel while the processor works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acts(heapless::Vec<Act, ACTS>);

impl Acts {
    /// No acts.
    #[inline]
    pub const fn new() -> Self {
        Acts(heapless::Vec::new())
    }

    /// Adds an act.
    ///
    /// # Panics
    ///
    /// When the step already holds [`ACTS`] acts: the plan is broken for every caller, and the
    /// checker finds it.
    #[inline]
    pub fn push(&mut self, act: Act) {
        assert!(self.0.push(act).is_ok(), "a step holds at most {ACTS} acts");
    }

    /// Adds [`Act::Send`].
    ///
    /// # Panics
    ///
    /// As [`Acts::push`].
    #[inline]
    pub fn send(&mut self, to: u32, tag: u32, from: Part) {
        self.push(Act::Send { to, tag, from });
    }

    /// Adds [`Act::Recv`].
    ///
    /// # Panics
    ///
    /// As [`Acts::push`].
    #[inline]
    pub fn recv(&mut self, from: u32, tag: u32, into: Part) {
        self.push(Act::Recv { from, tag, into });
    }

    /// Adds [`Act::Copy`].
    ///
    /// # Panics
    ///
    /// As [`Acts::push`].
    #[inline]
    pub fn copy(&mut self, from: Part, into: Part) {
        self.push(Act::Copy { from, into });
    }

    /// Adds [`Act::Reduce`].
    ///
    /// # Panics
    ///
    /// As [`Acts::push`].
    #[inline]
    pub fn reduce(&mut self, from: Part, into: Part, side: Side) {
        self.push(Act::Reduce { from, into, side });
    }

    /// Removes all acts.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl Deref for Acts {
    type Target = [Act];

    #[inline]
    fn deref(&self) -> &[Act] {
        &self.0
    }
}

/// What a plan may look at besides itself, so that it holds no borrow.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Known<'a> {
    /// The caller's element counts, one for each rank, in collectives that take such an array; else
    /// empty.
    pub counts: &'a [u64],
}

impl<'a> Known<'a> {
    /// Knows the caller's counts.
    pub const fn new(counts: &'a [u64]) -> Self {
        Known { counts }
    }
}

/// One rank's part in one collective: a pure function from a step's number to its acts.
///
/// Steps start in order of their numbers, each as soon as the steps it needs are done; several can
/// run at once. The acts of one step start together. Acts that can run at the same time never
/// conflict: none writes what another reads or writes. So a plan that reduces what a message brings
/// does it in a later step.
///
/// Plans are small and `Copy`-like values that allocate nothing and hold no borrow. The same plan
/// is run by the [executor](crate::exec) and used again by a persistent request.
pub trait Plan {
    /// The number of steps of this rank; other ranks may have other numbers. A step may turn out to
    /// hold no act.
    fn steps(&self) -> u32;

    /// The elements of [`Buf::Scratch`] that the plan needs.
    fn scratch(&self, known: &Known<'_>) -> u64;

    /// Adds the acts of step `i`, below [`Plan::steps`], to `acts`, which is empty, and returns how
    /// many steps it needs: the step may start when all steps with numbers below that are done; the
    /// number is at most `i`.
    ///
    /// `None` says that a length is not yet known: ask again when another act is done. A plan whose
    /// lengths are all known at the start never returns it.
    ///
    /// # Cost
    ///
    /// At most a logarithm of the number of ranks.
    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32>;
}
