//! Neighbourhood collectives (MPI 5.0, section 8.6), of a [`Cart`](crate::Cart) or a
//! [`Graph`](crate::Graph).
//!
//! Blocks are in the order of the neighbours: on a grid the rank below and the rank above in each dimension.
//! The block of a neighbour beyond an edge is not accessed.

use std::slice;

use oxmpi_coll::catalog::Call;
use oxmpi_core::{Area, Result, Threading, Topology};
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::blocks::{BlockUse, Blocks};
use super::slices::{Slices, sources, targets};
use super::{CallSite, Collective, DescribedCall, NoReduction};
use crate::buffer::Buffer;
use crate::comm::Comm;
use crate::data::Data;
use crate::values::{LendFor, Values, ValuesMut, ValuesRef};

/// Sends `values` to each neighbour, and receives the same number from each (`MPI_Ineighbor_allgather`).
pub fn neighbor_allgather<T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized>(
    values: I,
    all: &mut O,
) -> impl Collective<(I::Buffer, O::Written<'_>)> {
    move |site: CallSite| {
        let topology = site.topology()?;
        let (values, all) = (values.lend_for(), all.lend_for());
        let needs = values.count.saturating_mul(topology.sources());
        site.count("the result", all.count, needs)?;
        let of =
            |degrees| Call::neighbor_allgather(site.rank, site.size, degrees, values.bytes.len());
        let (input, output) = (Area::Whole(values.bytes), Area::Whole(all.bytes));
        Ok(among(&topology, of, input, output, (values.held, all.held)))
    }
}

/// Sends `values` to each neighbour, and receives a block from each (`MPI_Ineighbor_allgatherv`). The lengths
/// of sender and receiver are equal.
pub fn neighbor_allgatherv<'buf, T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized>(
    values: I,
    all: Blocks<'_, &'buf mut O>,
) -> impl Collective<(I::Buffer, O::Written<'buf>)> {
    move |site: CallSite| {
        let topology = site.topology()?;
        let all = all.cut(&site, "the result", topology.sources(), BlockUse::Written)?;
        let values = values.lend_for();
        let of =
            |degrees| Call::neighbor_allgatherv(site.rank, site.size, degrees, values.bytes.len());
        let input = Area::Whole(values.bytes);
        let output = Area::of_blocks(all.places);
        Ok(among(&topology, of, input, output, (values.held, all.held)))
    }
}

/// Sends each neighbour an equal part of `values`, and receives one from each (`MPI_Ineighbor_alltoall`).
pub fn neighbor_alltoall<T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized>(
    values: I,
    result: &mut O,
) -> impl Collective<(I::Buffer, O::Written<'_>)> {
    move |site: CallSite| {
        let topology = site.topology()?;
        let (values, result) = (values.lend_for(), result.lend_for());
        let (to, from) = (topology.destinations(), topology.sources());
        // A rank that sends nothing knows the length from its result.
        let each = match to {
            0 => result.count.checked_div(from).unwrap_or(0),
            _ => values.count / to,
        };
        site.count("the values", values.count, each.saturating_mul(to))?;
        site.count("the result", result.count, each.saturating_mul(from))?;
        let bytes = each as u64 * size_of::<T>() as u64;
        let of = |degrees| Call::neighbor_alltoall(site.rank, site.size, degrees, bytes);
        let (input, output) = (Area::Whole(values.bytes), Area::Whole(result.bytes));
        Ok(among(
            &topology,
            of,
            input,
            output,
            (values.held, result.held),
        ))
    }
}

/// Sends each neighbour a block of `values`, of any length, and receives one from each
/// (`MPI_Ineighbor_alltoallv`). The lengths of sender and receiver are equal.
pub fn neighbor_alltoallv<'buf, T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized>(
    values: Blocks<'_, I>,
    result: Blocks<'_, &'buf mut O>,
) -> impl Collective<(I::Buffer, O::Written<'buf>)> {
    move |site: CallSite| {
        let topology = site.topology()?;
        let (to, from) = (topology.destinations(), topology.sources());
        let values = values.cut(&site, "the values", to, BlockUse::Read)?;
        let result = result.cut(&site, "the result", from, BlockUse::Written)?;
        let held = (values.held, result.held);
        Ok(exchange(
            &site,
            &topology,
            values.places,
            result.places,
            held,
        ))
    }
}

/// As [`neighbor_alltoallv`], with a slice or a [view](crate::layout) for each neighbour (`MPI_Ineighbor_alltoallw`):
/// the edges and the ghost cells of a field. Lengths count in bytes.
pub fn neighbor_alltoallw<'buf, S: Data, R: Data, V: Values<S>, O: ValuesMut<R>>(
    values: &'buf [V],
    result: &'buf mut [O],
) -> impl Collective<Slices<'buf>> {
    move |site: CallSite| {
        let topology = site.topology()?;
        site.count("the list of values", values.len(), topology.destinations())?;
        site.count("the list of results", result.len(), topology.sources())?;
        let (values, result) = (sources(values), targets(result));
        Ok(exchange(&site, &topology, values, result, ()))
    }
}

/// A neighbor_alltoallv of these blocks.
fn exchange<B: Buffer>(
    site: &CallSite,
    topology: &Topology,
    values: Vec<RawBytes>,
    result: Vec<RawBytes>,
    held: B::Held,
) -> DescribedCall<B, NoReduction> {
    let of = |degrees| Call::neighbor_alltoallv(site.rank, site.size, degrees);
    let input = Area::of_blocks(values);
    let output = Area::of_blocks(result);
    among(topology, of, input, output, held)
}

