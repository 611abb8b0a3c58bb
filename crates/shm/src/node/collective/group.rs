//! The ranks of a communicator inside a node: [`NodeGroup`].

use std::boxed::Box;
use std::sync::Arc;

use oxmpi_os::limit;

use super::next_root::RootPredictor;
use super::non_temporal::NonTemporalTrials;
use super::pair_buffers::PairBuffers;
use super::pieces::{PayloadPath, Pieces};
use super::ping_pong_schedule::PingPongSchedule;
use super::processors::{self, ProcessorGroups};
use super::protocol_trials::ProtocolTrials;
use super::scratch::Scratch;
use crate::ring::MappedWords;
use crate::segment::Segment;
use crate::segment::arena::{self, CollectiveSlots, LONG_PIECE, MAX_GROUPS, SLOTS};
use crate::transport::PeerProcess;

/// One rank's part in the collectives of a group of ranks of its node.
///
/// Every rank calls the same methods with the same sizes in the same order. A rank whose call has
/// failed calls nothing any more, and it is the caller's affair that the others learn of it.
#[derive(Debug)]
pub struct NodeGroup {
    pub(super) members: Box<[Member]>,
    /// This rank in the group.
    pub(super) me: usize,
    pub(super) index: usize,
    /// The numbers of all others on the node, bit by bit.
    pub(super) others: u64,
    /// The last step that this rank has taken.
    pub(super) step: u64,
    /// Up to which step all others have finished, as far as this rank knows.
    pub(super) finished: u64,
    /// Which rank leads after which.
    pub(super) root_predictor: RootPredictor,
    /// Bytes of a cell of a slot.
    pub(super) buffer_len: usize,
    /// Which slots are written where there are two ranks; else each step has its slot.
    pub(super) pair_slots: Option<PingPongSchedule>,
    /// What goes to one other rank only.
    pub(super) pair_buffers: PairBuffers,
    /// The others on this rank's processor, bit by bit, as far as that is known.
    pub(super) mates: u64,
    /// Who shares processors, where that is known and even.
    pub(super) processors: Option<Arc<ProcessorGroups>>,
    /// Which way long calls go.
    pub(super) trials: Box<ProtocolTrials>,
    /// How the cells are written, where there are more.
    pub(super) non_temporal: NonTemporalTrials,
    /// From how many bytes on a call writes its output past the caches, if their size is known.
    pub(super) non_temporal_from: Option<u64>,
    /// Room of this rank's own, for operands on their way.
    pub(super) scratch: Box<[Scratch; 3]>,

    /// All members' memory, this rank's own too, where all may read each other's.
    pub(super) spaces: Option<Box<[PeerProcess]>>,
    /// Keeps what the members point to.
    pub(super) segment: Arc<Segment>,
}

/// One rank of the group, as all see it.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) slots: CollectiveSlots<MappedWords<'static>>,
    /// The first of its cells.
    pub(super) bounce: *mut u8,
    /// The first byte that it has for dialogues.
    pub(super) pair_buffers: *mut u8,
    /// Its number on the node.
    pub(super) rank: u32,
}

// SAFETY: the cells are shared memory, reached by opaque copies only, and belong to no thread.
unsafe impl Send for Member {}

impl NodeGroup {
    /// The team of the ranks `ranks` of the node, of which this is number `me`, at `place`. Ranks
    /// that use the same place are in one team, or in teams that have no rank in common. `None`
    /// where there is no memory for it, or no such place.
    ///
    /// # Panics
    /// If a rank is not on the node.
    pub(crate) fn new(
        segment: &Arc<Segment>,
        index: usize,
        ranks: impl Iterator<Item = u32>,
        me: usize,
    ) -> Option<Self> {
        let on_node = segment.layout().ranks;
        if index >= MAX_GROUPS || on_node > arena::RANKS {
            return None;
        }
        limit::check(arena::rank_len(on_node) as u64).ok()?;
        let arena = segment.bounce_buffers()?;
        let member = |rank| Member {
            // SAFETY: the team keeps the segment.
            slots: unsafe { segment.collective_slots(rank, index).detach() },
            bounce: arena.first(rank, index),
            pair_buffers: arena.pair_buffers(rank, index),
            rank,
        };
        let members: Box<[Member]> = ranks.map(member).collect();
        // So others find by what to know this process's memory.
        segment.area();
        let others = members.iter().enumerate();
        let others = others.filter(|&(rank, _)| rank != me);
        Some(Self {
            others: others.fold(0, |all, (_, member)| all | 1 << member.rank),
            me,
            index,
            step: 0,
            finished: 0,
            root_predictor: RootPredictor::new(),
            buffer_len: arena::bounce_buffer_len(on_node),
            pair_slots: (members.len() == 2).then(|| PingPongSchedule::new(SLOTS)),
            pair_buffers: PairBuffers::new(me, members.len(), arena::pair_buffers_len(on_node)),
            mates: 0,
            processors: None,
            trials: Box::new(ProtocolTrials::new()),
            non_temporal: NonTemporalTrials::new(),
            non_temporal_from: None,
            members,
            scratch: Box::new([const { Scratch::new() }; 3]),
            spaces: None,
            segment: Arc::clone(segment),
        })
    }

    /// Says on which processor each rank of the team runs, or nothing. All say the same.
    ///
    /// # Panics
    /// If these are those of another number of ranks.
    pub fn set_processors(&mut self, processors: &[u32]) {
        let ranks = processors.len();
        assert!(ranks == 0 || ranks == self.size(), "a processor each");
        self.mates = processors::mates_of(self.me, processors);
        self.processors = ProcessorGroups::new(self.me, processors).map(Arc::new);
    }

    /// Ranks of the team.
    pub(super) fn size(&self) -> usize {
        self.members.len()
    }

    /// How a vector goes that a rank gives all others, in elements of `element` bytes.
    #[inline]
    pub(super) fn pieces_for_all(&self, len: u64, element: usize) -> Pieces {
        let path = match &self.pair_slots {
            None => (self.buffer_len, PayloadPath::Bounce),
            Some(_) => (self.pair_buffers.buffer_len, PayloadPath::PingPong),
        };
        Pieces::new(len, 1, path, element)
    }

    /// How a vector goes that a rank gives one other: of many ranks any two have little room. A vector that they have room
    /// for only in turns goes through the cells that the rank writes for all, whoever the other is: from call to call that
    /// changes, and these stay in a cache.
    #[inline]
    pub(super) fn pieces_for_one(&self, len: u64, element: usize) -> Pieces {
        match self.pair_buffers.is_roomy(self.buffer_len.min(LONG_PIECE))
            && self.pair_buffers.holds(len)
        {
            true => self.pieces_for_each(len, 1, element),
            false => self.pieces_for_all(len, element),
        }
    }

    /// How each of the vectors goes that a rank gives so many others.
    #[inline]
    pub(super) fn pieces_for_each(&self, len: u64, others: usize, element: usize) -> Pieces {
        Pieces::new(
            len,
            others,
            (self.pair_buffers.buffer_len, PayloadPath::PingPong),
            element,
        )
    }

    /// Bytes of a block for each.
    pub(super) fn all(&self, block: u64) -> u64 {
        block.saturating_mul(self.size() as u64)
    }
}
