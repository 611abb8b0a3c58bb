//! Collectives between two groups (MPI 5.0, chapter 6): each group gets what the other one gives.

use oxmpi_core::{Operation, Result, Stages, Threading};

use super::InterComm;
use crate::buffer::Buffer;
use crate::comm::collective::{self, Blocks, Collective, Root};
use crate::data::Data;
use crate::op::{Combine, Reduction, on_bytes};
use crate::values::{Values, ValuesMut};

/// A collective between two groups of which all is known.
pub(super) struct DescribedStages<B: Buffer, C> {
    pub(super) stages: Stages,
    pub(super) held: B::Held,
    pub(super) combine: Option<C>,
}

impl<A: Threading> InterComm<A> {
    /// Checks the arguments of an operation, and gives its stages.
    pub(super) fn describe<B: Buffer, C>(
        &self,
        operation: impl Collective<B, C>,
    ) -> Result<DescribedStages<B, C>> {
        let mut site = self.local.call_site();
        site.remote = self.remote_size() as u32;
        let described = operation.describe(site)?;
        let groups = self.groups.groups();
        Ok(DescribedStages {
            stages: groups.stages(&described.call, described.buffers)?,
            held: described.held,
            combine: described.combine,
        })
    }

    /// Runs the operation to its end.
    fn run<B: Buffer, C: Combine>(&self, operation: impl Collective<B, C>) -> Result<()> {
        let described = self.describe(operation)?;
        let combine = described.combine.map(on_bytes);
        let combine = combine.as_ref().map(|combine| combine as Operation<'_>);
        let raw = self.groups.internal();
        raw.collective_in_stages(&described.stages, combine)
    }

    /// Returns when every rank of the other group has called it (`MPI_Barrier`), and of this one.
    ///
    /// # Errors
    /// When a rank is lost.
    pub fn barrier(&self) -> Result<()> {
        self.groups.internal().barrier()
    }

    /// Gives every rank of the other group the root's `values` (`MPI_Bcast`). The other ranks of the
    /// root's group keep theirs.
    ///
    /// # Errors
    /// When the root does not exist, lengths differ, or a rank is lost.
    pub fn bcast_into<T: Data>(
        &self,
        values: &mut (impl ValuesMut<T> + ?Sized),
        root: Root,
    ) -> Result<()> {
        self.run(collective::bcast(values, root))
    }

    /// Gives the root the values of every rank of the other group, as many of each, in the order of
    /// their ranks (`MPI_Gather`). The root alone gives `all`; of its group no `values` are used.
    ///
    /// # Errors
    /// As [`InterComm::bcast_into`], or when the root gives no room or another rank does.
    pub fn gather_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        all: Option<&mut [T]>,
        root: Root,
    ) -> Result<()> {
        self.run(collective::gather(values, all, root))
    }

