//! The memory that the ranks of one node share: its layout and its mapping.
//!
//! One memfd holds a control area per rank, the board of all ranks, and one directed link per pair
//! of ranks, a rank's link to itself included. All are at fixed offsets; a link that nobody uses
//! costs no memory, since a memfd's pages come at first touch.
//!
//! ```text
//! control 0 | control 1 | .. | board | slots 0 | slots 1 | .. | ring 0>0 | ring 0>1 | .. | buffers 0>0 | ..
//!
//! control: a line each for the process number, whether it has left and when it worked, for the
//!          barriers entered, and for the counter of opened links; then a word per sender: whether
//!          it has opened its link to this rank
//! board:   a word per rank: whether it sleeps, and where it runs
//! slots:   those of the rank's collectives
//! ring:    a link's slots | its credits (word 0 slots, word 1 buffers) | the slot that the pair's
//!          two sides write in turn, in the ring of the lower rank's link
//! buffers: a link's larger buffers | the one that the pair's two sides write in turn, its sender
//!          first; those of all links are mapped when the first link is opened
//! ```
//!
//! Behind the links the memfd has what bulk transfers pass through (`area.rs`), and what collectives
//! do (`node/collective/arena.rs`), which are mapped when they are first needed.

use std::io;
use std::ptr::NonNull;
use std::string::String;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::vec::Vec;

use oxmpi_os::memory::{Mapping, Memfd};

use crate::area::{self, Area};
use crate::heap::Reach;
use crate::node::Doorbells;
use crate::node::collective::arena::{self, Cells, Slots};
use crate::ring::{
    BarrierCount, CpuBoard, ExitFlag, LinkAnnouncer, MappedWords, OpenedLinks, PING_PONG_BUFFERS,
    RunnableHint, STRIDE, SharedWords, SleepFlag, ping_pong_slot_at, words_for,
};

pub(crate) const PAGE: usize = 4096;

/// Version of the segment's form and of what is written in it.
pub(crate) const VERSION: u32 = 7;

/// Bytes by which the ring of one direction of a pair stands behind its page. Slots take every
/// second line, so the two directions use different sets of a first-level cache; with both in the
/// same sets a message took 16 to 20 ns longer (8 B, 60 to 77 ns).
const SKEW: usize = 64;

const PID: usize = 0;
const LEFT: usize = 1;
const STINT: usize = 2;
const GATES: usize = STRIDE;
const OPENED: usize = 2 * STRIDE;
const TABLE: usize = 3 * STRIDE;

/// Gates of a rank: a line of words.
pub(crate) const GATES_LEN: usize = 8;

/// Sizes of a segment. Peers agree on them before they map it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Ranks on the node.
    pub ranks: u32,
    /// Slots of a link's ring: a power of two, at least 4.
    pub slots: u32,
    /// Bytes of a larger buffer: a multiple of 64.
    pub buffer: u32,
    /// Larger buffers of a link: a power of two, at least 4.
    pub buffers: u32,
}

impl Layout {
    /// The usual sizes for `ranks` ranks.
    ///
    /// 64 slots of both directions fit a first-level cache of 32 KiB beside the user's data: with
    /// 256 a message took a quarter longer, and streams gained nothing.
    #[must_use]
    pub const fn new(ranks: u32) -> Self {
        Self {
            ranks,
            slots: 64,
            buffer: 8192,
            buffers: 16,
        }
    }

    /// Whether a segment can have these sizes.
    ///
    /// # Errors
    /// A text that names the first size that is wrong.
    pub fn check(&self) -> Result<(), String> {
        let Self {
            ranks,
            slots,
            buffer,
            buffers,
        } = *self;
        if !(1..=1 << 16).contains(&ranks) {
            return Err(format!("{ranks} ranks on a node; 1 to 65536 can be"));
        }
        if !slots.is_power_of_two() || !(4..=1 << 16).contains(&slots) {
            return Err(format!(
                "{slots} slots; it must be a power of two, 4 to 65536"
            ));
        }
        if buffer % 64 != 0 || !(128..=65472).contains(&buffer) {
            return Err(format!(
                "buffers of {buffer} B; it must be a multiple of 64, 128 to 65472"
            ));
        }
        if !buffers.is_power_of_two() || !(4..=1 << 12).contains(&buffers) {
            return Err(format!(
                "{buffers} buffers; it must be a power of two, 4 to 4096"
            ));
        }
        let whole = (self.links_at() as u128)
            + u128::from(ranks) * u128::from(ranks) * self.link_len() as u128
            + (area::len(ranks) + arena::cells_len(ranks)) as u128;
        if whole > 1 << 46 {
            return Err(format!(
                "a segment of {whole} B is beyond the address space"
            ));
        }
        Ok(())
    }

