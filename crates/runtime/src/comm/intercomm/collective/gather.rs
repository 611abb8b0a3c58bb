//! Gather from the other group.

use oxmpi_coll::catalog::Call;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::{
    Collective, InterCallSite, InterComm, Root, blocks_after_empty, equal_parts, without_reduction,
};
use crate::comm::collective::Blocks;
use crate::comm::collective::blocks::BlockUse;
use crate::comm::collective::slice::{Lend, Slice};
use crate::data::Data;
use crate::error::Result;
use crate::raw::{Area, Buffers, Group, Stage, Stages, Threading};

/// Gives the root the values of every rank of the other group, as many of each, in the order of
/// their ranks (`MPI_Igather`). The root alone gives `all`; of its group no `values` are used.
pub fn gather<T: Data, I: Slice<T>>(
    values: I,
    all: Option<&mut [T]>,
    root: Root,
) -> impl Collective<(I::Buffer, Option<&mut [T]>)> {
    move |site: InterCallSite| {
        let values = values.lend();
        let all = site.of_root(root, all)?;
        if let Some(all) = &all {
            site.equal_blocks("the result", all.len())?;
        }
        let all = all.map(Lend::lend);
        let blocks = all
            .as_ref()
            .map(|all| equal_parts(all.bytes, site.remote_size()));
        let stages = to_root(&site, values.bytes, blocks, root)?;
        Ok(without_reduction(
            stages,
            (values.held, all.map(|all| all.held)),
        ))
    }
}

/// As [`gather`], each rank giving as many values as it likes (`MPI_Igatherv`). The root gives a
/// block for each rank of the other group.
pub fn gatherv<'buf, T: Data, I: Slice<T>>(
    values: I,
    all: Option<Blocks<'_, &'buf mut [T]>>,
    root: Root,
) -> impl Collective<(I::Buffer, Option<&'buf mut [T]>)> {
    move |site: InterCallSite| {
        let values = values.lend();
        let cut = |all: Blocks<'_, &'buf mut [T]>| {
            all.cut(
                &site.local,
                "the result",
                site.remote_size(),
                BlockUse::Written,
            )
        };
        let all = site.of_root(root, all)?.map(cut).transpose()?;
        let (blocks, held) = all.map(|all| (all.places, all.held)).unzip();
        let stages = to_root(&site, values.bytes, blocks, root)?;
        Ok(without_reduction(stages, (values.held, held)))
    }
}

/// The stages by which a rank gives its values to the root, which has blocks for them.
fn to_root(
    site: &InterCallSite,
    values: RawBytes,
    blocks: Option<impl IntoIterator<Item = RawBytes>>,
    root: Root,
) -> Result<Stages> {
    let collect = |ranks| collect(ranks, values, blocks);
    Ok(Stages::of(site.with_root(root)?.map(collect)))
}

/// A stage in which rank 0 of a group, which has none itself, gets the values of the others.
pub(super) fn collect(
    ranks: Group,
    values: RawBytes,
    blocks: Option<impl IntoIterator<Item = RawBytes>>,
) -> Stage {
    let (own, input, output) = match blocks {
        Some(blocks) => (0, Area::empty(), blocks_after_empty(blocks)),
        None => (values.len(), Area::Whole(values), Area::empty()),
    };
    Stage {
        call: Call::gatherv(ranks.rank(), ranks.size(), 0, own),
        buffers: Buffers::new(input, output),
        ranks,
    }
}

impl<A: Threading> InterComm<A> {
    /// Gives the root the values of every rank of the other group, as many of each, in the order of
    /// their ranks (`MPI_Gather`). The root alone gives `all`; of its group no `values` are used.
    ///
    /// # Errors
    /// As [`InterComm::bcast`], or when the root gives no room or another rank does.
    pub fn gather<T: Data>(&self, values: &[T], all: Option<&mut [T]>, root: Root) -> Result<()> {
        self.run(super::gather(values, all, root))
    }

    /// As [`InterComm::gather`], each rank giving as many values as it likes (`MPI_Gatherv`). The
    /// root gives a block for each rank of the other group.
    ///
    /// # Errors
    /// As there, and [`Error::Blocks`](crate::Error::Blocks).
    pub fn gatherv<T: Data>(
        &self,
        values: &[T],
        all: Option<Blocks<'_, &mut [T]>>,
        root: Root,
    ) -> Result<()> {
        self.run(super::gatherv(values, all, root))
    }
}
