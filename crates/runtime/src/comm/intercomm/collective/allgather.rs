//! Allgather from the other group.
//!
//! Only the ranks that get blocks know how long they are, so each leader gathers the other group's.

use oxmpi_os::RawBytes;

use super::gather::collect;
use super::{Collective, InterCallSite, InterComm, equal_parts, without_reduction};
use crate::comm::collective::Blocks;
use crate::comm::collective::blocks::BlockUse;
use crate::comm::collective::slice::{Lend, Slice};
use crate::data::Data;
use crate::error::Result;
use crate::raw::{self, Area, Stage, Stages, Threading};

/// Gives every rank the values of all ranks of the other group, in the order of their ranks
/// (`MPI_Iallgather`). Within a group all give as many; the groups may differ.
pub fn allgather<T: Data, I: Slice<T>>(
    values: I,
    all: &mut [T],
) -> impl Collective<(I::Buffer, &mut [T])> {
    move |site: InterCallSite| {
        let (values, all) = (values.lend(), all.lend());
        site.equal_blocks("the result", all.count)?;
        let blocks = equal_parts(all.bytes, site.remote_size());
        let stages = stages(&site, values.bytes, blocks, Area::Whole(all.bytes));
        Ok(without_reduction(stages, (values.held, all.held)))
    }
}

/// As [`allgather`], each rank giving as many values as it likes (`MPI_Iallgatherv`). All ranks of
/// the other group know how many.
pub fn allgatherv<'buf, T: Data, I: Slice<T>>(
    values: I,
    all: Blocks<'_, &'buf mut [T]>,
) -> impl Collective<(I::Buffer, &'buf mut [T])> {
    move |site: InterCallSite| {
        let values = values.lend();
        let all = all.cut(
            &site.local,
            "the result",
            site.remote_size(),
            BlockUse::Written,
        )?;
        let area = Area::Blocks(raw::BlockRanges::new(all.places.clone(), 1));
        let stages = stages(&site, values.bytes, all.places, area);
        Ok(without_reduction(stages, (values.held, all.held)))
    }
}

/// The second group gives its blocks to the leader of the first one, and the other way round; then
/// the leaders give them to their groups.
fn stages(
    site: &InterCallSite,
    values: RawBytes,
    blocks: impl IntoIterator<Item = RawBytes>,
    all: Area,
) -> Stages {
    let get = site
        .leads()
        .then(|| collect(site.this_rank_and_remote(), values, Some(blocks)));
    let leader = site.remote_root_and_own(site.remote.start);
    let give = Some(collect(leader, values, None::<[RawBytes; 0]>));
    let exchange: [Option<Stage>; 2] = match site.own.start < site.remote.start {
        true => [get, give],
        false => [give, get],
    };
    let spread = InterCallSite::bcast_stage(site.own_group(), all);
    Stages::of(exchange.into_iter().flatten().chain([spread]))
}

impl<A: Threading> InterComm<A> {
    /// Gives every rank the values of all ranks of the other group, in the order of their ranks
    /// (`MPI_Allgather`). Within a group all give as many; the groups may differ.
    ///
    /// # Errors
    /// When lengths do not fit, or a rank is lost.
    pub fn allgather<T: Data>(&self, values: &[T], all: &mut [T]) -> Result<()> {
        self.run(super::allgather(values, all))
    }

    /// As [`InterComm::allgather`], each rank giving as many values as it likes (`MPI_Allgatherv`).
    /// All ranks of the other group know how many.
    ///
    /// # Errors
    /// As there, and [`Error::Blocks`](crate::Error::Blocks).
    pub fn allgatherv<T: Data>(&self, values: &[T], all: Blocks<'_, &mut [T]>) -> Result<()> {
        self.run(super::allgatherv(values, all))
    }
}