    /// Bytes of all tables and links, touched or not.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.buffers_at() + self.all_buffers_len()
    }

    /// Bytes that are touched by the time all ranks have met, for all of them together: the tables
    /// of who is who. Links come at their first message.
    #[must_use]
    pub const fn tables_len(&self) -> usize {
        self.slots_at()
    }

    /// Whether the segment has no bytes: never.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ranks == 0
    }

    /// Bytes of the memfd: the segment and what is mapped when it is first needed, which it may
    /// lack where files are limited.
    #[must_use]
    pub(crate) const fn file_len(&self) -> usize {
        self.cells_at() + arena::cells_len(self.ranks)
    }

    /// First byte of the cells of collectives.
    const fn cells_at(&self) -> usize {
        self.len() + area::len(self.ranks)
    }

    /// Bytes that one link costs once it is used.
    #[must_use]
    pub const fn link_len(&self) -> usize {
        self.ring_len() + self.buffers_len()
    }

    /// Bytes of all links' larger buffers together, which are mapped at once.
    pub(crate) const fn all_buffers_len(&self) -> usize {
        self.links() * self.buffers_len()
    }

    /// Bytes of a link's larger buffers together.
    pub(crate) const fn area(&self) -> usize {
        self.buffers as usize * self.buffer as usize
    }

    const fn control_words(&self) -> usize {
        TABLE + self.ranks as usize
    }

    const fn control_len(&self) -> usize {
        (self.control_words() * 8).next_multiple_of(PAGE)
    }

    const fn board_at(&self) -> usize {
        self.ranks as usize * self.control_len()
    }

    const fn slots_at(&self) -> usize {
        self.board_at() + (self.ranks as usize * 8).next_multiple_of(PAGE)
    }

    const fn links_at(&self) -> usize {
        self.slots_at() + arena::slots_len(self.ranks)
    }

    const fn ring_words(&self) -> usize {
        words_for(self.slots)
    }

    /// Bytes of one link's ring.
    const fn ring_len(&self) -> usize {
        (self.ring_words() * 8 + SKEW).next_multiple_of(PAGE)
    }

    /// Bytes of one link's larger buffers and of the one in turn, to the end of a page.
    const fn buffers_len(&self) -> usize {
        (self.area() + self.buffer as usize).next_multiple_of(PAGE)
    }

    const fn links(&self) -> usize {
        self.ranks as usize * self.ranks as usize
    }

    /// First byte of the larger buffers: what is before is mapped from the start.
    const fn buffers_at(&self) -> usize {
        self.links_at() + self.links() * self.ring_len()
    }
}

/// What a segment is made of.
#[derive(Debug)]
pub(crate) enum Backing {
    /// Memory that several processes map.
    Shared(Memfd),
    /// So many bytes of this process's own, for a rank alone, which needs nothing that the system could refuse
    /// to share. Each part is a mapping for itself, so none is mapped twice.
    Own(usize),
}

impl Backing {
    fn len(&self) -> usize {
        match self {
            Self::Shared(memory) => memory.len(),
            Self::Own(len) => *len,
        }
    }

    /// Maps `len` bytes from byte `at` on.
    pub(crate) fn map_part(&self, at: usize, len: usize) -> io::Result<Mapping> {
        match self {
            Self::Shared(memory) => memory.map_part(at, len),
            Self::Own(_) => Mapping::own(len),
        }
    }
}

/// A mapped segment.
#[derive(Debug)]
pub(crate) struct Segment {
    mapping: Mapping,
    layout: Layout,
    reach: Option<Reach>,
    me: u32,
    /// By rank: the number of its process, where the leader has told them.
    pids: Option<Vec<u32>>,
    /// How sleepers are woken, where that is not by a futex.
    doorbells: Option<Doorbells>,
    memory: Backing,
    /// All links' larger buffers. `None` inside, here and below: it could not be mapped.
    buffers: OnceLock<Option<Mapping>>,
    area: OnceLock<Option<Area>>,
    cells: OnceLock<Option<Cells>>,
    /// For who looks at everything.
    whole: OnceLock<Mapping>,
}

