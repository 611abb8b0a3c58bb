//! The ranks of a communicator inside a node: [`NodeGroup`].

use std::boxed::Box;
use std::sync::Arc;

use oxmpi_os::{RawBytes, limit};

use super::awaited::AwaitedSteps;
use super::hierarchical_allreduce::ProcessorGroups;
use super::next_root::RootPredictor;
use super::non_temporal::NonTemporalTrials;
use super::pair_buffers::PairBuffers;
use super::pieces::{PayloadPath, Pieces};
use super::ping_pong_schedule::PingPongSchedule;
use super::protocol_trials::ProtocolTrials;
use crate::ring::MappedWords;
use crate::segment::Segment;
use crate::segment::arena::{self, CollectiveSlots, LONG_PIECE, MAX_GROUPS, SLOTS};
use crate::transport::PeerProcess;

/// What a collective needs of whoever calls it.
pub trait CollectiveDriver {
    /// PlanReason a collective ends early.
    type Error;

    /// How often to look, with a PAUSE each, before [`CollectiveDriver::wait`].
    fn polls(&self) -> u32;

    /// Returns when what is awaited has come. Meanwhile it makes progress elsewhere, or rests.
    ///
    /// # Errors
    /// When it never comes.
    fn wait(&mut self, awaited: AwaitedSteps) -> Result<(), Self::Error>;

    /// This rank has done its part of a long call: those who share its processor may do theirs before it goes on.
    fn yield_to_colocated(&mut self);

    /// PlanReason a collective ends when `rank`, a number on the node, cannot be read any more.
    fn unreadable(&mut self, rank: u32) -> Self::Error;

    /// Wakes those of `ranks`, numbers on the node bit by bit, that sleep.
    fn wake(&mut self, ranks: u64);

    /// `into = into op from`, element by element. Both are whole elements in this process's own
    /// memory, equally long, and do not overlap; `from` or `into` may be aligned to 128 bytes only.
    fn fold(&mut self, from: RawBytes, into: RawBytes);

    /// As [`CollectiveDriver::fold`], but `into = from op into`.
    fn fold_left(&mut self, from: RawBytes, into: RawBytes);
}

/// One rank's part in the collectives of a group of ranks of its node.
///
/// Every rank calls the same methods with the same sizes in the same order. A rank whose call has
/// failed calls nothing any more, and it is the caller's affair that the others learn of it.
#[derive(Debug)]
pub struct NodeGroup {
    pub(super) members: Box<[Member]>,
    /// This rank in the group.
    pub(super) me: usize,
    pub(super) place: usize,
    /// The numbers of all others on the node, bit by bit.
    pub(super) others: u64,
    /// The last step that this rank has taken.
    pub(super) step: u64,
    /// Up to which step all others have finished, as far as this rank knows.
    pub(super) finished: u64,
    /// Which rank leads after which.
    pub(super) root_predictor: RootPredictor,
    /// Bytes of a cell of a slot.
    pub(super) cell: usize,
    /// Which slots are written where there are two ranks; else each step has its slot.
    pub(super) pair: Option<PingPongSchedule>,
    /// What goes to one other rank only.
    pub(super) dialogues: PairBuffers,
    /// The others on this rank's processor, bit by bit, as far as that is known.
    pub(super) mates: u64,
    /// Who shares processors, where that is known and even.
    pub(super) domains: Option<Arc<ProcessorGroups>>,
    /// Which way long calls go.
    pub(super) roads: Box<ProtocolTrials>,
    /// How the cells are written, where there are more.
    pub(super) streams: NonTemporalTrials,
    /// From how many bytes on a call writes its output past the caches, if their size is known.
    pub(super) past_caches_from: Option<u64>,
    /// Room of this rank's own, for operands on their way.
    pub(super) rooms: Box<[Room; 3]>,

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
    pub(super) cells: *mut u8,
    /// The first byte that it has for dialogues.
    pub(super) dialogues: *mut u8,
    /// Its number on the node.
    pub(super) rank: u32,
}

