//! Reduction of the other group's values: each group reduces its own to its leader, which passes the
//! result on.

use oxmpi_coll::catalog::Call;
use oxmpi_os::RawBytes;

use super::{Collective, DescribedCall, InterCallSite, InterComm, Root};
use crate::buffer::Buffer;
use crate::comm::collective::ReductionCall;
use crate::comm::collective::slice::{Lend, Slice};
use crate::data::Data;
use crate::error::Result;
use crate::op::Reduction;
use crate::raw::{Area, Buffers, Stage, Stages, Threading};

/// Reduces the `values` of the other group's ranks, element by element, into the root's `result`
/// (`MPI_Ireduce`). The root alone gives it; of its group no `values` are used.
pub fn reduce<T: Data, I: Slice<T>, R: Reduction<T>>(
    values: I,
    result: Option<&mut [T]>,
    op: R,
    root: Root,
) -> impl Collective<(I::Buffer, Option<&mut [T]>), R::Combine> {
    move |site: InterCallSite| {
        let values = values.lend();
        let result = site.of_root(root, result)?.map(Lend::lend);
        let (mut given, mut wanted) = (Area::empty(), Area::empty());
        match (root, &result) {
            (Root::Remote(_), _) => given = Area::Whole(values.bytes),
            (_, Some(result)) => wanted = Area::Whole(result.bytes),
            (_, None) => {}
        }
        let reducing = site.local.reducing::<T, R>(op, given, wanted)?;
        let mut stages = Stages::default();
        match root {
            Root::This => {
                let (leader, me) = (site.remote.start, site.both.rank());
                stages.add(site.pass(leader, me, reducing.buffers.output.clone()));
            }
            Root::ProcNull => {}
            Root::Remote(root) => {
                let root = site.remote_in_both(root)?;
                if let Some(sums) = site.reduce(&mut stages, &reducing, values.count)? {
                    stages.add(site.pass(site.own.start, root, Area::Whole(sums)));
                }
            }
        }
        let held = (values.held, result.map(|result| result.held));
        Ok(described(stages, held, reducing))
    }
}

/// Reduces the `values` of the other group's ranks, element by element, into every rank's `result`
/// (`MPI_Iallreduce`).
pub fn allreduce<T: Data, I: Slice<T>, R: Reduction<T>>(
    values: I,
    result: &mut [T],
    op: R,
) -> impl Collective<(I::Buffer, &mut [T]), R::Combine> {
    move |site: InterCallSite| {
        let (values, result) = (values.lend(), result.lend());
        let count = values.count;
        site.local.count("the result", result.count, count)?;
        let (given, wanted) = (Area::Whole(values.bytes), Area::Whole(result.bytes));
        let reducing = site.local.reducing::<T, R>(op, given, wanted)?;
        let mut stages = Stages::default();
        let theirs = &reducing.buffers.output;
        if let Some(mine) = site.reduce(&mut stages, &reducing, count)? {
            stages.add(site.leader_swap(mine, theirs.whole()));
        }
        stages.add(InterCallSite::bcast_stage(site.own_group(), theirs.clone()));
        Ok(described(stages, (values.held, result.held), reducing))
    }
}

/// An operation in stages that reduces.
pub(super) fn described<B: Buffer, C>(
    mut stages: Stages,
    held: B::Held,
    reducing: ReductionCall<C>,
) -> DescribedCall<B, C> {
    stages.widen(reducing.buffers.wide);
    DescribedCall {
        stages,
        held,
        combine: Some(reducing.combine),
    }
}

impl InterCallSite {
    /// Adds a stage in which this rank's group reduces its `count` elements to the leader; gives the
    /// leader the room of the result.
    pub(super) fn reduce<C>(
        &self,
        stages: &mut Stages,
        reducing: &ReductionCall<C>,
        count: usize,
    ) -> Result<Option<RawBytes>> {
        let given = &reducing.buffers.input;
        let room = || self.room(stages, given.len());
        let room = self.leads().then(room).transpose()?;
        let ranks = self.own_group();
        let (rank, size) = (ranks.rank(), ranks.size());
        let call = Call::reduce(rank, size, 0, count as u64, reducing.element);
        let wanted = room.map_or(Area::empty(), Area::Whole);
        stages.add(Stage {
            call: reducing.kind.of(call),
            buffers: Buffers::new(given.clone(), wanted),
            ranks,
        });
        Ok(room)
    }

    /// A stage in which a rank of both groups gives another one bytes; this rank is one of the two.
    fn pass(&self, from: u32, to: u32, bytes: Area) -> Stage {
        let rank = u32::from(self.both.rank() == to);
        let ranks = self.both.section(Some(from), to..to + 1, rank);
        Self::bcast_stage(ranks, bytes)
    }
}

impl<A: Threading> InterComm<A> {
    /// Reduces the `values` of the other group's ranks, element by element, into the root's `result`
    /// (`MPI_Reduce`). The root alone gives it; of its group no `values` are used.
    ///
    /// # Errors
    /// As [`InterComm::gather`], or when the element has no such operation.
    pub fn reduce<T: Data>(
        &self,
        values: &[T],
        result: Option<&mut [T]>,
        op: impl Reduction<T>,
        root: Root,
    ) -> Result<()> {
        self.run(super::reduce(values, result, op, root))
    }

    /// Reduces the `values` of the other group's ranks, element by element, into every rank's
    /// `result` (`MPI_Allreduce`).
    ///
    /// # Errors
    /// As [`InterComm::allgather`], or when the element has no such operation.
    pub fn allreduce<T: Data>(
        &self,
        values: &[T],
        result: &mut [T],
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::allreduce(values, result, op))
    }
}