impl Segment {
    /// Maps `memory`, which has the size that `layout` tells, for rank `me`.
    pub(crate) fn map(memory: &Memfd, layout: Layout, me: u32) -> io::Result<Self> {
        if ![layout.len(), layout.file_len()].contains(&memory.len()) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "the segment has {} B, its layout {} B",
                    memory.len(),
                    layout.len()
                ),
            ));
        }
        Self::of(Backing::Shared(memory.try_clone()?), layout, me)
    }

    /// A segment for a rank alone, of its own memory.
    pub(crate) fn own(layout: Layout) -> io::Result<Self> {
        Self::of(Backing::Own(layout.file_len()), layout, 0)
    }

    fn of(memory: Backing, layout: Layout, me: u32) -> io::Result<Self> {
        // Too few addresses are told now, not at the first message.
        drop(memory.map_part(0, layout.len())?);
        Ok(Self {
            mapping: memory.map_part(0, layout.buffers_at())?,
            memory,
            layout,
            reach: None,
            me,
            pids: None,
            doorbells: None,
            buffers: OnceLock::new(),
            area: OnceLock::new(),
            cells: OnceLock::new(),
            whole: OnceLock::new(),
        })
    }

    /// The processes of all ranks are `pids`, whatever any of them writes.
    ///
    /// # Panics
    /// If they are those of another number of ranks.
    pub(crate) fn set_pids(&mut self, pids: Vec<u32>) {
        assert_eq!(pids.len(), self.layout.ranks as usize, "a process each");
        self.pids = Some(pids);
    }

    /// Lets bulk transfer use the memory that programs allocate.
    ///
    /// # Panics
    /// If it is for another number of ranks.
    pub(crate) fn attach(&mut self, reach: Reach) {
        assert_eq!(
            reach.ranks(),
            self.layout.ranks as usize,
            "an area for each rank"
        );
        self.reach = Some(reach);
    }

    /// The memory that programs allocate, if there is any.
    pub(crate) fn reach(&self) -> Option<&Reach> {
        self.reach.as_ref()
    }

    /// How far into the area of `rank` the `len` bytes from `address` on begin, if all of them lie
    /// in it: what a peer's [`Segment::heap_place`] takes.
    ///
    /// # Cost
    /// Some compares; no system call.
    pub(crate) fn heap_offset(&self, rank: u32, address: *const u8, len: u64) -> Option<u64> {
        self.reach.as_ref()?.offset(rank, address, len)
    }

    /// Where the `len` bytes from byte `offset` of the area of `rank` on are in this process, if
    /// the area has them. For opaque copies only: they are another process's.
    ///
    /// # Cost
    /// As [`Segment::heap_offset`].
    pub(crate) fn heap_place(&self, rank: u32, offset: u64, len: u64) -> Option<*mut u8> {
        self.reach.as_ref()?.place(rank, offset, len)
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Asks for huge pages.
    pub(crate) fn ask_huge_pages(&self) -> bool {
        self.mapping.ask_huge_pages()
    }

    /// What bulk transfers pass through, unless it cannot be mapped.
    ///
    /// # Cost
    /// The first time system calls, then a load.
    pub(crate) fn area(&self) -> Option<&Area> {
        let map = || Area::map(&self.memory, self.layout.len(), self.layout.ranks, self.me).ok();
        self.area.get_or_init(map).as_ref()
    }

    /// The slots of `rank`'s collectives at `place`.
    ///
    /// # Panics
    /// If there is no such rank or place: on a node of more than [`arena::RANKS`] there is none.
    pub(crate) fn slots(&self, rank: u32, place: usize) -> Slots<MappedWords<'_>> {
        let first = arena::slots_at(self.layout.ranks, rank, place);
        let words = self.words(
            self.layout.slots_at() + first * 8,
            Slots::<MappedWords<'_>>::WORDS,
        );
        Slots::new(words)
    }

    /// What the bytes of collectives pass through, unless it cannot be mapped.
    ///
    /// # Cost
    /// The first time system calls, then a load.
    pub(crate) fn cells(&self) -> Option<&Cells> {
        let (at, ranks) = (self.layout.cells_at(), self.layout.ranks);
        let len = arena::cells_len(ranks);
        let map = || {
            let there = len > 0 && self.memory.len() >= at + len;
            let mapping = there.then(|| self.memory.map_part(at, len).ok())?;
            Some(Cells::new(mapping?, ranks))
        };
        self.cells.get_or_init(map).as_ref()
    }

    /// Where `rank` says that it sleeps.
    pub(crate) fn bell(&self, rank: u32) -> SleepFlag<MappedWords<'_>> {
        SleepFlag::new(self.board_words(), rank as usize)
    }

    /// From now on sleepers of this node are woken by these.
    pub(crate) fn set_doorbells(&mut self, doorbells: Doorbells) {
        self.doorbells = Some(doorbells);
    }

    /// What sleepers are woken by, unless it is a futex.
    pub(crate) const fn doorbells(&self) -> Option<&Doorbells> {
        self.doorbells.as_ref()
    }

    /// The address of the bell of `rank`: its lower half is a futex.
    pub(crate) fn asleep(&self, rank: u32) -> *mut u32 {
        assert!(rank < self.layout.ranks);
        self.board_words().address(rank as usize).cast()
    }

    /// Who is awake, and where.
    pub(crate) fn board(&self) -> CpuBoard<MappedWords<'_>> {
        CpuBoard::new(self.board_words())
    }

    /// BarrierCount number `gate` of `rank`.
    pub(crate) fn gate(&self, rank: u32, gate: usize) -> BarrierCount<MappedWords<'_>> {
        assert!(gate < GATES_LEN);
        BarrierCount::new(self.control(rank), GATES + gate)
    }

    /// When `rank` worked.
    pub(crate) fn stint(&self, rank: u32) -> RunnableHint<MappedWords<'_>> {
        RunnableHint::new(self.control(rank), STINT)
    }

    /// Where senders knock at `rank`.
    pub(crate) fn knock(&self, rank: u32) -> LinkAnnouncer<MappedWords<'_>> {
        LinkAnnouncer::new(self.control(rank), OPENED, TABLE)
    }

    /// The links opened to `rank`.
    pub(crate) fn doors(&self, rank: u32) -> OpenedLinks<MappedWords<'_>> {
        OpenedLinks::new(self.control(rank), OPENED, TABLE)
    }

    /// The process number that `rank` has written.
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

    /// Where `rank` says that it has left.
    pub(crate) fn exit(&self, rank: u32) -> ExitFlag<MappedWords<'_>> {
        ExitFlag::new(self.control(rank), LEFT)
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

    /// The slot that two ranks write in turn; a rank has none with itself.
    pub(crate) fn dialogue(&self, one: u32, other: u32) -> Option<MappedWords<'_>> {
        if one == other {
            return None;
        }
        let ring = self.ring(one.min(other), one.max(other));
        // SAFETY: a ring's words have that slot.
        Some(unsafe { ring.part(ping_pong_slot_at(self.layout.slots), STRIDE) })
    }

    /// First byte of the larger buffers of the link from one rank to another, unless they cannot be
    /// mapped.
    ///
    /// # Cost
    /// The first time system calls, then a load.
    pub(crate) fn buffers(&self, from: u32, to: u32) -> Option<*mut u8> {
        let start = self.layout.buffers_at();
        let map = || {
            let len = self.layout.all_buffers_len();
            self.memory.map_part(start, len).ok()
        };
        let all = self.buffers.get_or_init(map).as_ref()?;
        let at = self.link(from, to) * self.layout.buffers_len();
        Some(all.base().wrapping_add(at))
    }

    /// All words of it by which ranks steer, also those that are mapped when they are first needed.
    pub(crate) fn all(&self) -> MappedWords<'_> {
        if let Backing::Own(_) = self.memory {
            return self.words(0, self.mapping.len() / 8);
        }
        let len = self.layout.len() + area::words_len(self.layout.ranks);
        let len = len.min(self.memory.len());
        let map = || self.memory.map_part(0, len).expect("addresses are left");
        let whole = self.whole.get_or_init(map);
        let base = NonNull::new(whole.base()).expect("mapped memory");
        // SAFETY: a whole mapping, which lives as long as `self`, of nothing but words.
        unsafe { MappedWords::new(base.cast(), whole.len() / 8) }
    }

    fn board_words(&self) -> MappedWords<'_> {
        self.words(self.layout.board_at(), self.layout.ranks as usize)
    }

    /// First bytes of the buffers that two ranks write in turn, as `me` counts them; null where they
    /// cannot be mapped.
    pub(crate) fn turns(&self, me: u32, peer: u32) -> [*mut u8; PING_PONG_BUFFERS] {
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
