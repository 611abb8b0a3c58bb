//! Memory of a ring without a shared segment: in a static, on the stack, in a box: [`Storage`].

use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{CREDITS, MappedWords, Receiver, STRIDE, Sender, words_for};

#[derive(Debug)]
#[repr(C, align(128))]
struct Line([AtomicU64; STRIDE]);

impl Line {
    const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; STRIDE])
    }
}

const _: () = assert!(size_of::<Line>() == 8 * STRIDE && CREDITS == STRIDE);

/// Memory of one ring of `SLOTS` slots, a power of two.
#[derive(Debug)]
#[repr(C)]
pub struct Storage<const SLOTS: usize> {
    slots: [Line; SLOTS],
    credits: Line,
    ping_pong: Line,
    taken: AtomicBool,
}

impl<const SLOTS: usize> Storage<SLOTS> {
    /// An empty ring.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(SLOTS.is_power_of_two() && SLOTS <= 1 << 24) };
        Self {
            slots: [const { Line::new() }; SLOTS],
            credits: Line::new(),
            ping_pong: Line::new(),
            taken: AtomicBool::new(false),
        }
    }

    /// The two ends of the ring; `None` when they were taken before.
    #[must_use]
    pub fn pair(&self) -> Option<(Sender<MappedWords<'_>>, Receiver<MappedWords<'_>>)> {
        if self.taken.swap(true, Ordering::Relaxed) {
            return None;
        }
        let slots = SLOTS as u32;
        let base = NonNull::from(self).cast();
        // SAFETY: the slots, the credits and the ping-pong slot stand at the start of `self` without a
        // gap (`repr(C)`, equal alignment), hold atomics only, and outlive the borrow.
        let words = unsafe { MappedWords::new(base, words_for(slots)) };
        Some((Sender::new(words, slots), Receiver::new(words, slots)))
    }
}

impl<const SLOTS: usize> Default for Storage<SLOTS> {
    fn default() -> Self {
        Self::new()
    }
}
