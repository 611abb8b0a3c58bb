//! The vectors of a reduction: [`Operands`].

use oxmpi_os::RawBytes;

use super::catalog::CallFacts;

/// What a rank contributes to a reduction, and where the result goes. Both are contiguous.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// The elements that this rank contributes.
    pub input: &'a RawBytes,
    /// The place of the result: the input itself, or memory that does not overlap it.
    pub output: &'a RawBytes,
    /// Bytes of the vector, or of one rank's block of it.
    pub len: u64,
    /// Bytes of an element.
    pub element: usize,
    /// Whether operands may be combined in another order than that of their ranks, as an allreduce may do.
    pub commutes: bool,
}

impl Operands<'_> {
    /// What the [catalog](super::catalog) asks about the call.
    pub(super) fn facts(&self) -> CallFacts {
        CallFacts {
            len: self.len,
            in_place: self.input.start() == self.output.start(),
            commutes: self.commutes,
        }
    }
}

/// The `len` bytes of `bytes` from byte `at` on.
#[inline]
pub(super) fn contiguous(bytes: &RawBytes, at: u64, len: usize) -> RawBytes {
    let part = bytes.range(at, len as u64);
    part.expect("what a group combines or shows is there, and contiguous")
}
