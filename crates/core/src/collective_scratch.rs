//! The memory of collectives, which an endpoint keeps from one to the next.

use oxmpi_coll::plan::Part;
use oxmpi_os::RawBytes;

/// Memory for intermediate results, aligned to [`Scratch::ALIGN`]. It grows and is kept, so a collective that
/// was run before allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Scratch(Vec<CacheLines>);

/// Two cache lines.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(128))]
struct CacheLines {
    _words: [u64; 16],
}

impl Scratch {
    /// Its alignment in bytes: the largest of an element that is reduced.
    pub(crate) const ALIGN: usize = align_of::<CacheLines>();

    /// Grows to at least `bytes`, and keeps its content. False: there is no memory.
    pub(super) fn grow(&mut self, bytes: u64) -> bool {
        let Ok(lines) = usize::try_from(bytes.div_ceil(size_of::<CacheLines>() as u64)) else {
            return false;
        };
        let more = lines.saturating_sub(self.0.len());
        if self.0.try_reserve(more).is_err() {
            return false;
        }
        if more > 0 {
            self.0.resize(lines, CacheLines::default());
        }
        true
    }

    /// All of it.
    pub(super) fn bytes(&mut self) -> RawBytes {
        let len = size_of_val(self.0.as_slice());
        // SAFETY: the range is the vector's own initialised memory. A collective holds the scratch
        // until every message through it has ended (`PlanRun::abandon` takes them back), and the vector
        // does not grow while one is under way.
        unsafe { RawBytes::new(self.0.as_mut_ptr().cast(), len) }
    }
}

/// The memory that one collective at a time borrows from an endpoint.
#[derive(Debug, Default)]
pub(crate) struct RunMemory {
    pub(super) scratch: Scratch,
    /// Buffers of messages whose parts lie in several pieces. Boxed, so that the state of a message under way
    /// stays small.
    #[expect(
        clippy::vec_box,
        reason = "they are moved to messages and back as they are"
    )]
    pub(super) packed: Vec<Box<PackedMessage>>,
}

/// A message of a part that lies in several pieces, packed.
#[derive(Debug)]
pub(super) struct PackedMessage {
    pub(super) room: Scratch,
    /// The part that a received message is unpacked to; empty for one that is sent.
    pub(super) part: Part,
}

impl Default for PackedMessage {
    fn default() -> Self {
        Self {
            room: Scratch::default(),
            part: Part::EMPTY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Scratch;
    use oxmpi_wire::Bytes;

    #[test]
    fn scratch_is_aligned_and_long_enough() {
        for bytes in [1, 127, 128, 129, 5000] {
            let mut scratch = Scratch::default();
            assert!(scratch.grow(bytes));
            let room = scratch.bytes();
            assert!(room.start().addr().is_multiple_of(Scratch::ALIGN));
            assert!(room.len() >= bytes);
        }
        assert!(!Scratch::default().grow(u64::MAX));
    }
}
