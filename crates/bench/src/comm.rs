//! The operations that a kernel needs of a message-passing library.

mod collective;
mod plain;

pub use collective::Collective;

/// The result of a call of communicator `C` without a value.
pub(crate) type Done<C> = Result<(), <C as Comm>::Error>;

/// The sender that a receive accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Any rank of the communicator.
    Any,
    /// This rank only.
    Rank(usize),
}

/// Consecutive blocks of bytes without gaps, one for each rank in the order of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks<'a, S> {
    /// The bytes of all blocks.
    pub bytes: S,
    /// The length of each block in bytes; they add up to the length of `bytes`.
    pub lengths: &'a [usize],
}

impl<'a, S> Blocks<'a, S> {
    /// Makes blocks of these lengths.
    pub const fn new(bytes: S, lengths: &'a [usize]) -> Self {
        Blocks { bytes, lengths }
    }
}

/// A communicator: ranks `0..size()` that exchange messages and share a collective order.
///
/// Implement it over any transport to run the kernels there. A call returns when its buffers may be used
/// again. The benchmarks read the clock only by [`Comm::now`].
///
/// A rank's messages to one peer arrive in the order they were sent, and every collective is
/// called by all ranks in the same order.
///
/// # What is measured
/// The first seven methods are a transport. Each collective has a default body, the plainest algorithm over
/// these messages, so that a transport alone runs every kernel. A library overrides the collectives it has,
/// and its own are then measured.
pub trait Comm: Sized {
    /// The error of a failed call.
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

    /// Starts a send of each of `sends` to its rank, then receives into each of `receives` from its
    /// source, in this order and one after the other, then waits for the sends (`MPI_Isend`,
    /// `MPI_Recv`, `MPI_Waitall`). A rank may be its own peer.
    ///
    /// # Errors
    /// What the transport reports.
    fn exchange<const N: usize>(
        &mut self,
        sends: [(&[u8], usize); N],
        receives: [(&mut [u8], Source); N],
        tag: u32,
    ) -> Result<(), Self::Error>;

    /// Splits into disjoint communicators: ranks that give the same `group` form one, numbered by
    /// their `key`, those of one key in the order of their old ranks; `None` belongs to none.
    /// Collective.
    ///
    /// # Errors
    /// What the transport reports.
    fn split(&mut self, group: Option<u32>, key: u32) -> Result<Option<Self>, Self::Error>;

    /// Sends to one rank and receives from another, without deadlock (`MPI_Sendrecv`).
    /// A rank may be its own peer.
    ///
    /// # Errors
    /// What the transport reports.
    fn sendrecv(
        &mut self,
        bytes: &[u8],
        to: usize,
        into: &mut [u8],
        from: Source,
        tag: u32,
    ) -> Result<(), Self::Error> {
        self.exchange([(bytes, to)], [(into, from)], tag)
    }

    /// Returns when every rank has called it.
    ///
    /// # Errors
    /// What the transport reports.
    fn barrier(&mut self) -> Result<(), Self::Error> {
        plain::barrier(self)
    }

    /// Copies `bytes` of rank `root` to `bytes` of every rank; lengths are equal.
    ///
    /// # Errors
    /// What the transport reports.
    fn bcast(&mut self, bytes: &mut [u8], root: usize) -> Result<(), Self::Error> {
        plain::bcast(self, bytes, root)
    }

    /// Collects `mine` of all ranks, equally long, in `all` on rank `root`; other ranks pass `None`.
    ///
    /// # Errors
    /// What the transport reports.
    fn gather(
        &mut self,
        mine: &[u8],
        all: Option<&mut [u8]>,
        root: usize,
    ) -> Result<(), Self::Error> {
        plain::gather(self, mine, all, root)
    }

