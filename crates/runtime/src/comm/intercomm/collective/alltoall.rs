//! Alltoall between two groups: one of all ranks, in which those of a group have nothing for each
//! other.

use oxmpi_coll::catalog::Call;
use oxmpi_os::RawBytes;

use super::{Collective, InterCallSite, InterComm, equal_parts, without_reduction};
use crate::comm::collective::blocks::BlockUse;
use crate::comm::collective::slice::{Lend, Slice};
use crate::comm::collective::slices::{sources, targets};
use crate::comm::collective::{Blocks, Slices};
use crate::data::Data;
use crate::error::Result;
use crate::raw::{self, Area, Buffers, Stage, Stages, Threading};

/// Gives rank r of the other group the r-th part of `values`, and takes its part for this rank into
/// the r-th part of `into` (`MPI_Ialltoall`).
pub fn alltoall<T: Data, I: Slice<T>>(
    values: I,
    into: &mut [T],
) -> impl Collective<(I::Buffer, &mut [T])> {
    move |site: InterCallSite| {
        let (values, into) = (values.lend(), into.lend());
        site.equal_blocks("the values for the other group", values.count)?;
        site.equal_blocks("the room for the other group's values", into.count)?;
        let all = |bytes| equal_parts(bytes, site.remote_size());
        let stages = stages(&site, all(values.bytes), all(into.bytes));
        Ok(without_reduction(stages, (values.held, into.held)))
    }
}

/// As [`alltoall`], of blocks of any lengths (`MPI_Ialltoallv`). What one rank gives and what the
/// other has room for is equally long.
pub fn alltoallv<'buf, T: Data, I: Slice<T>>(
    values: Blocks<'_, I>,
    into: Blocks<'_, &'buf mut [T]>,
) -> impl Collective<(I::Buffer, &'buf mut [T])> {
    move |site: InterCallSite| {
        let (local, others) = (&site.local, site.remote_size());
        let values = values.cut(local, "the values", others, BlockUse::Read)?;
        let into = into.cut(local, "the result", others, BlockUse::Written)?;
        let stages = stages(&site, values.places, into.places);
        Ok(without_reduction(stages, (values.held, into.held)))
    }
}

/// As [`alltoallv`], of bytes that lie anywhere, a slice for each rank of the other group
/// (`MPI_Ialltoallw`).
pub fn alltoallw<'buf>(
    values: &'buf [&'buf [u8]],
    into: &'buf mut [&'buf mut [u8]],
) -> impl Collective<Slices<'buf>> {
    move |site: InterCallSite| {
        let (local, others) = (&site.local, site.remote_size());
        local.count("the list of values", values.len(), others)?;
        local.count("the list of results", into.len(), others)?;
        let stages = stages(&site, sources(values), targets(into));
        Ok(without_reduction(stages, ()))
    }
}

/// An alltoallv of both groups.
fn stages(
    site: &InterCallSite,
    values: impl IntoIterator<Item = RawBytes>,
    into: impl IntoIterator<Item = RawBytes>,
) -> Stages {
    let (rank, size) = (site.both.rank(), site.both.size());
    let all = Stage {
        call: Call::alltoallv(rank, size),
        buffers: Buffers::new(for_others(site, values), for_others(site, into)),
        ranks: site.both.clone(),
    };
    Stages::of([all])
}

/// Blocks of both groups, those of this rank's own being empty.
fn for_others(site: &InterCallSite, blocks: impl IntoIterator<Item = RawBytes>) -> Area {
    let mut places = vec![RawBytes::empty(); site.both.size() as usize];
    for (at, block) in site.remote.clone().zip(blocks) {
        places[at as usize] = block;
    }
    Area::Blocks(raw::BlockRanges::new(places, 1))
}

impl<A: Threading> InterComm<A> {
    /// Gives rank r of the other group the r-th part of `values`, and takes its part for this rank
    /// into the r-th part of `into` (`MPI_Alltoall`).
    ///
    /// # Errors
    /// When a length is no multiple of the other group's size or does not fit the sender's, or a
    /// rank is lost.
    pub fn alltoall<T: Data>(&self, values: &[T], into: &mut [T]) -> Result<()> {
        self.run(super::alltoall(values, into))
    }

    /// As [`InterComm::alltoall`], of blocks of any lengths (`MPI_Alltoallv`). What one rank gives
    /// and what the other has room for is equally long.
    ///
    /// # Errors
    /// As there, and [`Error::Blocks`](crate::Error::Blocks).
    pub fn alltoallv<T: Data>(
        &self,
        values: Blocks<'_, &[T]>,
        into: Blocks<'_, &mut [T]>,
    ) -> Result<()> {
        self.run(super::alltoallv(values, into))
    }

    /// As [`InterComm::alltoallv`], of bytes that lie anywhere, a slice for each rank of the other
    /// group (`MPI_Alltoallw`): with zerocopy's `as_bytes` each may hold elements of another type.
    ///
    /// # Errors
    /// As there.
    pub fn alltoallw<'buf>(
        &self,
        values: &'buf [&'buf [u8]],
        into: &'buf mut [&'buf mut [u8]],
    ) -> Result<()> {
        self.run(super::alltoallw(values, into))
    }
}
