//! [`Collective`]: a collective call as a value.

use super::{Blocks, Comm, Done};

/// A collective call with its buffers, before it is made: whoever holds it can make it at once, or start it.
///
/// Each variant is the method of [`Comm`] of that name, with its arguments.
#[derive(Debug)]
pub enum Collective<'a> {
    /// [`Comm::barrier`].
    Barrier,
    /// [`Comm::bcast`].
    Bcast(&'a mut [u8], usize),
    /// [`Comm::gather`].
    Gather(&'a [u8], Option<&'a mut [u8]>, usize),
    /// [`Comm::gatherv`].
    Gatherv(&'a [u8], Option<Blocks<'a, &'a mut [u8]>>, usize),
    /// [`Comm::scatter`].
    Scatter(Option<&'a [u8]>, &'a mut [u8], usize),
    /// [`Comm::scatterv`].
    Scatterv(Option<Blocks<'a, &'a [u8]>>, &'a mut [u8], usize),
    /// [`Comm::allgather`].
    Allgather(&'a [u8], &'a mut [u8]),
    /// [`Comm::allgatherv`].
    Allgatherv(&'a [u8], Blocks<'a, &'a mut [u8]>),
    /// [`Comm::alltoall`].
    Alltoall(&'a [u8], &'a mut [u8]),
    /// [`Comm::alltoallv`].
    Alltoallv(Blocks<'a, &'a [u8]>, Blocks<'a, &'a mut [u8]>),
    /// [`Comm::reduce_sum`].
    ReduceSum(&'a [f32], Option<&'a mut [f32]>, usize),
    /// [`Comm::allreduce_sum`].
    AllreduceSum(&'a [f32], &'a mut [f32]),
    /// [`Comm::reduce_scatter_block_sum`].
    ReduceScatterBlockSum(&'a [f32], &'a mut [f32]),
    /// [`Comm::reduce_scatter_sum`].
    ReduceScatterSum(&'a [f32], &'a [usize], &'a mut [f32]),
}

impl Collective<'_> {
    /// Makes the call, which returns when its buffers may be used again.
    ///
    /// # Errors
    /// The communicator's.
    ///
    /// # Cost
    /// That of the method: where the variant is known, the choice among them is made by the compiler.
    #[inline(always)]
    pub fn call<C: Comm>(self, comm: &mut C) -> Done<C> {
        match self {
            Collective::Barrier => comm.barrier(),
            Collective::Bcast(bytes, root) => comm.bcast(bytes, root),
            Collective::Gather(mine, all, root) => comm.gather(mine, all, root),
            Collective::Gatherv(mine, all, root) => comm.gatherv(mine, all, root),
            Collective::Scatter(all, mine, root) => comm.scatter(all, mine, root),
            Collective::Scatterv(all, mine, root) => comm.scatterv(all, mine, root),
            Collective::Allgather(mine, all) => comm.allgather(mine, all),
            Collective::Allgatherv(mine, all) => comm.allgatherv(mine, all),
            Collective::Alltoall(out, into) => comm.alltoall(out, into),
            Collective::Alltoallv(out, into) => comm.alltoallv(out, into),
            Collective::ReduceSum(from, into, root) => comm.reduce_sum(from, into, root),
            Collective::AllreduceSum(from, into) => comm.allreduce_sum(from, into),
            Collective::ReduceScatterBlockSum(from, into) => {
                comm.reduce_scatter_block_sum(from, into)
            }
            Collective::ReduceScatterSum(from, items, into) => {
                comm.reduce_scatter_sum(from, items, into)
            }
        }
    }
}
