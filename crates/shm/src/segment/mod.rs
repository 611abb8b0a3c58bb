//! The memory that the ranks of one node share: its [layout](SegmentLayout) and its mapping (`Segment`).
//!
//! One memfd holds a control area for each rank, the board of all ranks, and one directed link for each pair of ranks, a
//! rank's link to itself included, all at fixed offsets. A link that is not used costs no memory: a memfd gets its pages
//! at their first touch.
//!
//! ```text
//! control 0 | control 1 | .. | board | slots 0 | slots 1 | .. | ring 0>0 | ring 0>1 | .. | buffers 0>0 | ..
//!
//! control: a line with the process id, the exit flag and the runnable hint; a line with the counts of barriers; a
//!          line with the counter of opened links; then a word for each sender that has opened its link
//! board:   a word for each rank: whether it sleeps, and its processor
//! slots:   those of the rank's collectives
//! ring:    a link's slots | its credits (word 0 slots, word 1 buffers) | the pair's ping-pong slot, in the ring of the
//!          lower rank's link
//! buffers: a link's larger buffers | one ping-pong buffer, which the link's sender writes first; all links' buffers are
//!          mapped when the first link is opened
//! ```
//!
//! Behind the links the memfd has the bulk area and the arena of collectives, which are mapped at their first use.

pub(crate) mod area;
pub(crate) mod arena;
mod backing;
mod doorbells;
mod layout;

use std::io;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::vec::Vec;

use oxmpi_os::memory::{Mapping, Memfd};

use self::area::BulkArea;
use self::arena::{BounceBuffers, CollectiveSlots};
use self::backing::Backing;
use self::layout::{BARRIER_COUNTS, EXIT_FLAG, OPENED, PID, RUNNABLE_HINT, SKEW, TABLE};
use crate::heap::RankAreas;
use crate::ring::{
    BarrierCount, CpuBoard, ExitFlag, LinkAnnouncer, MappedWords, OpenedLinks, PING_PONG_BUFFERS,
    RunnableHint, STRIDE, SharedWords, SleepFlag, ping_pong_slot_at,
};

pub(crate) use self::backing::PAGE;
pub(crate) use self::doorbells::Doorbells;
pub use self::layout::SegmentLayout;
pub(crate) use self::layout::{BARRIERS, VERSION};

/// A mapped segment.
#[derive(Debug)]
pub(crate) struct Segment {
    mapping: Mapping,
    layout: SegmentLayout,
    rank_areas: Option<RankAreas>,
    me: u32,
    /// By rank: the id of its process, where the leader has sent them.
    pids: Option<Vec<u32>>,
    /// How sleepers are woken, if not by a futex.
    doorbells: Option<Doorbells>,
    memory: Backing,
    /// All links' larger buffers. `None` inside, here and below: they could not be mapped.
    buffers: OnceLock<Option<Mapping>>,
    area: OnceLock<Option<BulkArea>>,
    bounce_buffers: OnceLock<Option<BounceBuffers>>,
    /// All words, mapped for [`Segment::all`].
    whole: OnceLock<Mapping>,
}

impl Segment {
    /// Maps `memory`, which has the size of `layout`, for rank `me`.
    pub(crate) fn map(memory: &Memfd, layout: SegmentLayout, me: u32) -> io::Result<Self> {
        if ![layout.len(), layout.file_len()].contains(&memory.len()) {
            let (has, wanted) = (memory.len(), layout.len());
            let what = format!("the segment has {has} B, its layout {wanted} B");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Self::of(Backing::Shared(memory.try_clone()?), layout, me)
    }

    /// A segment of private memory for a rank alone.
    pub(crate) fn own(layout: SegmentLayout) -> io::Result<Self> {
        Self::of(Backing::Own(layout.file_len()), layout, 0)
    }

    fn of(memory: Backing, layout: SegmentLayout, me: u32) -> io::Result<Self> {
        // Too few addresses are reported now, not at the first message.
        drop(memory.map_part(0, layout.len())?);
        Ok(Self {
            mapping: memory.map_part(0, layout.buffers_at())?,
            memory,
            layout,
            rank_areas: None,
            me,
            pids: None,
            doorbells: None,
            buffers: OnceLock::new(),
            area: OnceLock::new(),
            bounce_buffers: OnceLock::new(),
            whole: OnceLock::new(),
        })
    }

    /// Sets the process ids of all ranks, whatever the ranks write.
    ///
    /// # Panics
    /// If they are not one for each rank.
    pub(crate) fn set_pids(&mut self, pids: Vec<u32>) {
        assert_eq!(pids.len(), self.layout.ranks as usize, "a process each");
        self.pids = Some(pids);
    }

    /// Lets bulk transfers use the heap.
    ///
    /// # Panics
    /// If it is for another number of ranks.
    pub(crate) fn attach(&mut self, rank_areas: RankAreas) {
        let ranks = self.layout.ranks as usize;
        assert_eq!(rank_areas.ranks(), ranks, "an area for each rank");
        self.rank_areas = Some(rank_areas);
    }

    /// The heap, if there is one.
    pub(crate) fn rank_areas(&self) -> Option<&RankAreas> {
        self.rank_areas.as_ref()
    }

    pub(crate) fn layout(&self) -> &SegmentLayout {
        &self.layout
    }

    /// Asks for huge pages.
    pub(crate) fn ask_huge_pages(&self) -> bool {
        self.mapping.ask_huge_pages()
    }

    /// The bulk area, unless it cannot be mapped.
    ///
    /// # Cost
    /// The first time system calls, then a load.
    pub(crate) fn area(&self) -> Option<&BulkArea> {
        let map =
            || BulkArea::map(&self.memory, self.layout.len(), self.layout.ranks, self.me).ok();
        self.area.get_or_init(map).as_ref()
    }

    /// The slots of `rank` for the collectives of `group`.
    ///
    /// # Panics
    /// If there is no such rank or group, as on a node of more than [`arena::RANKS`] ranks.
    pub(crate) fn collective_slots(
        &self,
        rank: u32,
        group: usize,
    ) -> CollectiveSlots<MappedWords<'_>> {
        let first = arena::slots_at(self.layout.ranks, rank, group);
        let at = self.layout.slots_at() + first * 8;
        CollectiveSlots::new(self.words(at, CollectiveSlots::<()>::WORDS))
    }

