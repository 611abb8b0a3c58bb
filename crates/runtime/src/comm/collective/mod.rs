//! Collective operations and their buffers (MPI 5.0, chapters 6 and 8.6).
//!
//! The methods of [`Comm`] run an operation to its end. The plain name takes one value of each rank and gives the
//! result ([`Comm::allgather`], [`Comm::allreduce`]); the name with `_into` takes slices and fills one
//! ([`Comm::allgather_into`], [`Comm::allreduce_into`]); the name with `_in_place` has one slice for both
//! (`MPI_IN_PLACE`). Collectives with a length for each rank have slices only, and no suffix ([`Comm::gatherv`],
//! [`Comm::reduce_scatter`]). The functions here describe an operation on slices,
//! for [`Scope::start`](crate::Scope::start) and [`Comm::persistent`], and between two groups for those of
//! [`InterComm`](crate::InterComm). Where a slice is, other [values](crate::Values) may be: arrays, vectors, and
//! views with a [layout](crate::layout).
//!
//! Every rank of the communicator calls the same operations in the same order, with the same lengths and root
//! where nothing else is said. Where a message shows that they did not, all ranks get an error. Where none
//! does, as with different roots or a length of 0 on one rank only, ranks may wait until one of them leaves
//! the job. With the setting `coll_check` ranks compare their calls first, and all get an error that names
//! two of them.

mod allgather;
mod alltoall;
mod barrier;
mod bcast;
pub(super) mod blocks;
mod elementwise;
mod gather;
mod neighbor;
mod reduce;
pub(super) mod reduce_scatter;
mod scan;
mod scatter;
pub(super) mod slices;

use std::fmt;
use std::sync::Arc;

use oxmpi_coll::catalog::{Call, PROC_NULL};
use oxmpi_coll::choice::Reproducible;
use oxmpi_core::{
    Area, Buffers, Error, Operation, Result, Threading, Topology, WidenedBuffers, Widening,
};

pub use allgather::{allgather, allgather_in_place, allgatherv, allgatherv_in_place};
pub use alltoall::{
    alltoall, alltoall_in_place, alltoallv, alltoallv_in_place, alltoallw, alltoallw_in_place,
};
pub use barrier::barrier;
pub use bcast::bcast;
pub use blocks::Blocks;
pub use gather::{gather, gather_in_place, gatherv, gatherv_in_place};
pub use neighbor::{
    neighbor_allgather, neighbor_allgatherv, neighbor_alltoall, neighbor_alltoallv,
    neighbor_alltoallw,
};
pub use reduce::{allreduce, allreduce_in_place, reduce, reduce_in_place};
pub use reduce_scatter::{
    reduce_scatter, reduce_scatter_block, reduce_scatter_block_in_place, reduce_scatter_in_place,
};
pub use scan::{exscan, exscan_in_place, scan, scan_in_place};
pub use scatter::{scatter, scatter_in_place, scatterv, scatterv_in_place};
pub use slices::Slices;

use super::Comm;
use crate::buffer::Buffer;
use crate::data::Data;
use crate::op::{Combine, NoReduction, OperandOrder, Reduction, ResolvedReduction, on_bytes};

/// The root of a collective, as a rank names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Root {
    /// This rank (`MPI_ROOT`).
    This,
    /// Another rank of this rank's group (`MPI_PROC_NULL`); in an intercommunicator only. This rank takes no
    /// part.
    ProcNull,
    /// A rank of the communicator; of the remote group in an intercommunicator.
    Rank(usize),
}

impl From<usize> for Root {
    fn from(rank: usize) -> Self {
        Self::Rank(rank)
    }
}

/// A collective operation that borrows `B`, made by the functions of this module. Sealed.
#[must_use = "it is only described: start it in a scope"]
pub trait Collective<B: Buffer, C = NoReduction>: sealed::Describe<B, C> {}

impl<B: Buffer, C, D: sealed::Describe<B, C>> Collective<B, C> for D {}

#[allow(
    unnameable_types,
    reason = "the trait is sealed: callers name `Collective`, never what is here"
)]
pub(crate) mod sealed {
    use super::{Arc, Buffer, Buffers, Call, Reproducible, Result, Topology};

