//! Collectives between two groups (MPI 5.0, chapter 6): each group gets what the other one gives.
//!
//! They consist of the plans of collectives in one group. Where one rank of a group gives or gets, it
//! and the other group make a group of their own; else each group gathers, reduces or spreads in
//! itself, and the leaders of both, which are their ranks 0, talk to each other.

mod allgather;
mod alltoall;
mod barrier;
mod bcast;
mod gather;
mod reduce;
mod reduce_scatter;
mod scatter;

use std::ops::Range;

use oxmpi_coll::catalog::Call;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

pub use allgather::{allgather, allgatherv};
pub use alltoall::{alltoall, alltoallv, alltoallw};
pub use barrier::barrier;
pub use bcast::bcast;
pub use gather::{gather, gatherv};
pub use reduce::{allreduce, reduce};
pub use reduce_scatter::{reduce_scatter, reduce_scatter_block};
pub use scatter::{scatter, scatterv};

use super::InterComm;
use crate::buffer::Buffer;
use crate::comm::collective::sealed::CallSite as LocalSite;
use crate::error::{Error, Result};
use crate::op::{Combine, NoReduction, on_bytes};
use crate::raw::{self, Area, Buffers, Group, Operation, Stage, Stages, Threading};

/// The root of an operation between two groups, as a rank sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// This rank (`MPI_ROOT`).
    This,
    /// Another rank of this rank's group, whose other ranks take no part (`MPI_PROC_NULL`).
    ProcNull,
    /// This rank of the other group.
    Remote(usize),
}

/// A collective operation between two groups that borrows `B`, as the functions of
/// [`intercomm`](super) make it. Sealed.
#[must_use = "it is only described: start it in a scope"]
pub trait Collective<B: Buffer, C = NoReduction>: sealed::Describe<B, C> {}

impl<B: Buffer, C, D: sealed::Describe<B, C>> Collective<B, C> for D {}

#[allow(
    unnameable_types,
    reason = "the trait is sealed: callers name `Collective`, never what is here"
)]
pub(crate) mod sealed {
    use super::{Buffer, Group, LocalSite, Range, Result, Stages};

    /// What an operation is, once it is known where it is called; `C` combines elements.
    pub trait Describe<B: Buffer, C> {
        /// Checks the arguments.
        ///
        /// # Errors
        /// The first that is wrong.
        fn describe(self, site: InterCallSite) -> Result<DescribedCall<B, C>>;
    }

    /// The rank that calls, and the two groups.
    #[derive(Clone, Debug)]
    pub struct InterCallSite {
        /// In this rank's group.
        pub(super) local: LocalSite,
        /// Both groups.
        pub(super) both: Group,
        /// This rank's group in both.
        pub(super) own: Range<u32>,
        /// The other one.
        pub(super) remote: Range<u32>,
    }

    /// An operation of which all is known.
    pub struct DescribedCall<B: Buffer, C> {
        pub(in crate::comm::intercomm) stages: Stages,
        pub(in crate::comm::intercomm) held: B::Held,
        pub(in crate::comm::intercomm) combine: Option<C>,
    }
}

use sealed::{DescribedCall, InterCallSite};

impl<B: Buffer, C, F> sealed::Describe<B, C> for F
where
    F: FnOnce(InterCallSite) -> Result<DescribedCall<B, C>>,
{
    fn describe(self, site: InterCallSite) -> Result<DescribedCall<B, C>> {
        self(site)
    }
}

/// What was described, of an operation that does not reduce.
fn without_reduction<B: Buffer>(stages: Stages, held: B::Held) -> DescribedCall<B, NoReduction> {
    DescribedCall {
        stages,
        held,
        combine: None,
    }
}

impl InterCallSite {
    /// Number of ranks of the other group.
    fn remote_size(&self) -> usize {
        self.remote.len()
    }

    /// Whether this rank talks for its group.
    const fn leads(&self) -> bool {
        self.local.rank == 0
    }

    /// A rank of the other group as a rank of both.
    fn remote_in_both(&self, rank: usize) -> Result<u32> {
        if rank < self.remote_size() {
            return Ok(self.remote.start + rank as u32);
        }
        Err(Error::Rank {
            rank: self.local.rank as usize,
            named: rank,
            size: self.remote_size(),
        })
    }

    /// The root, as rank 0, and the group that is not its own; none where this rank is in neither.
    fn with_root(&self, root: Root) -> Result<Option<Group>> {
        Ok(match root {
            Root::This => Some(self.this_rank_and_remote()),
            Root::ProcNull => None,
            Root::Remote(root) => Some(self.remote_root_and_own(self.remote_in_both(root)?)),
        })
    }

