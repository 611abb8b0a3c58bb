//! Alltoall between two groups: one of all ranks, in which those of a group have nothing for each
//! other.

use oxmpi_coll::catalog::Call;
use oxmpi_os::RawBytes;

use super::{Collective, InterComm, Place, moving, parts};
use crate::comm::collective::blocks::Use;
use crate::comm::collective::slice::{Lend, Slice};
use crate::comm::collective::slices::{sources, targets};
use crate::comm::collective::{Blocks, Slices};
use crate::data::Data;
use crate::error::Result;
use crate::raw::{self, Access, Area, Buffers, Stage, Stages};

/// Gives rank r of the other group the r-th part of `values`, and takes its part for this rank into
/// the r-th part of `into` (`MPI_Ialltoall`).
pub fn alltoall<T: Data, I: Slice<T>>(
    values: I,
    into: &mut [T],
) -> impl Collective<(I::Buffer, &mut [T])> {
    move |place: Place| {
        let (values, into) = (values.lend(), into.lend());
        place.share("the values for the other group", values.count)?;
        place.share("the room for the other group's values", into.count)?;
        let all = |bytes| parts(bytes, place.others());
        let stages = stages(&place, all(values.bytes), all(into.bytes));
        Ok(moving(stages, (values.held, into.held)))
    }
}

/// As [`alltoall`], of blocks of any lengths (`MPI_Ialltoallv`). What one rank gives and what the
/// other has room for is equally long.
pub fn alltoallv<'buf, T: Data, I: Slice<T>>(
    values: Blocks<'_, I>,
    into: Blocks<'_, &'buf mut [T]>,
) -> impl Collective<(I::Buffer, &'buf mut [T])> {
    move |place: Place| {
        let (local, others) = (&place.local, place.others());
        let values = values.cut(local, "the values", others, Use::Read)?;
        let into = into.cut(local, "the result", others, Use::Written)?;
        let stages = stages(&place, values.places, into.places);
        Ok(moving(stages, (values.held, into.held)))
    }
}

/// As [`alltoallv`], of bytes that lie anywhere, a slice for each rank of the other group
/// (`MPI_Ialltoallw`).
pub fn alltoallw<'buf>(
    values: &'buf [&'buf [u8]],
    into: &'buf mut [&'buf mut [u8]],
) -> impl Collective<Slices<'buf>> {
    move |place: Place| {
        let (local, others) = (&place.local, place.others());
        local.count("the list of values", values.len(), others)?;
        local.count("the list of results", into.len(), others)?;
        let stages = stages(&place, sources(values), targets(into));
        Ok(moving(stages, ()))
    }
}

/// An alltoallv of both groups.
fn stages(
    place: &Place,
    values: impl IntoIterator<Item = RawBytes>,
    into: impl IntoIterator<Item = RawBytes>,
) -> Stages {
    let (rank, size) = (place.both.rank(), place.both.size());
    let all = Stage {
        call: Call::alltoallv(rank, size),
        buffers: Buffers::new(for_others(place, values), for_others(place, into)),
        ranks: place.both.clone(),
    };
    Stages::of([all])
}

/// Blocks of both groups, those of this rank's own being empty.
fn for_others(place: &Place, blocks: impl IntoIterator<Item = RawBytes>) -> Area {
    let mut places = vec![RawBytes::empty(); place.both.size() as usize];
    for (at, block) in place.remote.clone().zip(blocks) {
        places[at as usize] = block;
    }
    Area::Blocks(raw::Blocks::new(places, 1))
}

impl<A: Access> InterComm<A> {
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
