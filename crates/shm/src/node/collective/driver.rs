//! The interface through which an intra-node collective waits and reduces: [`CollectiveDriver`].

use std::task::Poll;

use oxmpi_os::RawBytes;

use super::awaited::AwaitedSteps;

/// The services that the caller of an intra-node collective provides: waiting, and the operation of a reduction.
pub trait CollectiveDriver {
    /// The error with which a collective ends early.
    type Error;

    /// How many times the collective polls before it calls [`CollectiveDriver::wait`]. Each poll goes
    /// with a PAUSE instruction.
    fn polls(&self) -> u32;

    /// Waits until the steps `awaited` are complete; meanwhile it makes progress elsewhere or sleeps. Where the collective
    /// is resumable it may be pending: then the collective is, too, and asks again when it is polled next.
    ///
    /// # Errors
    /// When the steps can no longer complete.
    fn wait(&mut self, awaited: &mut AwaitedSteps) -> Poll<Result<(), Self::Error>>;

    /// Yields the processor after this rank's part of a long call, so that ranks that share the processor can do
    /// theirs.
    fn yield_to_co_located(&mut self);

    /// Makes the error for the case that the memory of local rank `rank` can no longer be read.
    fn unreadable(&mut self, rank: u32) -> Self::Error;

    /// Computes `into = into op from`, element by element. Both are whole elements in this process's own
    /// memory, equally long, and do not overlap; `from` or `into` may be aligned to 128 bytes only.
    fn fold(&mut self, from: RawBytes, into: RawBytes);

    /// Computes `into = from op into`, as [`CollectiveDriver::fold`].
    fn fold_left(&mut self, from: RawBytes, into: RawBytes);
}