    /// Describes an operation, once its communicator is known; `C` combines elements.
    pub trait Describe<B: Buffer, C> {
        /// Checks the arguments.
        ///
        /// # Errors
        /// The first that is wrong.
        fn describe(self, site: CallSite) -> Result<DescribedCall<B, C>>;
    }

    /// The calling rank and its communicator.
    #[derive(Clone, Debug)]
    pub struct CallSite {
        pub(in crate::comm) rank: u32,
        pub(in crate::comm) size: u32,
        /// Ranks of the remote group; 0 in an intracommunicator.
        pub(in crate::comm) remote: u32,
        pub(super) topology: Option<Arc<Topology>>,
        pub(super) reproducible: Reproducible,
    }

    /// A call with its buffers and operation, all arguments checked.
    pub struct DescribedCall<B: Buffer, C> {
        pub(crate) call: Call,
        /// The memory of what is held.
        pub(crate) buffers: Buffers,
        pub(crate) held: B::Held,
        pub(crate) combine: Option<C>,
    }
}

use sealed::{CallSite, DescribedCall};

impl<B: Buffer, C, F> sealed::Describe<B, C> for F
where
    F: FnOnce(CallSite) -> Result<DescribedCall<B, C>>,
{
    #[inline]
    fn describe(self, site: CallSite) -> Result<DescribedCall<B, C>> {
        self(site)
    }
}

impl<B: Buffer> DescribedCall<B, NoReduction> {
    fn new(call: Call, input: Area, output: Area, held: B::Held) -> Self {
        Self {
            call,
            buffers: Buffers::new(input, output),
            held,
            combine: None,
        }
    }
}

/// The operation of a reduction, and the elements on which it is done.
pub(super) struct ReductionCall<C> {
    kind: OperandOrder,
    combine: C,
    /// Bytes of one element.
    element: u64,
    /// The memory of the elements.
    buffers: Buffers,
}

impl<C> ReductionCall<C> {
    /// The operation and its call.
    #[inline(always)]
    fn described<B: Buffer>(self, call: Call, held: B::Held) -> DescribedCall<B, C> {
        DescribedCall {
            call: self.kind.of(call),
            buffers: self.buffers,
            held,
            combine: Some(self.combine),
        }
    }
}

impl CallSite {
    /// The root as a peer: see [`Call::root`].
    fn root(&self, root: impl Into<Root>) -> Result<u32> {
        let (named, ranks, first) = match (root.into(), self.remote) {
            (Root::This, _) => return Ok(self.rank),
            (Root::ProcNull, 0) => return Err(self.refused("the root is not a rank")),
            (Root::ProcNull, _) => return Ok(PROC_NULL),
            (Root::Rank(root), 0) => (root, self.size, 0),
            (Root::Rank(root), remote) => (root, remote, self.size),
        };
        match u32::try_from(named) {
            Ok(root) if root < ranks => Ok(first + root),
            _ => Err(Error::Rank {
                rank: self.rank as usize,
                named,
                size: ranks as usize,
            }),
        }
    }

    /// The buffer that only the root gives. An error where another rank gives one.
    fn of_root<T>(&self, root: u32, what: &'static str, given: Option<T>) -> Result<Option<T>> {
        if given.is_some() == (self.rank == root) {
            return Ok(given);
        }
        let why = match (given, root) {
            (None, _) => format!("this rank is the root and does not give {what}"),
            (Some(_), PROC_NULL) => {
                format!(
                    "this rank gives {what}, which only the root has, another rank of this group"
                )
            }
            (Some(_), root) if root >= self.size => format!(
                "this rank gives {what}, which only the root has, rank {} of the remote group",
                root - self.size
            ),
            (Some(_), root) => {
                format!("this rank gives {what}, which only the root has, rank {root}")
            }
        };
        Err(self.refused(why))
    }

    /// Whether a reduction to this root uses this rank's values: between two groups only those of the group
    /// that the root is not in.
    const fn gives_to(&self, root: u32) -> bool {
        self.remote == 0 || root >= self.size && root != PROC_NULL
    }