// SAFETY: the cells are shared memory, reached by opaque copies only, and belong to no thread.
unsafe impl Send for Member {}

/// As much as is combined at a time: two of them and the result stay in a cache, and where operands are
/// fetched from other ranks' memory, asking the system takes little of the time.
pub(super) const ROOM: usize = 32 << 10;

/// Room for an operand that another rank wrote.
pub(super) const OPERAND: usize = 0;
/// Room for this rank's own operand where the result takes its place.
pub(super) const ASIDE: usize = 1;
/// Room for a result that this rank does not get.
pub(super) const RESULT: usize = 2;

/// Bytes aligned as elements that are reduced may ask for.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Room([u8; ROOM]);

impl Room {
    /// Its first `len` bytes.
    pub(super) fn bytes(&mut self, len: usize) -> RawBytes {
        let room = &mut self.0[..len];
        // SAFETY: initialised memory of the team, which a collective borrows until it has ended; it
        // gives these bytes to the driver's operation only, one at a time.
        unsafe { RawBytes::new(room.as_mut_ptr(), len) }
    }
}

impl NodeGroup {
    /// The team of the ranks `ranks` of the node, of which this is number `me`, at `place`. Ranks
    /// that use the same place are in one team, or in teams that have no rank in common. `None`
    /// where there is no memory for it, or no such place.
    ///
    /// # Panics
    /// If a rank is not on the node.
    pub(crate) fn new(
        segment: &Arc<Segment>,
        place: usize,
        ranks: impl Iterator<Item = u32>,
        me: usize,
    ) -> Option<Self> {
        let on_node = segment.layout().ranks;
        if place >= MAX_GROUPS || on_node > arena::RANKS {
            return None;
        }
        limit::check(arena::rank_len(on_node) as u64).ok()?;
        let arena = segment.bounce_buffers()?;
        let member = |rank| Member {
            // SAFETY: the team keeps the segment.
            slots: unsafe { segment.collective_slots(rank, place).detach() },
            cells: arena.first(rank, place),
            dialogues: arena.pair_buffers(rank, place),
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
            place,
            step: 0,
            finished: 0,
            root_predictor: RootPredictor::new(),
            cell: arena::bounce_buffer_len(on_node),
            pair: (members.len() == 2).then(|| PingPongSchedule::new(SLOTS)),
            dialogues: PairBuffers::new(me, members.len(), arena::pair_buffers_len(on_node)),
            mates: 0,
            domains: None,
            roads: Box::new(ProtocolTrials::new()),
            streams: NonTemporalTrials::new(),
            past_caches_from: None,
            members,
            rooms: Box::new([const { Room([0; ROOM]) }; 3]),
            spaces: None,
            segment: Arc::clone(segment),
        })
    }

    /// Ranks of the team.
    pub(super) fn size(&self) -> usize {
        self.members.len()
    }

    /// How a vector goes that a rank gives all others, in elements of `element` bytes.
    #[inline]
    pub(super) fn pieces_for_all(&self, len: u64, element: usize) -> Pieces {
        let through = match &self.pair {
            None => (self.cell, PayloadPath::Bounce),
            Some(_) => (self.dialogues.cell, PayloadPath::PingPong),
        };
        Pieces::new(len, 1, through, element)
    }

    /// How a vector goes that a rank gives one other: of many ranks any two have little room. A vector that they have room
    /// for only in turns goes through the cells that the rank writes for all, whoever the other is: from call to call that
    /// changes, and these stay in a cache.
    #[inline]
    pub(super) fn pieces_for_one(&self, len: u64, element: usize) -> Pieces {
        match self.dialogues.is_roomy(self.cell.min(LONG_PIECE)) && self.dialogues.hold(len) {
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
            (self.dialogues.cell, PayloadPath::PingPong),
            element,
        )
    }

    /// Bytes of a block for each.
    pub(super) fn all(&self, block: u64) -> u64 {
        block.saturating_mul(self.size() as u64)
    }
}
