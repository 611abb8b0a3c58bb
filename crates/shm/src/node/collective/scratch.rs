//! Scratch memory of a rank for operands of reductions on their way: [`Scratch`].

use oxmpi_os::RawBytes;

/// Bytes that are combined at a time: two operands and the result stay in a cache, and system calls take
/// little of the time where operands are read by CMA.
pub(super) const SCRATCH_LEN: usize = 32 << 10;

/// Index of the scratch for an operand that another rank wrote.
pub(super) const OPERAND: usize = 0;
/// Index of the scratch for this rank's own operand where the result takes its place.
pub(super) const ASIDE: usize = 1;
/// Index of the scratch for a result that this rank does not keep.
pub(super) const RESULT: usize = 2;

/// Bytes with the alignment that elements of a reduction may ask for.
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
