//! The ranks of a communicator on one node: [`NodeGroup`].

use std::boxed::Box;
use std::sync::Arc;

use oxmpi_os::limit;

use super::catalog::{GroupFacts, ProtocolPreference, SharedProcessors};
use super::next_root::RootPredictor;
use super::non_temporal::NonTemporalTrials;
use super::pair_buffers::{PairBufferSizes, PairBuffers};
use super::pieces::{PayloadPath, Pieces};
use super::ping_pong_schedule::PingPongSchedule;
use super::processors::{self, ProcessorGroups};
use super::protocol_trials::ProtocolTrials;
use super::scratch::Scratch;
use crate::ring::{MappedWords, SleepFlag};
use crate::segment::Segment;
use crate::segment::arena::{self, CollectiveSlots, MAX_GROUPS, SLOTS};
use crate::transport::{MembarrierFence, PeerProcess};

/// One rank's state for the collectives of a group of ranks of its node.
///
/// Every rank calls the same methods with the same sizes in the same order. A rank whose call has failed
/// makes no more calls, and its caller must let the others know.
#[derive(Debug)]
pub struct NodeGroup {
    pub(super) members: Box<[Member]>,
    /// The number of this rank in the group.
    pub(super) me: usize,
    pub(super) index: usize,
    /// All other ranks, by their numbers on the node, a bit each.
    pub(super) others: u64,
    /// The last step that this rank has taken.
    pub(super) step: u64,
    /// The last step that all others have finished, as far as this rank knows.
    pub(super) finished: u64,
    /// Predicts the next root.
    pub(super) root_predictor: RootPredictor,
    /// Bytes of the bounce buffer of a slot.
    pub(super) buffer_len: usize,
    /// Schedule of the two ping-pong slots of a group of two ranks; `None` for larger groups.
    pub(super) pair_slots: Option<PingPongSchedule>,
    /// Ping-pong buffers shared with each other rank.
    pub(super) pair_buffers: PairBuffers,
    /// The greatest length of a vector that goes to a root through ping-pong buffers.
    pair_limit: u64,
    /// The others on this rank's processor, a bit each, as far as that is known.
    pub(super) co_located: u64,
    /// Which ranks share processors, where that is known and even.
    pub(super) processors: Option<Arc<ProcessorGroups>>,
    /// The protocol that the user asks for.
    preference: Option<ProtocolPreference>,
    /// The protocols of long calls.
    pub(super) trials: Box<ProtocolTrials>,
    /// How bounce buffers are written, where there are more ranks.
    pub(super) non_temporal: NonTemporalTrials,
    /// Bytes from which a call writes its output past the caches, if their size is known.
    pub(super) non_temporal_from: Option<u64>,
    /// Scratch memory for operands on their way.
    pub(super) scratch: Box<[Scratch; 3]>,

    /// The processes of all members, this one too, where CMA is enabled.
    pub(super) processes: Option<Box<[PeerProcess]>>,
    /// Keeps the memory to which the members point.
    pub(super) segment: Arc<Segment>,
}

/// One rank of the group, as all see it.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) slots: CollectiveSlots<MappedWords<'static>>,
    /// The first of its bounce buffers.
    pub(super) bounce: *mut u8,
    /// The first byte of its ping-pong buffers.
    pub(super) pair_buffers: *mut u8,
    /// Its number on the node.
    pub(super) rank: u32,
    sleep_flag: SleepFlag<MappedWords<'static>>,
}

// SAFETY: the buffers are shared memory, reached by opaque copies only, and belong to no thread.
unsafe impl Send for Member {}

