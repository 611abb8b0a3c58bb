//! Sizes and offsets of a segment's parts: [`SegmentLayout`].

use std::string::String;

use super::backing::PAGE;
use super::{area, arena};
use crate::ring::{STRIDE, words_for};

/// Version of the segment's layout and of the words in it.
pub(crate) const VERSION: u32 = 7;

/// Offset of the ring of one direction of a pair from its page. Slots use every second line, so the two
/// directions use different sets of a first-level cache; in the same sets a message takes 16 to 20 ns longer
/// (8 B, 60 to 77 ns).
pub(super) const SKEW: usize = 64;

pub(super) const PID: usize = 0;
pub(super) const EXIT_FLAG: usize = 1;
pub(super) const RUNNABLE_HINT: usize = 2;
pub(super) const BARRIER_COUNTS: usize = STRIDE;
pub(super) const OPENED: usize = 2 * STRIDE;
pub(super) const TABLE: usize = 3 * STRIDE;

/// Barriers of a rank: a line of words.
pub(crate) const BARRIERS: usize = 8;

/// Sizes of a segment. Ranks agree on them before they map it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLayout {
    /// Ranks on the node.
    pub ranks: u32,
    /// Slots of a link's ring: a power of two, at least 4.
    pub slots: u32,
    /// Bytes of a larger buffer: a multiple of 64.
    pub buffer: u32,
    /// Larger buffers of a link: a power of two, at least 4.
    pub buffers: u32,
}

impl SegmentLayout {
    /// The usual sizes for `ranks` ranks.
    ///
    /// 64 slots of both directions fit a first-level cache of 32 KiB beside the user's data: with 256 a
    /// message takes a quarter longer, and streams gain nothing.
    #[must_use]
    pub const fn new(ranks: u32) -> Self {
        Self {
            ranks,
            slots: 64,
            buffer: 8192,
            buffers: 16,
        }
    }

    /// Checks that a segment can have these sizes.
    ///
    /// # Errors
    /// A text that names the first wrong size.
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
            + (area::len(ranks) + arena::bounce_buffers_len(ranks)) as u128;
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

    /// Bytes that all ranks together have touched once they have met: the tables. Links come at their first
    /// message.
    #[must_use]
    pub const fn tables_len(&self) -> usize {
        self.slots_at()
    }

    /// Whether the segment has no bytes: never.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ranks == 0
    }

    /// Bytes of the memfd: the segment and the parts that are mapped later, which it may lack where files are
    /// limited.
    #[must_use]
    pub(crate) const fn file_len(&self) -> usize {
        self.bounce_buffers_at() + arena::bounce_buffers_len(self.ranks)
    }

    /// Offset of the bounce buffers of collectives.
    pub(super) const fn bounce_buffers_at(&self) -> usize {
        self.len() + area::len(self.ranks)
    }

    /// Bytes of one link, which it costs once it is used.
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

    pub(super) const fn control_words(&self) -> usize {
        TABLE + self.ranks as usize
    }

    pub(super) const fn control_len(&self) -> usize {
        (self.control_words() * 8).next_multiple_of(PAGE)
    }

    pub(super) const fn board_at(&self) -> usize {
        self.ranks as usize * self.control_len()
    }

    pub(super) const fn slots_at(&self) -> usize {
        self.board_at() + (self.ranks as usize * 8).next_multiple_of(PAGE)
    }

    pub(super) const fn links_at(&self) -> usize {
        self.slots_at() + arena::slots_len(self.ranks)
    }

    pub(super) const fn ring_words(&self) -> usize {
        words_for(self.slots)
    }

    /// Bytes of one link's ring.
    pub(super) const fn ring_len(&self) -> usize {
        (self.ring_words() * 8 + SKEW).next_multiple_of(PAGE)
    }

    /// Bytes of one link's larger buffers and its ping-pong buffer, in whole pages.
    pub(super) const fn buffers_len(&self) -> usize {
        (self.area() + self.buffer as usize).next_multiple_of(PAGE)
    }

    pub(super) const fn links(&self) -> usize {
        self.ranks as usize * self.ranks as usize
    }

    /// Offset of the larger buffers: everything before them is mapped from the start.
    pub(super) const fn buffers_at(&self) -> usize {
        self.links_at() + self.links() * self.ring_len()
    }
}
