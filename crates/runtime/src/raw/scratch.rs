//! Memory that collectives reuse.

use oxmpi_coll::plan::Part;
use oxmpi_os::RawBytes;

/// Room for intermediate results, aligned to [`Scratch::ALIGN`]. It grows and is kept, so a
/// collective that was run before allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Scratch(Vec<Lines>);

/// Two cache lines.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(128))]
struct Lines {
    _words: [u64; 16],
}

impl Scratch {
    /// Its alignment: the largest that an element which is reduced may ask for.
    pub(crate) const ALIGN: usize = align_of::<Lines>();

    /// Makes room for `bytes`, and keeps what is there. False: there is no memory.
    pub(super) fn grow(&mut self, bytes: u64) -> bool {
        let Ok(lines) = usize::try_from(bytes.div_ceil(size_of::<Lines>() as u64)) else {
            return false;
        };
        let more = lines.saturating_sub(self.0.len());
        if self.0.try_reserve(more).is_err() {
            return false;
        }
        if more > 0 {
            self.0.resize(lines, Lines::default());
        }
        true
    }

    /// All of it.
    pub(super) fn bytes(&mut self) -> RawBytes {
        let len = size_of_val(self.0.as_slice());
        // SAFETY: the range is the vector's own initialised memory. A collective holds the scratch
        // until every message through it has ended (`Run::abandon` takes them back), and the vector
        // does not grow while one is under way.
        unsafe { RawBytes::new(self.0.as_mut_ptr().cast(), len) }
    }
}

/// What one collective at a time borrows of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct RunMemory {
    pub(super) scratch: Scratch,
    /// For messages of parts that lie in several pieces. Boxed, so that what is kept of each message
    /// under way stays small.
    #[expect(
        clippy::vec_box,
        reason = "they are moved to messages and back as they are"
    )]
    pub(super) packed: Vec<Box<PackedMessage>>,
}

/// A message of a part that lies in several pieces: its bytes side by side.
#[derive(Debug)]
pub(super) struct PackedMessage {
    pub(super) room: Scratch,
    /// Where they are to go in the end; those that are sent go nowhere else.
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
    fn it_is_aligned_and_long_enough() {
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