    /// The number of blocks of a buffer with one for each rank that this rank sends to or receives from.
    fn blocks(&self) -> usize {
        match self.remote {
            0 => self.size as usize,
            remote => remote as usize,
        }
    }

    /// The length of this rank's own block; `None` between two groups, where it has none.
    fn own_block(&self, counts: &[usize]) -> Option<usize> {
        (self.remote == 0).then(|| counts[self.rank as usize])
    }

    /// Checks that a buffer divides into equal blocks.
    fn count_equal(&self, what: &'static str, has: usize) -> Result<()> {
        self.count(what, has, has / self.blocks() * self.blocks())
    }

    /// Checks that a buffer has a block of `each` elements for each rank. Between two groups the other group's
    /// blocks may have another length.
    fn count_blocks(&self, what: &'static str, has: usize, each: usize) -> Result<()> {
        match self.remote {
            0 => self.count(what, has, each.saturating_mul(self.size as usize)),
            _ => self.count_equal(what, has),
        }
    }

    /// The operation of a reduction, on the elements of its call.
    // Inlined, so that the description of a call is not moved in memory, which takes longer than a short
    // call.
    #[inline(always)]
    pub(super) fn reducing<T: Data, R: Reduction<T>>(
        &self,
        op: R,
        input: Area,
        output: Area,
    ) -> Result<ReductionCall<R::Combine>> {
        let ResolvedReduction {
            kind,
            combine,
            widening,
        } = op.resolve(self.reproducible)?;
        let element = size_of::<T>() as u64;
        Ok(ReductionCall {
            kind,
            combine,
            element: widening.map_or(element, |widening| widening.element),
            buffers: match widening {
                Some(widening) => self.widened(widening, element, &input, &output)?,
                None => Buffers::new(input, output),
            },
        })
    }

    /// Buffers of wide elements for an operation, in place of those of `element` bytes.
    #[cold]
    fn widened(
        &self,
        widening: Widening,
        element: u64,
        input: &Area,
        output: &Area,
    ) -> Result<Buffers> {
        let (wide, [input, output]) = WidenedBuffers::new(widening, element, input, output)
            .ok_or_else(|| self.refused("no memory for exact sums"))?;
        let mut buffers = Buffers::new(input, output);
        buffers.wide = Some(Box::new(wide));
        Ok(buffers)
    }

    /// The neighbours of the communicator.
    fn topology(&self) -> Result<Arc<Topology>> {
        self.topology.clone().ok_or_else(|| {
            self.refused("this communicator has no neighbours; make a Cart or a Graph of it")
        })
    }

    /// Checks the length of a buffer.
    pub(super) fn count(&self, what: &'static str, has: usize, needs: usize) -> Result<()> {
        if has == needs {
            return Ok(());
        }
        Err(Error::Count {
            rank: self.rank as usize,
            what,
            has,
            needs,
        })
    }

    /// Checks that a buffer has `each` elements for each rank.
    pub(super) fn count_each(&self, what: &'static str, has: usize, each: usize) -> Result<()> {
        self.count(what, has, each.saturating_mul(self.size as usize))
    }

    #[cold]
    pub(super) fn refused(&self, why: impl fmt::Display) -> Error {
        Error::Collective {
            rank: self.rank as usize,
            why: why.to_string(),
        }
    }
}

impl<A: Threading> Comm<A> {
    pub(crate) fn call_site(&self) -> CallSite {
        CallSite {
            rank: self.raw.group().rank(),
            size: self.raw.group().size(),
            remote: 0,
            topology: self.topology.clone(),
            reproducible: self.raw.reproducible(),
        }
    }

    /// Runs the operation to its end.
    fn run<B: Buffer, C: Combine>(&self, operation: impl Collective<B, C>) -> Result<()> {
        // The description stays where it is made: moving it made an allreduce of 8 B of two ranks 4% slower.
        match operation.describe(self.call_site()) {
            Ok(DescribedCall {
                ref call,
                ref buffers,
                combine,
                held: ref _held,
            }) => {
                let combine = combine.map(on_bytes);
                let combine = combine.as_ref().map(|combine| combine as Operation<'_>);
                self.raw.collective(call, buffers, combine)
            }
            Err(why) => Err(why),
        }
    }
}
