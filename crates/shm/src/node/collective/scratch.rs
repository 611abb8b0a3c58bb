//! Scratch memory of a rank for operands of reductions on their way: [`Scratch`].

use oxmpi_os::RawBytes;

/// As much as is combined at a time: two of them and the result stay in a cache, and where operands are
/// fetched from other ranks' memory, asking the system takes little of the time.
pub(super) const SCRATCH_LEN: usize = 32 << 10;

/// Scratch for an operand that another rank wrote.
pub(super) const OPERAND: usize = 0;
/// Scratch for this rank's own operand where the result takes its place.
pub(super) const ASIDE: usize = 1;
/// Scratch for a result that this rank does not get.
pub(super) const RESULT: usize = 2;

/// Bytes aligned as elements that are reduced may ask for.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Scratch([u8; SCRATCH_LEN]);

impl Scratch {
    /// Scratch memory of zeros.
    pub(super) const fn new() -> Self {
        Self([0; SCRATCH_LEN])
    }

    /// The first `len` bytes.
    pub(super) fn bytes(&mut self, len: usize) -> RawBytes {
        let part = &mut self.0[..len];
        // SAFETY: initialised memory of the group, which a collective borrows until it has ended; it
        // gives these bytes to the driver's operation only, one at a time.
        unsafe { RawBytes::new(part.as_mut_ptr(), len) }
    }
}
