//! Alltoall (MPI 5.0, section 6.8).

use oxmpi_coll::catalog::Call;
use oxmpi_core::{Area, Result, Threading};
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::blocks::{BlockUse, Blocks, CutBlocks};
use super::slices::{Slices, sources, targets};
use super::{CallSite, Collective, DescribedCall, NoReduction};
use crate::buffer::Buffer;
use crate::comm::Comm;
use crate::data::Data;
use crate::values::{LendFor, Values, ValuesMut, ValuesRef};

/// Sends each rank an equal part of `values`, in the order of the ranks, and receives one from each
/// (`MPI_Ialltoall`). Between two groups the ranks are those of the remote group.
pub fn alltoall<T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized>(
    values: I,
    result: &mut O,
) -> impl Collective<(I::Buffer, O::Written<'_>)> {
    move |site: CallSite| {
        let (values, result) = (values.lend_for(), result.lend_for());
        site.count_equal("the values", values.count)?;
        match site.remote {
            0 => site.count("the result", result.count, values.count)?,
            _ => site.count_equal("the result", result.count)?,
        }
        let each = values.bytes.len() / site.blocks() as u64;
        let call = Call::alltoall(site.rank, site.size, each);
        let (input, output) = (Area::Whole(values.bytes), Area::Whole(result.bytes));
        Ok(DescribedCall::new(
            call,
            input,
            output,
            (values.held, result.held),
        ))
    }
}

/// As [`alltoall`], with `values` as the result too (`MPI_IN_PLACE`). All ranks call this.
pub fn alltoall_in_place<T: Data, V: ValuesMut<T> + ?Sized>(
    values: &mut V,
) -> impl Collective<V::Written<'_>> {
    move |site: CallSite| {
        let values = LendFor::lend_for(values);
        site.count_equal("the values", values.count)?;
        let each = values.bytes.len() / u64::from(site.size);
        let call = Call::alltoall(site.rank, site.size, each).with_in_place(true);
        let output = Area::Whole(values.bytes);
        Ok(DescribedCall::new(call, Area::empty(), output, values.held))
    }
}

/// Sends each rank a block of `values`, of any length, and receives one from each (`MPI_Ialltoallv`). The
/// lengths of sender and receiver are equal.
pub fn alltoallv<'buf, T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized>(
    values: Blocks<'_, I>,
    result: Blocks<'_, &'buf mut O>,
) -> impl Collective<(I::Buffer, O::Written<'buf>)> {
    move |site: CallSite| {
        let size = site.blocks();
        let values = values.cut(&site, "the values", size, BlockUse::Read)?;
        let result = result.cut(&site, "the result", size, BlockUse::Written)?;
        let held = (values.held, result.held);
        Ok(exchange(&site, values.places, result.places, held))
    }
}

/// As [`alltoallv`], with `values` as the result too: two ranks send each other blocks of the same length.
/// All ranks call this.
pub fn alltoallv_in_place<'buf, T: Data, V: ValuesMut<T> + ?Sized>(
    values: Blocks<'_, &'buf mut V>,
) -> impl Collective<V::Written<'buf>> {
    move |site: CallSite| {
        let size = site.size as usize;
        let CutBlocks { places, held } =
            values.cut(&site, "the values", size, BlockUse::Written)?;
        Ok(exchange_in_place(&site, places, held))
    }
}

/// As [`alltoallv`], with a slice or a [view](crate::layout) for each rank (`MPI_Ialltoallw`). Lengths count in bytes:
/// sender and receiver may have other types of elements. With zerocopy's `as_bytes` each slice may have its own.
pub fn alltoallw<'buf, S: Data, R: Data, V: Values<S>, O: ValuesMut<R>>(
    values: &'buf [V],
    result: &'buf mut [O],
) -> impl Collective<Slices<'buf>> {
    move |site: CallSite| {
        let size = site.blocks();
        site.count("the list of values", values.len(), size)?;
        site.count("the list of results", result.len(), size)?;
        let (values, result) = (sources(values), targets(result));
        Ok(exchange(&site, values, result, ()))
    }
}

/// As [`alltoallw`], with `values` as the result too: two ranks send each other as many bytes. All ranks call this.
pub fn alltoallw_in_place<'buf, T: Data, V: ValuesMut<T>>(
    values: &'buf mut [V],
) -> impl Collective<Slices<'buf>> {
    move |site: CallSite| {
        site.count("the list of values", values.len(), site.size as usize)?;
        Ok(exchange_in_place(&site, targets(values), ()))
    }
}

