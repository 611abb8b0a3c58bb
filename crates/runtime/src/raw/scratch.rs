//! Memory that collectives reuse.

use oxmpi_os::RawBytes;

/// Room for intermediate results, aligned for every element type. It grows and is kept, so a
/// collective that was run before allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Scratch(Vec<u128>);

impl Scratch {
    /// Makes room for `bytes`. False: there is no memory.
    pub(super) fn grow(&mut self, bytes: u64) -> bool {
        let Ok(words) = usize::try_from(bytes.div_ceil(size_of::<u128>() as u64)) else {
            return false;
        };
        let more = words.saturating_sub(self.0.len());
        if self.0.try_reserve(more).is_err() {
            return false;
        }
        if more > 0 {
            self.0.resize(words, 0);
        }
        true
    }

    /// All of it.
    pub(super) fn bytes(&mut self) -> RawBytes {
        let len = size_of_val(self.0.as_slice());
        // SAFETY: the range is the vector's own initialised memory. A collective holds the scratch
        // until every message through it has ended (`Run` takes them back when it is dropped), and
        // the vector does not grow meanwhile.
        unsafe { RawBytes::new(self.0.as_mut_ptr().cast(), len) }
    }
}
