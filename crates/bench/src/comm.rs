//! What a kernel asks of a message-passing library.

/// Whom a receive accepts a message from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Any rank of the communicator.
    Any,
    /// This rank only.
    Rank(usize),
}

/// A communicator: ranks `0..size()` that exchange messages and share a collective order.
///
/// Implement it over any transport to run the kernels there. Calls block until their buffer may be
/// used again. The benchmarks never read a clock themselves: [`Comm::now`] is theirs.
///
/// A rank's messages to one peer arrive in the order they were sent, and every collective is
/// called by all ranks in the same order.
pub trait Comm: Sized {
    /// Why a call failed.
    type Error;

    /// This process's number in the communicator, `0..size()`.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Nanoseconds on a monotonic clock of this rank; its zero is arbitrary.
    fn now(&self) -> u64;

    /// Sends `bytes` to rank `to`.
    ///
    /// # Errors
    /// What the transport reports.
    fn send(&mut self, bytes: &[u8], to: usize, tag: u32) -> Result<(), Self::Error>;

    /// Receives one message with `tag` that fills `into` whole.
    ///
    /// # Errors
    /// What the transport reports, a message longer than `into` included.
    fn recv(&mut self, into: &mut [u8], from: Source, tag: u32) -> Result<(), Self::Error>;

    /// Returns when every rank has called it.
    ///
    /// # Errors
    /// What the transport reports.
    fn barrier(&mut self) -> Result<(), Self::Error>;

    /// Adds `from` of all ranks, item by item, into `into` of each rank; lengths are equal.
    ///
    /// # Errors
    /// What the transport reports.
    fn allreduce_sum(&mut self, from: &[f32], into: &mut [f32]) -> Result<(), Self::Error>;

    /// Splits into disjoint communicators: ranks that give the same `group` form one, numbered by
    /// their `key`, those of one key in the order of their old ranks; `None` belongs to none.
    /// Collective.
    ///
    /// # Errors
    /// What the transport reports.
    fn split(&mut self, group: Option<u32>, key: u32) -> Result<Option<Self>, Self::Error>;
}