    /// This rank, as rank 0, and the other group.
    fn this_rank_and_remote(&self) -> Group {
        let (me, others) = (self.both.rank(), self.remote.clone());
        self.both.section(Some(me), others, 0)
    }

    /// A rank of the other group, as rank 0, and this rank's group.
    fn remote_root_and_own(&self, root: u32) -> Group {
        let rank = self.local.rank + 1;
        self.both.section(Some(root), self.own.clone(), rank)
    }

    /// This rank's group.
    fn own_group(&self) -> Group {
        let rank = self.local.rank;
        self.both.section(None, self.own.clone(), rank)
    }

    /// What only the root has, where this rank is the root; else nothing, and nothing may have been
    /// given.
    fn of_root<T>(&self, root: Root, given: Option<T>) -> Result<Option<T>> {
        if given.is_some() == (root == Root::This) {
            return Ok(given);
        }
        let why = match given {
            Some(_) => "this rank is not the root, and gives a buffer that only the root has",
            None => "this rank is the root, and does not give the buffer of all ranks",
        };
        Err(self.local.refused(format_args!("{why} (it says {root:?})")))
    }

    /// That a buffer has as many elements for each rank of the other group.
    fn equal_blocks(&self, what: &'static str, has: usize) -> Result<()> {
        let each = has.div_ceil(self.remote_size());
        self.local.count(what, has, each * self.remote_size())
    }

    /// A stage in which rank 0 of a group gives the others bytes.
    fn bcast_stage(ranks: Group, area: Area) -> Stage {
        Stage {
            call: Call::bcast(ranks.rank(), ranks.size(), 0, area.len()),
            buffers: Buffers::new(area.clone(), area),
            ranks,
        }
    }

    /// A stage in which the leaders give each other what their groups have.
    fn leader_swap(&self, mine: RawBytes, theirs: RawBytes) -> Stage {
        let is_first = self.own.start < self.remote.start;
        let [me, other] = [self.own.start, self.remote.start];
        let [first, second] = if is_first { [me, other] } else { [other, me] };
        let ranks = (self.both).section(Some(first), second..second + 1, u32::from(!is_first));
        let beside = |area: RawBytes| {
            let mut places = [RawBytes::empty(); 2];
            places[usize::from(is_first)] = area;
            Area::Blocks(raw::BlockRanges::new(places.into(), 1))
        };
        Stage {
            call: Call::alltoallv(ranks.rank(), ranks.size()),
            buffers: Buffers::new(beside(mine), beside(theirs)),
            ranks,
        }
    }

    /// So many bytes that lie between two stages.
    fn room(&self, stages: &mut Stages, bytes: u64) -> Result<RawBytes> {
        stages.make_room(bytes).ok_or_else(|| Error::Memory {
            rank: self.local.rank as usize,
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
        })
    }
}

/// Places of blocks for a group whose rank 0 has none.
fn blocks_after_empty(places: impl IntoIterator<Item = RawBytes>) -> Area {
    let none = std::iter::once(RawBytes::empty());
    Area::Blocks(raw::BlockRanges::new(none.chain(places).collect(), 1))
}

/// So many parts of a buffer, equally long.
fn equal_parts(bytes: RawBytes, count: usize) -> impl Iterator<Item = RawBytes> {
    let each = bytes.len() / count as u64;
    (0..count as u64).map(move |n| {
        let part = bytes.part(n * each, each, 0, 1);
        part.unwrap_or(RawBytes::empty())
    })
}

impl<A: Threading> InterComm<A> {
    pub(super) fn call_site(&self) -> InterCallSite {
        let remote = self.remote.start as u32..self.remote.end as u32;
        let both = self.internal.raw.group().clone();
        let own = match remote.start {
            0 => remote.end..both.size(),
            start => 0..start,
        };
        InterCallSite {
            local: self.local.call_site(),
            both,
            own,
            remote,
        }
    }

    /// Runs the operation to its end.
    fn run<B: Buffer, C: Combine>(&self, operation: impl Collective<B, C>) -> Result<()> {
        let described = operation.describe(self.call_site())?;
        let combine = described.combine.map(on_bytes);
        let combine = combine.as_ref().map(|combine| combine as Operation<'_>);
        let raw = &self.internal.raw;
        raw.collective_in_stages(&described.stages, combine)
    }
}