    /// Collects `mine` of all ranks in their blocks of `all` on rank `root`; other ranks pass `None`.
    ///
    /// # Errors
    /// What the transport reports.
    fn gatherv(
        &mut self,
        mine: &[u8],
        all: Option<Blocks<'_, &mut [u8]>>,
        root: usize,
    ) -> Result<(), Self::Error> {
        plain::gatherv(self, mine, all, root)
    }

    /// Sends each rank its part `mine` of `all`, equally long, from rank `root`; other ranks pass `None`.
    ///
    /// # Errors
    /// What the transport reports.
    fn scatter(
        &mut self,
        all: Option<&[u8]>,
        mine: &mut [u8],
        root: usize,
    ) -> Result<(), Self::Error> {
        plain::scatter(self, all, mine, root)
    }

    /// Sends each rank its block `mine` of `all` from rank `root`; other ranks pass `None`.
    ///
    /// # Errors
    /// What the transport reports.
    fn scatterv(
        &mut self,
        all: Option<Blocks<'_, &[u8]>>,
        mine: &mut [u8],
        root: usize,
    ) -> Result<(), Self::Error> {
        plain::scatterv(self, all, mine, root)
    }

    /// Collects `mine` of all ranks, equally long, in `all` of every rank.
    ///
    /// # Errors
    /// What the transport reports.
    fn allgather(&mut self, mine: &[u8], all: &mut [u8]) -> Result<(), Self::Error> {
        plain::allgather(self, mine, all)
    }

    /// Collects `mine` of all ranks in their blocks of `all` of every rank.
    ///
    /// # Errors
    /// What the transport reports.
    fn allgatherv(&mut self, mine: &[u8], all: Blocks<'_, &mut [u8]>) -> Result<(), Self::Error> {
        plain::allgatherv(self, mine, all)
    }

    /// Sends the n-th part of `out`, all equally long, to rank n, and receives the n-th part of `into` from
    /// rank n.
    ///
    /// # Errors
    /// What the transport reports.
    fn alltoall(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), Self::Error> {
        plain::alltoall(self, out, into)
    }

    /// Sends the n-th block of `out` to rank n, and receives the n-th block of `into` from rank n.
    ///
    /// # Errors
    /// What the transport reports.
    fn alltoallv(
        &mut self,
        out: Blocks<'_, &[u8]>,
        into: Blocks<'_, &mut [u8]>,
    ) -> Result<(), Self::Error> {
        plain::alltoallv(self, out, into)
    }

    /// Adds `from` of all ranks, item by item, into `into` on rank `root`; other ranks pass `None`. Lengths
    /// are equal.
    ///
    /// # Errors
    /// What the transport reports.
    fn reduce_sum(
        &mut self,
        from: &[f32],
        into: Option<&mut [f32]>,
        root: usize,
    ) -> Result<(), Self::Error> {
        plain::reduce_sum(self, from, into, root)
    }

    /// Adds `from` of all ranks, item by item, into `into` of each rank; lengths are equal.
    ///
    /// # Errors
    /// What the transport reports.
    fn allreduce_sum(&mut self, from: &[f32], into: &mut [f32]) -> Result<(), Self::Error> {
        plain::allreduce_sum(self, from, into)
    }

    /// Adds `from` of all ranks, item by item, and gives each rank its part of the sums in `into`;
    /// all parts have the length of `into`, and are in `from` in the order of the ranks.
    ///
    /// # Errors
    /// What the transport reports.
    fn reduce_scatter_block_sum(
        &mut self,
        from: &[f32],
        into: &mut [f32],
    ) -> Result<(), Self::Error> {
        plain::reduce_scatter_block_sum(self, from, into)
    }

    /// Adds `from` of all ranks, item by item, and gives rank n the n-th part of the sums in `into`;
    /// it has `items[n]` items.
    ///
    /// # Errors
    /// What the transport reports.
    fn reduce_scatter_sum(
        &mut self,
        from: &[f32],
        items: &[usize],
        into: &mut [f32],
    ) -> Result<(), Self::Error> {
        plain::reduce_scatter_sum(self, from, items, into)
    }
}
