//! What the rows of the catalog ask about a group and a call: [`GroupFacts`], [`CallFacts`].

use super::super::call_kind::CallKind;
use super::super::pair_buffers::PairBufferSizes;
use super::super::pieces::SLOT_LEN;
use super::ProtocolPreference;
use crate::segment::arena;

/// What the choice knows of a group; all its ranks know the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupFacts {
    /// Ranks of the group, at least two.
    pub ranks: u32,
    /// Ranks of its node, from which the sizes of buffers follow.
    pub on_node: u32,
    /// Whether each rank may read and write the memory of all others by process_vm calls.
    pub cma: bool,
    /// How ranks share processors.
    pub processors: SharedProcessors,
    /// What the user asks for.
    pub preference: Option<ProtocolPreference>,
}

/// How the ranks of a group share processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedProcessors {
    /// Not known, not at all, all one, or unevenly.
    Uneven,
    /// Several processors have equally many ranks, more than one each.
    Even,
    /// The same, and the ranks of each processor have consecutive numbers.
    EvenInOrder,
}

/// What the choice knows of a call; all ranks know the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFacts {
    /// Bytes of a vector, or of one rank's block.
    pub len: u64,
    /// Whether input and output are the same memory.
    pub in_place: bool,
    /// Whether a reduction may combine the vectors in another order than that of their ranks.
    pub commutes: bool,
}

impl CallFacts {
    /// A call on blocks of `len` bytes, not in place, in rank order.
    #[must_use]
    pub const fn of(len: u64) -> Self {
        Self {
            len,
            in_place: false,
            commutes: false,
        }
    }
}

impl GroupFacts {
    /// A group of all `ranks` ranks of a node, of which no more is known.
    #[must_use]
    pub const fn of_node(ranks: u32) -> Self {
        Self {
            ranks,
            on_node: ranks,
            cma: false,
            processors: SharedProcessors::Uneven,
            preference: None,
        }
    }

    /// The greatest length of a block of which one slot holds what a rank writes in a step: one, or one for each other rank.
    pub(super) const fn slot_limit(&self, kind: CallKind) -> u64 {
        let parts = match kind {
            CallKind::Scatter | CallKind::Alltoall | CallKind::ReduceScatter => {
                self.ranks as u64 - 1
            }
            _ => 1,
        };
        SLOT_LEN as u64 / parts
    }

    /// The greatest length of a vector that goes to a root through ping-pong buffers.
    pub(super) const fn pair_limit(&self) -> u64 {
        let bytes = arena::pair_buffers_len(self.on_node);
        let sizes = PairBufferSizes::new(self.ranks as usize, bytes);
        sizes.longest_at_once(arena::bounce_buffer_len(self.on_node))
    }
}