    /// As [`InterComm::gather_into`], each rank giving as many values as it likes (`MPI_Gatherv`). The
    /// root gives a block for each rank of the other group.
    ///
    /// # Errors
    /// As there, and [`Error::Blocks`](crate::Error::Blocks).
    pub fn gatherv<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        all: Option<Blocks<'_, &mut [T]>>,
        root: Root,
    ) -> Result<()> {
        self.run(collective::gatherv(values, all, root))
    }

    /// Gives every rank of the other group its part of the root's `all`, as many values each, in the
    /// order of their ranks (`MPI_Scatter`). The root alone gives `all`; its group's `into` stays.
    ///
    /// # Errors
    /// As [`InterComm::gather_into`].
    pub fn scatter_into<T: Data>(
        &self,
        all: Option<&[T]>,
        into: &mut (impl ValuesMut<T> + ?Sized),
        root: Root,
    ) -> Result<()> {
        self.run(collective::scatter(all, into, root))
    }

    /// As [`InterComm::scatter_into`], each rank getting a block of its own length (`MPI_Scatterv`). The
    /// root gives a block for each rank of the other group.
    ///
    /// # Errors
    /// As [`InterComm::gatherv`].
    pub fn scatterv<T: Data>(
        &self,
        all: Option<Blocks<'_, &[T]>>,
        into: &mut (impl ValuesMut<T> + ?Sized),
        root: Root,
    ) -> Result<()> {
        self.run(collective::scatterv(all, into, root))
    }

    /// Gives every rank the values of all ranks of the other group, in the order of their ranks
    /// (`MPI_Allgather`). Within a group all give as many; the groups may differ.
    ///
    /// # Errors
    /// When lengths do not fit, or a rank is lost.
    pub fn allgather_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        all: &mut (impl ValuesMut<T> + ?Sized),
    ) -> Result<()> {
        self.run(collective::allgather(values, all))
    }

    /// As [`InterComm::allgather_into`], each rank giving as many values as it likes (`MPI_Allgatherv`).
    /// All ranks of the other group know how many.
    ///
    /// # Errors
    /// As there, and [`Error::Blocks`](crate::Error::Blocks).
    pub fn allgatherv<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        all: Blocks<'_, &mut (impl ValuesMut<T> + ?Sized)>,
    ) -> Result<()> {
        self.run(collective::allgatherv(values, all))
    }

    /// Gives rank r of the other group the r-th part of `values`, and takes its part for this rank
    /// into the r-th part of `into` (`MPI_Alltoall`).
    ///
    /// # Errors
    /// When a length is no multiple of the other group's size or does not fit the sender's, or a
    /// rank is lost.
    pub fn alltoall_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        into: &mut (impl ValuesMut<T> + ?Sized),
    ) -> Result<()> {
        self.run(collective::alltoall(values, into))
    }

    /// As [`InterComm::alltoall_into`], of blocks of any lengths (`MPI_Alltoallv`). What one rank gives
    /// and what the other has room for is equally long.
    ///
    /// # Errors
    /// As there, and [`Error::Blocks`](crate::Error::Blocks).
    pub fn alltoallv<T: Data>(
        &self,
        values: Blocks<'_, &(impl Values<T> + ?Sized)>,
        into: Blocks<'_, &mut (impl ValuesMut<T> + ?Sized)>,
    ) -> Result<()> {
        self.run(collective::alltoallv(values, into))
    }

    /// As [`InterComm::alltoallv`], with a slice or a [view](crate::layout) for each rank of the other group
    /// (`MPI_Alltoallw`): see [`Comm::alltoallw`](crate::Comm::alltoallw).
    ///
    /// # Errors
    /// As there.
    pub fn alltoallw<S: Data, R: Data>(
        &self,
        values: &[impl Values<S>],
        into: &mut [impl ValuesMut<R>],
    ) -> Result<()> {
        self.run(collective::alltoallw(values, into))
    }

    /// Reduces the `values` of the other group's ranks, element by element, into the root's `result`
    /// (`MPI_Reduce`). The root alone gives it; of its group no `values` are used.
    ///
    /// # Errors
    /// As [`InterComm::gather_into`], or when the element has no such operation.
    pub fn reduce_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        result: Option<&mut [T]>,
        op: impl Reduction<T>,
        root: Root,
    ) -> Result<()> {
        self.run(collective::reduce(values, result, op, root))
    }

    /// Reduces the `values` of the other group's ranks, element by element, into every rank's
    /// `result` (`MPI_Allreduce`).
    ///
    /// # Errors
    /// As [`InterComm::allgather_into`], or when the element has no such operation.
    pub fn allreduce_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        result: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(collective::allreduce(values, result, op))
    }

    /// Reduces the `values` of the other group's ranks, element by element, and spreads the result
    /// over this group, as many elements a rank (`MPI_Reduce_scatter_block`). All ranks of both
    /// groups bring as many values.
    ///
    /// # Errors
    /// As [`InterComm::allreduce_into`].
    pub fn reduce_scatter_block_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        result: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(collective::reduce_scatter_block(values, result, op))
    }

    /// As [`InterComm::reduce_scatter_block_into`], rank `r` of this group getting `counts[r]` elements
    /// (`MPI_Reduce_scatter`).
    ///
    /// # Errors
    /// As there.
    pub fn reduce_scatter<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        counts: &[usize],
        result: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(collective::reduce_scatter(values, counts, result, op))
    }
}