impl NodeGroup {
    /// Makes the group of the ranks `ranks` of the node, of which this is number `me`, with the memory of
    /// group index `index`. Groups of one index are equal or have no rank in common. `None` where there is no
    /// memory for it, or no such index.
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
        let member = |rank| {
            let words = *segment.collective_slots(rank, index).words();
            Member {
                // SAFETY: the group keeps the segment.
                slots: CollectiveSlots::new(unsafe { words.detach() }),
                bounce: arena.first(rank, index),
                pair_buffers: arena.pair_buffers(rank, index),
                rank,
                // SAFETY: as the slots.
                sleep_flag: unsafe { segment.sleep_flag(rank).detach() },
            }
        };
        let members: Box<[Member]> = ranks.map(member).collect();
        // Mapped so that other ranks find the address-space id of this process.
        segment.area();
        let others = members.iter().enumerate();
        let others = others.filter(|&(rank, _)| rank != me);
        let buffer_len = arena::bounce_buffer_len(on_node);
        let pair_bytes = arena::pair_buffers_len(on_node);
        let pair_limit =
            PairBufferSizes::new(members.len(), pair_bytes).longest_at_once(buffer_len);
        Some(Self {
            others: others.fold(0, |all, (_, member)| all | 1 << member.rank),
            me,
            index,
            step: 0,
            finished: 0,
            root_predictor: RootPredictor::new(),
            buffer_len,
            pair_slots: (members.len() == 2).then(|| PingPongSchedule::new(SLOTS)),
            pair_buffers: PairBuffers::new(me, members.len(), pair_bytes),
            co_located: 0,
            processors: None,
            preference: None,
            trials: Box::new(ProtocolTrials::new()),
            non_temporal: NonTemporalTrials::new(),
            non_temporal_from: None,
            pair_limit,
            members,
            scratch: Box::new([const { Scratch::new() }; 3]),
            processes: None,
            segment: Arc::clone(segment),
        })
    }

    /// Sets the processor of each rank of the group, or none. All ranks set the same.
    ///
    /// # Panics
    /// If there are as many processors as ranks of another group.
    pub fn set_processors(&mut self, processors: &[u32]) {
        let ranks = processors.len();
        assert!(ranks == 0 || ranks == self.size(), "a processor each");
        self.co_located = processors::co_located_with(self.me, processors);
        self.processors = ProcessorGroups::new(self.me, processors).map(Arc::new);
    }

    /// Sets the protocol that long calls go by where it may serve them. All ranks set the same.
    pub const fn prefer(&mut self, preference: Option<ProtocolPreference>) {
        self.preference = preference;
    }

    /// Wakes a rank of the group if it sleeps. Called after everything that is published to it.
    ///
    /// # Cost
    /// One plain load while the rank is awake.
    #[inline(always)]
    pub(super) fn wake(&self, rank: usize) {
        let member = &self.members[rank];
        if member.sleep_flag.asleep(&MembarrierFence) {
            self.segment.wake(member.rank);
        }
    }

    /// Ranks of the group.
    pub(super) fn size(&self) -> usize {
        self.members.len()
    }

    /// What the [catalog](super::catalog) asks about the group.
    pub(super) fn facts(&self) -> GroupFacts {
        let processors = self.processors.as_ref();
        let are_in_order = processors.map(|processors| processors.are_in_order);
        GroupFacts {
            ranks: self.size() as u32,
            on_node: self.segment.layout().ranks,
            cma: self.processes.is_some(),
            processors: match are_in_order {
                None => SharedProcessors::Uneven,
                Some(false) => SharedProcessors::Even,
                Some(true) => SharedProcessors::EvenInOrder,
            },
            preference: self.preference,
        }
    }

    /// Cuts a vector that a rank sends to all others, in elements of `element` bytes.
    #[inline]
    pub(super) fn pieces_for_all(&self, len: u64, element: usize) -> Pieces {
        let path = match &self.pair_slots {
            None => (self.buffer_len, PayloadPath::Bounce),
            Some(_) => (self.pair_buffers.buffer_len, PayloadPath::PingPong),
        };
        Pieces::new(len, 1, path, element)
    }

    /// Cuts a vector that a rank sends to one other. In large groups each pair's buffers are small: a vector
    /// that does not fit them at once goes through the bounce buffers that the rank writes for all, which stay
    /// in a cache though the reader changes from call to call.
    #[inline]
    pub(super) fn pieces_for_one(&self, len: u64, element: usize) -> Pieces {
        match len <= self.pair_limit {
            true => self.pieces_for_each(len, 1, element),
            false => self.pieces_for_all(len, element),
        }
    }

    /// Cuts each of the vectors that a rank sends to `others` other ranks.
    #[inline]
    pub(super) fn pieces_for_each(&self, len: u64, others: usize, element: usize) -> Pieces {
        Pieces::new(
            len,
            others,
            (self.pair_buffers.buffer_len, PayloadPath::PingPong),
            element,
        )
    }

    /// Bytes of a block for each rank.
    pub(super) fn all(&self, block: u64) -> u64 {
        block.saturating_mul(self.size() as u64)
    }
}
