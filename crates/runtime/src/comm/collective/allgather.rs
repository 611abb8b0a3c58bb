//! Allgather (MPI 5.0, section 6.7).

use std::slice;

use oxmpi_coll::catalog::Call;
use oxmpi_core::{Area, Result, Threading};
use oxmpi_wire::Bytes;

use super::blocks::{BlockUse, Blocks, CutBlocks};
use super::{CallSite, Collective, DescribedCall};
use crate::comm::Comm;
use crate::data::Data;
use crate::values::{LendFor, Values, ValuesMut, ValuesRef};

/// Gives every rank the values of all ranks, the same number from each, in the order of the ranks
/// (`MPI_Iallgather`). Between two groups every rank gets those of the remote group, whose ranks may give
/// another number than this rank's group.
pub fn allgather<T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized>(
    values: I,
    all: &mut O,
) -> impl Collective<(I::Buffer, O::Written<'_>)> {
    move |site: CallSite| {
        let (values, all) = (values.lend_for(), all.lend_for());
        site.count_blocks("the result", all.count, values.count)?;
        let call = Call::allgather(site.rank, site.size, values.bytes.len());
        let (input, output) = (Area::Whole(values.bytes), Area::Whole(all.bytes));
        Ok(DescribedCall::new(
            call,
            input,
            output,
            (values.held, all.held),
        ))
    }
}

/// As [`allgather`]; each rank's values are already at their position in `all` (`MPI_IN_PLACE`). All ranks
/// call this.
pub fn allgather_in_place<T: Data, V: ValuesMut<T> + ?Sized>(
    all: &mut V,
) -> impl Collective<V::Written<'_>> {
    move |site: CallSite| {
        let all = LendFor::lend_for(all);
        let each = all.count / site.size as usize;
        site.count_each("the result", all.count, each)?;
        let bytes = all.bytes.len() / u64::from(site.size);
        let call = Call::allgather(site.rank, site.size, bytes).with_in_place(true);
        let output = Area::Whole(all.bytes);
        Ok(DescribedCall::new(call, Area::empty(), output, all.held))
    }
}

/// Gives every rank the values of all ranks, any number from each (`MPI_Iallgatherv`). All receiving ranks
/// know the numbers.
pub fn allgatherv<'buf, T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized>(
    values: I,
    all: Blocks<'_, &'buf mut O>,
) -> impl Collective<(I::Buffer, O::Written<'buf>)> {
    move |site: CallSite| {
        let values = values.lend_for();
        let counts = all.counts;
        let CutBlocks { places, held } =
            all.cut(&site, "the result", site.blocks(), BlockUse::Written)?;
        if let Some(own) = site.own_block(counts) {
            site.count("this rank's block of the result", own, values.count)?;
        }
        let call = Call::allgatherv(site.rank, site.size, total(&places));
        let output = Area::of_blocks(places);
        let input = Area::Whole(values.bytes);
        Ok(DescribedCall::new(call, input, output, (values.held, held)))
    }
}

/// As [`allgatherv`]; each rank's values are already in their block. All ranks call this.
pub fn allgatherv_in_place<'buf, T: Data, V: ValuesMut<T> + ?Sized>(
    all: Blocks<'_, &'buf mut V>,
) -> impl Collective<V::Written<'buf>> {
    move |site: CallSite| {
        let CutBlocks { places, held } =
            all.cut(&site, "the result", site.blocks(), BlockUse::Written)?;
        let call = Call::allgatherv(site.rank, site.size, total(&places)).with_in_place(true);
        let output = Area::of_blocks(places);
        Ok(DescribedCall::new(call, Area::empty(), output, held))
    }
}

/// Bytes of all blocks together.
fn total(places: &[impl Bytes]) -> u64 {
    places.iter().map(Bytes::len).sum()
}

impl<A: Threading> Comm<A> {
    /// Gives every rank the values of all ranks, one from each, in the order of the ranks (`MPI_Allgather`).
    ///
    /// ```
    /// # let world = oxmpi::World::init()?;
    /// # let comm = world.comm();
    /// let ranks = comm.allgather(&comm.rank())?;
    /// assert!(ranks.into_iter().eq(0..comm.size()));
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a rank is lost, or this rank has no memory.
    pub fn allgather<T: Data>(&self, value: &T) -> Result<Vec<T>> {
        let mut all = self.room(self.size())?;
        self.allgather_into(slice::from_ref(value), &mut all)?;
        Ok(all)
    }

    /// Gives every rank the values of all ranks, the same number from each, in the order of the ranks
    /// (`MPI_Allgather`).
    ///
    /// # Errors
    /// When a length is wrong, or a rank is lost.
    pub fn allgather_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        all: &mut (impl ValuesMut<T> + ?Sized),
    ) -> Result<()> {
        self.run(super::allgather(values, all))
    }

    /// As [`Comm::allgather_into`]; each rank's values are already at their position in `all` (`MPI_IN_PLACE`).
    /// All ranks call this.
    ///
    /// # Errors
    /// As there.
    pub fn allgather_in_place<T: Data>(
        &self,
        all: &mut (impl ValuesMut<T> + ?Sized),
    ) -> Result<()> {
        self.run(super::allgather_in_place(all))
    }

    /// Gives every rank the values of all ranks, any number from each (`MPI_Allgatherv`). All ranks know the
    /// numbers.
    ///
    /// # Errors
    /// As [`Comm::allgather_into`], and [`Error::Blocks`](crate::Error::Blocks).
    pub fn allgatherv<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        all: Blocks<'_, &mut (impl ValuesMut<T> + ?Sized)>,
    ) -> Result<()> {
        self.run(super::allgatherv(values, all))
    }

    /// As [`Comm::allgatherv`]; each rank's values are already in their block. All ranks call this.
    ///
    /// # Errors
    /// As there.
    pub fn allgatherv_in_place<T: Data>(
        &self,
        all: Blocks<'_, &mut (impl ValuesMut<T> + ?Sized)>,
    ) -> Result<()> {
        self.run(super::allgatherv_in_place(all))
    }
}