/// An alltoallv of these blocks.
fn exchange<B: Buffer>(
    site: &CallSite,
    values: Vec<RawBytes>,
    result: Vec<RawBytes>,
    held: B::Held,
) -> DescribedCall<B, NoReduction> {
    let call = Call::alltoallv(site.rank, site.size);
    let input = Area::of_blocks(values);
    let output = Area::of_blocks(result);
    DescribedCall::new(call, input, output, held)
}

/// An alltoallv in place of these blocks.
fn exchange_in_place<B: Buffer>(
    site: &CallSite,
    blocks: Vec<RawBytes>,
    held: B::Held,
) -> DescribedCall<B, NoReduction> {
    let call = Call::alltoallv(site.rank, site.size).with_in_place(true);
    let output = Area::of_blocks(blocks);
    DescribedCall::new(call, Area::empty(), output, held)
}

impl<A: Threading> Comm<A> {
    /// Sends each rank its value of `values`, which has one for each rank in their order, and gives those that
    /// the ranks sent to this one (`MPI_Alltoall`).
    ///
    /// # Errors
    /// When there is another number of values, a rank is lost, or this rank has no memory.
    pub fn alltoall<T: Data>(&self, values: &(impl Values<T> + ?Sized)) -> Result<Vec<T>> {
        let count = values.lend().count;
        self.call_site().count_each("the values", count, 1)?;
        let mut result = self.room(count)?;
        self.alltoall_into(values, &mut result)?;
        Ok(result)
    }

    /// Sends each rank an equal part of `values`, in the order of the ranks, and receives one from each
    /// (`MPI_Alltoall`).
    ///
    /// # Errors
    /// When a length is wrong, or a rank is lost.
    pub fn alltoall_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        result: &mut (impl ValuesMut<T> + ?Sized),
    ) -> Result<()> {
        self.run(super::alltoall(values, result))
    }

    /// As [`Comm::alltoall_into`], with `values` as the result too (`MPI_IN_PLACE`). All ranks call
    /// this.
    ///
    /// # Errors
    /// As there.
    pub fn alltoall_in_place<T: Data>(
        &self,
        values: &mut (impl ValuesMut<T> + ?Sized),
    ) -> Result<()> {
        self.run(super::alltoall_in_place(values))
    }

    /// Sends each rank a block of `values`, of any length, and receives one from each (`MPI_Alltoallv`). The
    /// lengths of sender and receiver are equal.
    ///
    /// # Errors
    /// As [`Comm::alltoall_into`], and [`Error::Blocks`](crate::Error::Blocks).
    pub fn alltoallv<T: Data>(
        &self,
        values: Blocks<'_, &(impl Values<T> + ?Sized)>,
        result: Blocks<'_, &mut (impl ValuesMut<T> + ?Sized)>,
    ) -> Result<()> {
        self.run(super::alltoallv(values, result))
    }

    /// As [`Comm::alltoallv`], with `values` as the result too: two ranks send each other blocks of the same
    /// length. All ranks call this.
    ///
    /// # Errors
    /// As there.
    pub fn alltoallv_in_place<T: Data>(
        &self,
        values: Blocks<'_, &mut (impl ValuesMut<T> + ?Sized)>,
    ) -> Result<()> {
        self.run(super::alltoallv_in_place(values))
    }

    /// As [`Comm::alltoallv`], with a slice or a [view](crate::layout) for each rank (`MPI_Alltoallw`). Lengths count in
    /// bytes: sender and receiver may have other types of elements. With zerocopy's `as_bytes` each slice may have
    /// its own.
    ///
    /// # Errors
    /// As there.
    pub fn alltoallw<S: Data, R: Data>(
        &self,
        values: &[impl Values<S>],
        result: &mut [impl ValuesMut<R>],
    ) -> Result<()> {
        self.run(super::alltoallw(values, result))
    }
    /// As [`Comm::alltoallw`], with `values` as the result too: two ranks send each other as many bytes. All ranks
    /// call this.
    ///
    /// # Errors
    /// As there.
    pub fn alltoallw_in_place<T: Data>(&self, values: &mut [impl ValuesMut<T>]) -> Result<()> {
        self.run(super::alltoallw_in_place(values))
    }
}