    /// The bounce buffers of collectives, unless they cannot be mapped.
    ///
    /// # Cost
    /// The first time system calls, then a load.
    pub(crate) fn bounce_buffers(&self) -> Option<&BounceBuffers> {
        let (at, ranks) = (self.layout.bounce_buffers_at(), self.layout.ranks);
        let len = arena::bounce_buffers_len(ranks);
        let map = || {
            let there = len > 0 && self.memory.len() >= at + len;
            let mapping = there.then(|| self.memory.map_part(at, len).ok())?;
            Some(BounceBuffers::new(mapping?, ranks))
        };
        self.bounce_buffers.get_or_init(map).as_ref()
    }

    /// The sleep flag of `rank`.
    pub(crate) fn sleep_flag(&self, rank: u32) -> SleepFlag<MappedWords<'_>> {
        SleepFlag::new(self.board_words(), rank as usize)
    }

    /// Wakes `rank`, which sleeps or is about to.
    #[cold]
    #[inline(never)]
    pub(crate) fn wake(&self, rank: u32) {
        self.sleep_flag(rank).clear();
        if let Some(doorbells) = &self.doorbells {
            return doorbells.ring(rank);
        }
        // A failed wake delays the sleeper until the end of its nap.
        let _ = oxmpi_os::futex::wake(self.asleep(rank));
    }

    /// Wakes sleepers of this node by `doorbells` from now on.
    pub(crate) fn set_doorbells(&mut self, doorbells: Doorbells) {
        self.doorbells = Some(doorbells);
    }

    /// What sleepers are woken by, unless it is a futex.
    pub(crate) const fn doorbells(&self) -> Option<&Doorbells> {
        self.doorbells.as_ref()
    }

    /// The lower half of the sleep flag of `rank`: a futex, which the kernel finds and compares by its address.
    pub(crate) fn asleep(&self, rank: u32) -> &AtomicU32 {
        assert!(rank < self.layout.ranks);
        let word = self.board_words().address(rank as usize);
        // SAFETY: an aligned word of the segment, which `self` keeps.
        unsafe { AtomicU32::from_ptr(word.cast()) }
    }

    /// The board of all ranks: which are awake, and on which processor.
    pub(crate) fn cpu_board(&self) -> CpuBoard<MappedWords<'_>> {
        CpuBoard::new(self.board_words())
    }

    /// The count of barrier `index` of `rank`.
    pub(crate) fn barrier_count(&self, rank: u32, index: usize) -> BarrierCount<MappedWords<'_>> {
        assert!(index < BARRIERS);
        BarrierCount::new(self.control(rank), BARRIER_COUNTS + index)
    }

    /// The runnable hint of `rank`.
    pub(crate) fn runnable_hint(&self, rank: u32) -> RunnableHint<MappedWords<'_>> {
        RunnableHint::new(self.control(rank), RUNNABLE_HINT)
    }

    /// Where senders announce their links to `rank`.
    pub(crate) fn link_announcer(&self, rank: u32) -> LinkAnnouncer<MappedWords<'_>> {
        LinkAnnouncer::new(self.control(rank), OPENED, TABLE)
    }

    /// The links that were opened to `rank`.
    pub(crate) fn opened_links(&self, rank: u32) -> OpenedLinks<MappedWords<'_>> {
        OpenedLinks::new(self.control(rank), OPENED, TABLE)
    }

    /// The process id that `rank` has written.
    ///
    /// # Panics
    /// If there is no such rank.
    pub(crate) fn pid(&self, rank: u32) -> u32 {
        if let Some(pids) = &self.pids {
            return pids[rank as usize];
        }
        // SAFETY: a control area has this word.
        unsafe { self.control(rank).load(PID, Ordering::Relaxed) as u32 }
    }

    /// The exit flag of `rank`.
    pub(crate) fn exit_flag(&self, rank: u32) -> ExitFlag<MappedWords<'_>> {
        ExitFlag::new(self.control(rank), EXIT_FLAG)
    }

    pub(crate) fn set_pid(&self, rank: u32, pid: u32) {
        // SAFETY: a control area has this word.
        unsafe { self.control(rank).store(PID, pid.into(), Ordering::Relaxed) };
    }

    /// The ring and credits of the link from one rank to another.
    pub(crate) fn ring(&self, from: u32, to: u32) -> MappedWords<'_> {
        let skew = if from > to { SKEW } else { 0 };
        let at = self.layout.links_at() + self.link(from, to) * self.layout.ring_len();
        self.words(at + skew, self.layout.ring_words())
    }

    /// The ping-pong slot of two ranks; a rank has none with itself.
    pub(crate) fn ping_pong_slot(&self, one: u32, other: u32) -> Option<MappedWords<'_>> {
        if one == other {
            return None;
        }
        let ring = self.ring(one.min(other), one.max(other));
        // SAFETY: a ring's words have that slot.
        Some(unsafe { ring.part(ping_pong_slot_at(self.layout.slots), STRIDE) })
    }

    /// First byte of the larger buffers of the link from one rank to another, unless they cannot be mapped.
    ///
    /// # Cost
    /// The first time system calls, then a load.
    pub(crate) fn buffers(&self, from: u32, to: u32) -> Option<*mut u8> {
        let (start, len) = (self.layout.buffers_at(), self.layout.all_buffers_len());
        let map = || self.memory.map_part(start, len).ok();
        let all = self.buffers.get_or_init(map).as_ref()?;
        let at = self.link(from, to) * self.layout.buffers_len();
        Some(all.base().wrapping_add(at))
    }

    /// All words of the segment, also those of parts that are mapped later.
    pub(crate) fn all(&self) -> MappedWords<'_> {
        if let Backing::Own(_) = self.memory {
            return self.words(0, self.mapping.len() / 8);
        }
        let len = self.layout.len() + area::words_len(self.layout.ranks);
        let len = len.min(self.memory.len());
        let map = || self.memory.map_part(0, len).expect("addresses are left");
        let whole = self.whole.get_or_init(map);
        let base = NonNull::new(whole.base()).expect("mapped memory");
        // SAFETY: a whole mapping of words, which lives as long as `self`.
        unsafe { MappedWords::new(base.cast(), whole.len() / 8) }
    }

    fn board_words(&self) -> MappedWords<'_> {
        self.words(self.layout.board_at(), self.layout.ranks as usize)
    }

    /// First bytes of the ping-pong buffers of two ranks, as `me` counts them; null where they cannot be
    /// mapped.
    pub(crate) fn ping_pong_buffers(&self, me: u32, peer: u32) -> [*mut u8; PING_PONG_BUFFERS] {
        [(me, peer), (peer, me)].map(|(from, to)| {
            let buffers = self.buffers(from, to);
            buffers.map_or(std::ptr::null_mut(), |buffers| {
                buffers.wrapping_add(self.layout.area())
            })
        })
    }

    fn control(&self, rank: u32) -> MappedWords<'_> {
        assert!(rank < self.layout.ranks);
        let at = rank as usize * self.layout.control_len();
        self.words(at, self.layout.control_words())
    }

    /// The number of a link among all.
    fn link(&self, from: u32, to: u32) -> usize {
        assert!(from < self.layout.ranks && to < self.layout.ranks);
        from as usize * self.layout.ranks as usize + to as usize
    }

    fn words(&self, at: usize, len: usize) -> MappedWords<'_> {
        assert!(at.is_multiple_of(8) && at + len * 8 <= self.mapping.len());
        let base = NonNull::new(self.mapping.base().wrapping_add(at)).expect("mapped memory");
        // SAFETY: aligned and inside the mapping by the assertion; the mapping lives as long as
        // `self`, and everything in it is reached by atomics or opaque copies.
        unsafe { MappedWords::new(base.cast(), len) }
    }
}