/// The call among the neighbours; `of` makes it from the numbers of sources and destinations.
fn among<B: Buffer>(
    topology: &Topology,
    of: impl Fn([u32; 2]) -> Call,
    input: Area,
    output: Area,
    held: B::Held,
) -> DescribedCall<B, NoReduction> {
    let call = of([topology.sources() as u32, topology.destinations() as u32]);
    let call = match topology.cartesian {
        true => call.on_grid(),
        false => call,
    };
    let mut described = DescribedCall::new(call, input, output, held);
    described.buffers.neighbors = Some(topology.neighbors.clone());
    described
}

impl<A: Threading> Comm<A> {
    /// Sends `value` to each neighbour, and gives those of the neighbours in their order
    /// (`MPI_Neighbor_allgather`).
    ///
    /// # Errors
    /// As [`Comm::neighbor_allgather_into`], or when this rank has no memory.
    pub fn neighbor_allgather<T: Data>(&self, value: &T) -> Result<Vec<T>> {
        let mut all = self.room(self.call_site().topology()?.sources())?;
        self.neighbor_allgather_into(slice::from_ref(value), &mut all)?;
        Ok(all)
    }

    /// Sends each neighbour its value of `values`, which has one for each in their order, and gives those that
    /// the neighbours sent to this rank (`MPI_Neighbor_alltoall`).
    ///
    /// # Errors
    /// As [`Comm::neighbor_alltoall_into`], or when this rank has no memory.
    pub fn neighbor_alltoall<T: Data>(&self, values: &(impl Values<T> + ?Sized)) -> Result<Vec<T>> {
        let site = self.call_site();
        let topology = site.topology()?;
        site.count("the values", values.lend().count, topology.destinations())?;
        let mut result = self.room(topology.sources())?;
        self.neighbor_alltoall_into(values, &mut result)?;
        Ok(result)
    }

    /// Sends `values` to each neighbour, and receives the same number from each (`MPI_Neighbor_allgather`).
    ///
    /// # Errors
    /// When the communicator has no neighbours, as it is neither a [`Cart`](crate::Cart) nor a
    /// [`Graph`](crate::Graph); when a length is wrong, or a rank is lost.
    pub fn neighbor_allgather_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        all: &mut (impl ValuesMut<T> + ?Sized),
    ) -> Result<()> {
        self.run(super::neighbor_allgather(values, all))
    }

    /// Sends `values` to each neighbour, and receives a block from each (`MPI_Neighbor_allgatherv`). The
    /// lengths of sender and receiver are equal.
    ///
    /// # Errors
    /// As [`Comm::neighbor_allgather_into`], and [`Error::Blocks`](crate::Error::Blocks).
    pub fn neighbor_allgatherv<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        all: Blocks<'_, &mut (impl ValuesMut<T> + ?Sized)>,
    ) -> Result<()> {
        self.run(super::neighbor_allgatherv(values, all))
    }

    /// Sends each neighbour an equal part of `values`, and receives one from each (`MPI_Neighbor_alltoall`).
    ///
    /// # Errors
    /// As [`Comm::neighbor_allgather_into`].
    pub fn neighbor_alltoall_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        result: &mut (impl ValuesMut<T> + ?Sized),
    ) -> Result<()> {
        self.run(super::neighbor_alltoall(values, result))
    }

    /// Sends each neighbour a block of `values`, of any length, and receives one from each
    /// (`MPI_Neighbor_alltoallv`). The lengths of sender and receiver are equal.
    ///
    /// # Errors
    /// As [`Comm::neighbor_allgatherv`].
    pub fn neighbor_alltoallv<T: Data>(
        &self,
        values: Blocks<'_, &(impl Values<T> + ?Sized)>,
        result: Blocks<'_, &mut (impl ValuesMut<T> + ?Sized)>,
    ) -> Result<()> {
        self.run(super::neighbor_alltoallv(values, result))
    }

    /// As [`Comm::neighbor_alltoallv`], with a slice or a [view](crate::layout) for each neighbour
    /// (`MPI_Neighbor_alltoallw`): the edges and the ghost cells of a field. Lengths count in bytes.
    ///
    /// ```
    /// use oxmpi::layout::{Strided, ViewMut};
    /// use oxmpi::{Grid, World};
    ///
    /// let world = World::init()?;
    /// let comm = world.comm();
    /// let ring = comm.cart(Grid::new(&[comm.size()], &[true]))?.expect("every rank has a place");
    /// let mut field = [comm.rank() as f64; 4 * 6]; // 4 rows; columns 0 and 5 are ghost cells
    /// let column = |first| Strided { first, count: 4, block: 1, stride: 6 };
    /// let (edges, mut ghosts) =
    ///     ViewMut::split(&mut field, [column(1), column(4)], [column(0), column(5)])?;
    /// ring.neighbor_alltoallw(&edges, &mut ghosts)?;
    /// let [left, right] = ring.shift(0, 1);
    /// assert_eq!((Some(field[0] as usize), Some(field[5] as usize)), (left, right));
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comm::neighbor_allgather_into`].
    pub fn neighbor_alltoallw<S: Data, R: Data>(
        &self,
        values: &[impl Values<S>],
        result: &mut [impl ValuesMut<R>],
    ) -> Result<()> {
        self.run(super::neighbor_alltoallw(values, result))
    }
}
