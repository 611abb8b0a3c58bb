//! Scatter (MPI 5.0, section 6.6).

use std::slice;

use oxmpi_coll::catalog::Call;
use oxmpi_core::{Area, Result, Threading};
use oxmpi_wire::Bytes;

use super::blocks::{BlockUse, Blocks, CutBlocks};
use super::{CallSite, Collective, DescribedCall, Root};
use crate::comm::Comm;
use crate::data::Data;
use crate::values::{LendFor, Values, ValuesMut, ValuesRef};

/// What errors call the buffer that only the root gives.
const VALUES: &str = "values for all ranks";

/// Gives every rank an equal part of the root's `all`, in the order of the ranks (`MPI_Iscatter`). Only the
/// root gives `all`. Between two groups the ranks of the remote group get the parts; `values` of the root's
/// group are unchanged.
pub fn scatter<T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized>(
    all: Option<I>,
    values: &mut O,
    root: impl Into<Root>,
) -> impl Collective<(Option<I::Buffer>, O::Written<'_>)> {
    move |site: CallSite| {
        let root = site.root(root)?;
        let all = site.of_root(root, VALUES, all)?.map(LendFor::lend_for);
        let values = values.lend_for();
        if let Some(all) = &all {
            site.count_blocks("the root's values", all.count, values.count)?;
        }
        let call = Call::scatter(site.rank, site.size, root, values.bytes.len());
        let (input, all) = match all {
            Some(all) => (Area::Whole(all.bytes), Some(all.held)),
            None => (Area::empty(), None),
        };
        let output = Area::Whole(values.bytes);
        Ok(DescribedCall::new(call, input, output, (all, values.held)))
    }
}

/// The root's part of a [`scatter`] where its own part stays in `all` (`MPI_IN_PLACE`). The other ranks call
/// [`scatter`].
pub fn scatter_in_place<T: Data, I: ValuesRef<T>>(all: I) -> impl Collective<I::Buffer> {
    move |site: CallSite| {
        let all = all.lend_for();
        let each = all.count / site.size as usize;
        site.count_each("the root's values", all.count, each)?;
        let bytes = all.bytes.len() / u64::from(site.size);
        let call = Call::scatter(site.rank, site.size, site.rank, bytes).with_in_place(true);
        let input = Area::Whole(all.bytes);
        Ok(DescribedCall::new(call, input, Area::empty(), all.held))
    }
}

/// As [`scatter`], with blocks of any lengths (`MPI_Iscatterv`).
pub fn scatterv<'buf, T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized>(
    all: Option<Blocks<'_, I>>,
    values: &'buf mut O,
    root: impl Into<Root>,
) -> impl Collective<(Option<I::Buffer>, O::Written<'buf>)> {
    move |site: CallSite| {
        let root = site.root(root)?;
        let all = site.of_root(root, VALUES, all)?;
        let values = values.lend_for();
        let (input, all) = match all {
            None => (Area::empty(), None),
            Some(all) => {
                let counts = all.counts;
                let cut = all.cut(&site, "the root's values", site.blocks(), BlockUse::Read)?;
                if let Some(own) = site.own_block(counts) {
                    site.count("this rank's room", values.count, own)?;
                }
                (Area::of_blocks(cut.places), Some(cut.held))
            }
        };
        let call = Call::scatterv(site.rank, site.size, root, values.bytes.len());
        let output = Area::Whole(values.bytes);
        Ok(DescribedCall::new(call, input, output, (all, values.held)))
    }
}

/// The root's part in a [`scatterv`] where its own block stays in `all`. The other ranks call
/// [`scatterv`].
pub fn scatterv_in_place<T: Data, I: ValuesRef<T>>(
    all: Blocks<'_, I>,
) -> impl Collective<I::Buffer> {
    move |site: CallSite| {
        let what = "the root's values";
        let CutBlocks { places, held } = all.cut(&site, what, site.blocks(), BlockUse::Read)?;
        let own = places[site.rank as usize].len();
        let call = Call::scatterv(site.rank, site.size, site.rank, own).with_in_place(true);
        let input = Area::of_blocks(places);
        Ok(DescribedCall::new(call, input, Area::empty(), held))
    }
}

impl<A: Threading> Comm<A> {
    /// This rank's value of those of rank `root`, which has one for each rank in their order (`MPI_Scatter`).
    /// Only the root gives `values`.
    ///
    /// # Errors
    /// When `root` does not exist, gives no values or another number, another rank gives some, or a rank is lost.
    pub fn scatter<T: Data>(&self, values: Option<&[T]>, root: usize) -> Result<T> {
        let mut value = T::new_zeroed();
        self.scatter_into(values, slice::from_mut(&mut value), root)?;
        Ok(value)
    }

    /// Gives every rank an equal part of the `all` of rank `root`, in the order of the ranks (`MPI_Scatter`).
    /// Only the root gives `all`:
    ///
    /// ```
    /// # use oxmpi::World;
    /// # let world = World::init()?;
    /// # let comm = world.comm();
    /// let all: Option<Vec<usize>> = (comm.rank() == 0).then(|| (0..comm.size()).collect());
    /// let mut mine = [0];
    /// comm.scatter_into(all.as_deref(), &mut mine, 0)?;
    /// assert_eq!(mine, [comm.rank()]);
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `root` does not exist, the root gives no `all` or another rank does, a length is wrong, or a rank
    /// is lost.
    pub fn scatter_into<T: Data>(
        &self,
        all: Option<&[T]>,
        values: &mut (impl ValuesMut<T> + ?Sized),
        root: usize,
    ) -> Result<()> {
        self.run(super::scatter(all, values, root))
    }

    /// The root's part of a [`scatter`](Comm::scatter_into) where its own part stays in `all` (`MPI_IN_PLACE`).
    /// The other ranks call [`scatter`](Comm::scatter_into).
    ///
    /// # Errors
    /// As there.
    pub fn scatter_in_place<T: Data>(&self, all: &(impl Values<T> + ?Sized)) -> Result<()> {
        self.run(super::scatter_in_place(all))
    }

    /// As [`Comm::scatter_into`], with blocks of any lengths (`MPI_Scatterv`).
    ///
    /// # Errors
    /// As [`Comm::scatter_into`], and [`Error::Blocks`](crate::Error::Blocks).
    pub fn scatterv<T: Data>(
        &self,
        all: Option<Blocks<'_, &[T]>>,
        values: &mut (impl ValuesMut<T> + ?Sized),
        root: usize,
    ) -> Result<()> {
        self.run(super::scatterv(all, values, root))
    }

    /// The root's part in a [`scatterv`](Comm::scatterv) where its own block stays in `all`. The
    /// other ranks call [`scatterv`](Comm::scatterv).
    ///
    /// # Errors
    /// As there.
    pub fn scatterv_in_place<T: Data>(
        &self,
        all: Blocks<'_, &(impl Values<T> + ?Sized)>,
    ) -> Result<()> {
        self.run(super::scatterv_in_place(all))
    }
}
