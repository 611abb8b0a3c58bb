//! What a collective asks of its caller: [`CollectiveDriver`].

use oxmpi_os::RawBytes;

use super::awaited::AwaitedSteps;

/// What a collective needs from its caller: waiting, waking and the operation of a reduction.
pub trait CollectiveDriver {
    /// The error by which a collective ends early.
    type Error;

    /// Polls, with a PAUSE each, before [`CollectiveDriver::wait`].
    fn polls(&self) -> u32;

    /// Waits until what is awaited has arrived, and makes progress elsewhere or sleeps meanwhile.
    ///
    /// # Errors
    /// When it never arrives.
    fn wait(&mut self, awaited: AwaitedSteps) -> Result<(), Self::Error>;

    /// Yields, since this rank has done its part of a long call: ranks that share its processor may do
    /// theirs.
    fn yield_to_colocated(&mut self);

    /// The error for memory of `rank`, a number on the node, that cannot be read any more.
    fn unreadable(&mut self, rank: u32) -> Self::Error;

    /// Wakes the sleeping ranks of `ranks`: numbers on the node, a bit each.
    fn wake(&mut self, ranks: u64);

    /// Computes `into = into op from`, element by element. Both are whole elements in this process's own
    /// memory, equally long, and do not overlap; `from` or `into` may be aligned to 128 bytes only.
    fn fold(&mut self, from: RawBytes, into: RawBytes);

    /// Computes `into = from op into`, as [`CollectiveDriver::fold`].
    fn fold_left(&mut self, from: RawBytes, into: RawBytes);
}
