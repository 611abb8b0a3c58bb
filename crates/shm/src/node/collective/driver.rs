//! What a collective asks of its caller: [`CollectiveDriver`].

use oxmpi_os::RawBytes;

use super::awaited::AwaitedSteps;

/// What a collective needs of whoever calls it.
pub trait CollectiveDriver {
    /// PlanReason a collective ends early.
    type Error;

    /// How often to look, with a PAUSE each, before [`CollectiveDriver::wait`].
    fn polls(&self) -> u32;

    /// Returns when what is awaited has come. Meanwhile it makes progress elsewhere, or rests.
    ///
    /// # Errors
    /// When it never comes.
    fn wait(&mut self, awaited: AwaitedSteps) -> Result<(), Self::Error>;

    /// This rank has done its part of a long call: those who share its processor may do theirs before it goes on.
    fn yield_to_colocated(&mut self);

    /// PlanReason a collective ends when `rank`, a number on the node, cannot be read any more.
    fn unreadable(&mut self, rank: u32) -> Self::Error;

    /// Wakes those of `ranks`, numbers on the node bit by bit, that sleep.
    fn wake(&mut self, ranks: u64);

    /// `into = into op from`, element by element. Both are whole elements in this process's own
    /// memory, equally long, and do not overlap; `from` or `into` may be aligned to 128 bytes only.
    fn fold(&mut self, from: RawBytes, into: RawBytes);

    /// As [`CollectiveDriver::fold`], but `into = from op into`.
    fn fold_left(&mut self, from: RawBytes, into: RawBytes);
}
