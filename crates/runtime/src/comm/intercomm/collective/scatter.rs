//! Scatter to the other group.

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
use crate::raw::{Area, Buffers, Stage, Stages, Threading};

/// Gives every rank of the other group its part of the root's `all`, as many values each, in the
/// order of their ranks (`MPI_Iscatter`). The root alone gives `all`; its group's `into` stays.
pub fn scatter<T: Data, I: Slice<T>>(
    all: Option<I>,
    into: &mut [T],
    root: Root,
) -> impl Collective<(Option<I::Buffer>, &mut [T])> {
    move |site: InterCallSite| {
        let into = into.lend();
        let all = site.of_root(root, all)?.map(Lend::lend);
        if let Some(all) = &all {
            site.equal_blocks("the root's values", all.count)?;
        }
        let blocks = all
            .as_ref()
            .map(|all| equal_parts(all.bytes, site.remote_size()));
        let stages = from_root(&site, blocks, into.bytes, root)?;
        Ok(without_reduction(
            stages,
            (all.map(|all| all.held), into.held),
        ))
    }
}

/// As [`scatter`], each rank getting a block of its own length (`MPI_Iscatterv`). The root gives a
/// block for each rank of the other group.
pub fn scatterv<'buf, T: Data, I: Slice<T>>(
    all: Option<Blocks<'_, I>>,
    into: &'buf mut [T],
    root: Root,
) -> impl Collective<(Option<I::Buffer>, &'buf mut [T])> {
    move |site: InterCallSite| {
        let into = into.lend();
        let what = "the root's values";
        let cut =
            |all: Blocks<'_, I>| all.cut(&site.local, what, site.remote_size(), BlockUse::Read);
        let all = site.of_root(root, all)?.map(cut).transpose()?;
        let (blocks, held) = all.map(|all| (all.places, all.held)).unzip();
        let stages = from_root(&site, blocks, into.bytes, root)?;
        Ok(without_reduction(stages, (held, into.held)))
    }
}

/// The stages by which a rank gets its block of the root's.
fn from_root(
    site: &InterCallSite,
    blocks: Option<impl IntoIterator<Item = RawBytes>>,
    into: RawBytes,
    root: Root,
) -> Result<Stages> {
    let ranks = site.with_root(root)?;
    let (own, input, output) = match blocks {
        Some(blocks) => (0, blocks_after_empty(blocks), Area::empty()),
        None => (into.len(), Area::empty(), Area::Whole(into)),
    };
    let hand_out = |ranks: crate::raw::Group| Stage {
        call: Call::scatterv(ranks.rank(), ranks.size(), 0, own),
        buffers: Buffers::new(input, output),
        ranks,
    };
    Ok(Stages::of(ranks.map(hand_out)))
}

impl<A: Threading> InterComm<A> {
    /// Gives every rank of the other group its part of the root's `all`, as many values each, in the
    /// order of their ranks (`MPI_Scatter`). The root alone gives `all`; its group's `into` stays.
    ///
    /// # Errors
    /// As [`InterComm::gather`].
    pub fn scatter<T: Data>(&self, all: Option<&[T]>, into: &mut [T], root: Root) -> Result<()> {
        self.run(super::scatter(all, into, root))
    }

    /// As [`InterComm::scatter`], each rank getting a block of its own length (`MPI_Scatterv`). The
    /// root gives a block for each rank of the other group.
    ///
    /// # Errors
    /// As [`InterComm::gatherv`].
    pub fn scatterv<T: Data>(
        &self,
        all: Option<Blocks<'_, &[T]>>,
        into: &mut [T],
        root: Root,
    ) -> Result<()> {
        self.run(super::scatterv(all, into, root))
    }
}
