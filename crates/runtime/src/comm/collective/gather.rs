//! Gather (MPI 5.0, section 6.5).

use std::slice;

use oxmpi_coll::catalog::Call;
use oxmpi_core::{Area, Result, Threading};
use oxmpi_wire::Bytes;

use super::blocks::{BlockUse, Blocks, CutBlocks};
use super::{CallSite, Collective, DescribedCall, Root};
use crate::comm::Comm;
use crate::data::Data;
use crate::values::{LendFor, Values, ValuesMut, ValuesRef};

/// The name of the root's `all` in the error about a rank that must or must not pass it.
const RESULT: &str = "room for the result";

/// Gives the root the values of every rank, the same number from each, in the order of the ranks
/// (`MPI_Igather`). Only the root gives `all`. On an intercommunicator the root gets the values of the remote
/// group; the `values` of its own group are not used.
pub fn gather<T: Data, I: ValuesRef<T>>(
    values: I,
    all: Option<&mut [T]>,
    root: impl Into<Root>,
) -> impl Collective<(I::Buffer, Option<&mut [T]>)> {
    move |site: CallSite| {
        let root = site.root(root)?;
        let all = site.of_root(root, RESULT, all)?;
        let values = values.lend_for();
        if let Some(all) = &all {
            site.count_blocks("the result", all.len(), values.count)?;
        }
        let call = Call::gather(site.rank, site.size, root, values.bytes.len());
        let (output, all) = match all.map(LendFor::lend_for) {
            Some(all) => (Area::Whole(all.bytes), Some(all.held)),
            None => (Area::empty(), None),
        };
        let input = Area::Whole(values.bytes);
        Ok(DescribedCall::new(call, input, output, (values.held, all)))
    }
}

/// The root's part of a [`gather`] where its own values are already in `all` (`MPI_IN_PLACE`). The other
/// ranks call [`gather`].
pub fn gather_in_place<T: Data, V: ValuesMut<T> + ?Sized>(
    all: &mut V,
) -> impl Collective<V::Written<'_>> {
    move |site: CallSite| {
        let all = LendFor::lend_for(all);
        let each = all.count / site.size as usize;
        site.count_each("the result", all.count, each)?;
        let bytes = all.bytes.len() / u64::from(site.size);
        let call = Call::gather(site.rank, site.size, site.rank, bytes).with_in_place(true);
        let output = Area::Whole(all.bytes);
        Ok(DescribedCall::new(call, Area::empty(), output, all.held))
    }
}

/// As [`gather`], with any number of values from each rank (`MPI_Igatherv`). The root gives a block for each
/// rank.
pub fn gatherv<'buf, T: Data, I: ValuesRef<T>>(
    values: I,
    all: Option<Blocks<'_, &'buf mut [T]>>,
    root: impl Into<Root>,
) -> impl Collective<(I::Buffer, Option<&'buf mut [T]>)> {
    move |site: CallSite| {
        let root = site.root(root)?;
        let all = site.of_root(root, RESULT, all)?;
        let values = values.lend_for();
        let (output, all) = match all {
            None => (Area::empty(), None),
            Some(all) => {
                let counts = all.counts;
                let cut = all.cut(&site, "the result", site.blocks(), BlockUse::Written)?;
                if let Some(own) = site.own_block(counts) {
                    site.count("this rank's block of the result", own, values.count)?;
                }
                (Area::of_blocks(cut.places), Some(cut.held))
            }
        };
        let call = Call::gatherv(site.rank, site.size, root, values.bytes.len());
        let input = Area::Whole(values.bytes);
        Ok(DescribedCall::new(call, input, output, (values.held, all)))
    }
}

/// The root's part of a [`gatherv`] where its own values are already in their block.
pub fn gatherv_in_place<'buf, T: Data, V: ValuesMut<T> + ?Sized>(
    all: Blocks<'_, &'buf mut V>,
) -> impl Collective<V::Written<'buf>> {
    move |site: CallSite| {
        let CutBlocks { places, held } =
            all.cut(&site, "the result", site.blocks(), BlockUse::Written)?;
        let own = places[site.rank as usize].len();
        let call = Call::gatherv(site.rank, site.size, site.rank, own).with_in_place(true);
        let output = Area::of_blocks(places);
        Ok(DescribedCall::new(call, Area::empty(), output, held))
    }
}

impl<A: Threading> Comm<A> {
    /// Gives rank `root` the values of every rank, one from each, in the order of the ranks; the others get
    /// `None` (`MPI_Gather`).
    ///
    /// # Errors
    /// When `root` does not exist, or a rank is lost or has no memory.
    pub fn gather<T: Data>(&self, value: &T, root: usize) -> Result<Option<Vec<T>>> {
        let room = (self.rank() == root).then(|| self.room(self.size()));
        let mut all = room.transpose()?;
        self.gather_into(slice::from_ref(value), all.as_deref_mut(), root)?;
        Ok(all)
    }

    /// Gives rank `root` the values of every rank, the same number from each, in the order of the ranks
    /// (`MPI_Gather`). Only the root gives `all`:
    ///
    /// ```
    /// # use oxmpi::World;
    /// # let world = World::init()?;
    /// # let comm = world.comm();
    /// let mut all = (comm.rank() == 0).then(|| vec![0; comm.size()]);
    /// comm.gather_into(&[comm.rank()], all.as_deref_mut(), 0)?;
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `root` does not exist, the root gives no `all` or another rank does, a length is wrong, or a rank
    /// is lost.
    pub fn gather_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        all: Option<&mut [T]>,
        root: usize,
    ) -> Result<()> {
        self.run(super::gather(values, all, root))
    }

    /// The root's part of a [`gather`](Comm::gather_into) where its own values are already in `all`
    /// (`MPI_IN_PLACE`). The other ranks call [`gather`](Comm::gather_into).
    ///
    /// # Errors
    /// As [`Comm::gather_into`].
    pub fn gather_in_place<T: Data>(&self, all: &mut (impl ValuesMut<T> + ?Sized)) -> Result<()> {
        self.run(super::gather_in_place(all))
    }

    /// As [`Comm::gather_into`], with any number of values from each rank (`MPI_Gatherv`). The root gives a block
    /// for each rank.
    ///
    /// # Errors
    /// As [`Comm::gather_into`], and [`Error::Blocks`](crate::Error::Blocks).
    pub fn gatherv<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        all: Option<Blocks<'_, &mut [T]>>,
        root: usize,
    ) -> Result<()> {
        self.run(super::gatherv(values, all, root))
    }

    /// The root's part of a [`gatherv`](Comm::gatherv) where its own values are already in their block. The
    /// other ranks call [`gatherv`](Comm::gatherv).
    ///
    /// # Errors
    /// As [`Comm::gatherv`].
    pub fn gatherv_in_place<T: Data>(
        &self,
        all: Blocks<'_, &mut (impl ValuesMut<T> + ?Sized)>,
    ) -> Result<()> {
        self.run(super::gatherv_in_place(all))
    }
}
