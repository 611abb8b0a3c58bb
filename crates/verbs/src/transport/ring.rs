//! An eager ring: slots in the receiver's memory, to which one peer writes its short frames by RDMA.
//!
//! ```text
//!  sender                                    receiver
//!                                       <-   Ring{where, slots}        after some frames of the sender
//!  RingTaken{where the word is}         ->
//!  write: [head, body, footer]          ->   polls the footer of the next slot
//!                                       <-   write: the word, which says how many slots are free again
//! ```
//!
//! A message ends at the end of its slot, with a [footer](footer) that is the number of the message in the ring and its
//! length: it is written last, and no earlier message had this number. (Devices write the bytes of a request in order.
//! Where one does not, rings are off: see the device's parameters.)
//!
//! Nothing announces a write, so a receiver that wants to sleep says so in the [word](Word). The sender reads that when
//! its write has ended, and then sends a frame by a queue, which wakes the receiver: either the receiver finds the
//! message after its own write has ended, or the sender finds the word.

use super::frame_head::HEAD;

/// Bytes of the footer.
pub(super) const FOOTER: usize = 8;

/// Bytes between two slots are a multiple of this, a cache line.
const LINE: usize = 64;

/// The most bytes of a ring.
const MOST: usize = 16 << 20;

/// The slots of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RingShape {
    slots: u32,
    size: u32,
}

impl RingShape {
    /// At least so many slots for bodies of up to `size` bytes. `None` for no slots, or far too many.
    ///
    /// They are a power of two: the numbers of messages wrap, and the next slot is the next one there, too.
    pub(super) fn new(slots: u32, size: u32) -> Option<Self> {
        let is_some = slots > 0;
        let slots = slots.checked_next_power_of_two()?;
        let shape = Self { slots, size };
        let bytes = shape.stride().checked_mul(slots as usize)?;
        (is_some && bytes <= MOST).then_some(shape)
    }

    pub(super) const fn slots(self) -> u32 {
        self.slots
    }

    /// Bytes of the longest body.
    pub(super) const fn size(self) -> u32 {
        self.size
    }

    const fn stride(self) -> usize {
        (HEAD + self.size as usize + FOOTER).next_multiple_of(LINE)
    }

    /// Where the footer of the message `number` is.
    pub(super) const fn footer_at(self, number: u32) -> usize {
        let slot = number % self.slots;
        (slot as usize + 1) * self.stride() - FOOTER
    }

    /// Where the message `number` begins, if it has `len` bytes without its footer.
    pub(super) const fn message_at(self, number: u32, len: usize) -> usize {
        self.footer_at(number) - len
    }

    /// Where a word has its place, behind the slots.
    pub(super) const fn word_at(self) -> usize {
        self.slots as usize * self.stride()
    }

    /// Bytes of all slots and a word.
    pub(super) const fn bytes(self) -> usize {
        self.word_at() + LINE
    }

    /// The bytes before its footer of the message `number`, if that is the message whose footer is there.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn arrived(self, number: u32, footer: u64) -> Result<Option<usize>, &'static str> {
        let (there, len) = ((footer >> 32) as u32, footer as u32 as usize);
        if there != number {
            return Ok(None);
        }
        match (HEAD..=HEAD + self.size as usize).contains(&len) {
            true => Ok(Some(len)),
            false => Err("a message of a length that its ring has not"),
        }
    }
}

/// The footer of the message `number` of `len` bytes before it. Messages count from 1 on: the footers of a new ring
/// are 0.
pub(super) const fn footer(number: u32, len: usize) -> u64 {
    (number as u64) << 32 | len as u64
}

/// What the receiver of a ring tells its sender, in a word of the sender's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Word {
    /// The number of the last message whose slot is free again.
    pub(super) taken: u32,
    /// How often the receiver wanted to sleep so far: 31 bits.
    pub(super) sleeps: u32,
    /// Whether it sleeps now.
    pub(super) is_asleep: bool,
}

impl Word {
    /// Bits of `sleeps`.
    const SLEEPS: u32 = u32::MAX >> 1;

    pub(super) const fn bits(self) -> u64 {
        let state = (self.sleeps & Self::SLEEPS) << 1 | self.is_asleep as u32;
        (state as u64) << 32 | self.taken as u64
    }

    pub(super) const fn from_bits(bits: u64) -> Self {
        let state = (bits >> 32) as u32;
        Self {
            taken: bits as u32,
            sleeps: state >> 1,
            is_asleep: state & 1 == 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_word_reads_back(taken: u32, sleeps in 0..1u32 << 31, is_asleep: bool) {
            let word = Word { taken, sleeps, is_asleep };
            prop_assert_eq!(Word::from_bits(word.bits()), word);
        }

        /// Messages of successive numbers, which wrap, lie in different slots, and all in the ring, before the word.
        #[test]
        fn messages_lie_in_their_slots(slots in 1..40u32, size in 0..5000u32, number: u32, len in 0..5000u32) {
            let shape = RingShape::new(slots, size).unwrap();
            prop_assert!(shape.slots() >= slots);
            let number = if number % 2 == 0 { number } else { u32::MAX - number % 40 };
            let len = HEAD + len.min(size) as usize;
            let mut ends = Vec::new();
            for number in (0..shape.slots()).map(|next| number.wrapping_add(next)) {
                let (at, end) = (shape.message_at(number, len), shape.footer_at(number));
                prop_assert_eq!((end - at, end % 8), (len, 0));
                prop_assert!(end + FOOTER <= shape.word_at());
                for other in &ends {
                    prop_assert!(end + FOOTER < *other || at >= *other);
                }
                ends.push(end + FOOTER);
            }
            prop_assert!(shape.word_at() + 8 <= shape.bytes());
            let mine = footer(number.max(1), len);
            prop_assert_eq!(shape.arrived(number.max(1), mine), Ok(Some(len)));
            prop_assert_eq!(shape.arrived(number.max(1), 0), Ok(None));
        }
    }

    #[test]
    fn wrong_rings_and_footers_are_refused() {
        assert_eq!(RingShape::new(0, 100), None);
        assert_eq!(RingShape::new(u32::MAX, u32::MAX), None);
        let shape = RingShape::new(16, 12 << 10).unwrap();
        for len in [0, HEAD - 1, HEAD + (12 << 10) + 1] {
            assert!(shape.arrived(7, footer(7, len)).is_err(), "{len}");
        }
    }
}
