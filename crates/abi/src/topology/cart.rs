//! Cartesian topologies (MPI 5.0, section 8.5).

use oxmpi_core::{Grid, Topology};

use super::{give, no_topology, numbers, rank_of, within_group, write, wrong_dimensions};
use crate::comm_table::Entry;
use crate::comm_topology::Shape;
use crate::constants::{MPI_ERR_ARG, MPI_PROC_NULL, MPI_UNDEFINED};
use crate::error_handling::{Error, Result, catch, on};
use crate::types::{Comm, c_int};

/// The grid of a communicator.
fn grid(entry: &Entry) -> Result<&Grid> {
    match entry.topology.as_deref() {
        Some(Shape::Cart(grid, _)) => Ok(grid),
        _ => Err(no_topology("Cartesian topology")),
    }
}

/// The shape of a grid, as `rank` sees it.
fn shape(grid: Grid, rank: usize) -> Shape {
    let neighbors = grid.neighbors(rank);
    Shape::Cart(grid, Topology::new(neighbors.clone(), neighbors, true))
}

/// A grid of at most the communicator's ranks. One with a dimension of size 0 has no ranks.
///
/// # Safety
/// The arrays have an entry for each dimension.
unsafe fn given_grid(
    entry: &Entry,
    dimensions: c_int,
    sizes: *const c_int,
    periods: *const c_int,
) -> Result<Grid> {
    within_group(entry)?;
    if dimensions < 0 {
        return Err(wrong_dimensions(format!(
            "the grid has {dimensions} dimensions"
        )));
    }
    // SAFETY: the caller's promise.
    let sizes = unsafe { numbers(dimensions, sizes)? };
    // SAFETY: as above.
    let periods = unsafe { numbers(dimensions, periods)? };
    let ranks = sizes.iter().map(|&size| {
        let negative = |_| wrong_dimensions(format!("a dimension has the size {size}"));
        usize::try_from(size).map_err(negative)
    });
    let ranks = ranks.collect::<Result<Vec<usize>>>()?;
    let periodic: Vec<bool> = periods.iter().map(|&period| period != 0).collect();
    let grid = Grid::new(&ranks, &periodic);
    let size = entry.messages.group().size() as usize;
    match grid.size() <= size {
        true => Ok(grid),
        false => {
            let why = format!(
                "the grid has {} ranks, and the communicator {size}",
                grid.size()
            );
            Err(Error::new(MPI_ERR_ARG, why))
        }
    }
}

/// `MPI_Cart_create`. Ranks keep their order.
///
/// # Safety
/// The arrays have an entry for each dimension; the new handle may be written to.
pub(crate) unsafe fn cart_create(
    comm: Comm,
    dimensions: c_int,
    sizes: *const c_int,
    periods: *const c_int,
    _reorder: c_int,
    new: *mut Comm,
) -> c_int {
    on(comm, "MPI_Cart_create", |entry| {
        // SAFETY: the caller's promise.
        let grid = unsafe { given_grid(entry, dimensions, sizes, periods)? };
        let rank = entry.messages.group().rank() as usize;
        let part = entry.messages.split((rank < grid.size()).then_some(0), 0)?;
        // SAFETY: as above.
        unsafe { give(entry, part.map(|part| (part, shape(grid, rank))), new) };
        Ok(())
    })
}

/// `MPI_Cart_map`.
///
/// # Safety
/// As [`cart_create`]; the rank may be written to.
pub(crate) unsafe fn cart_map(
    comm: Comm,
    dimensions: c_int,
    sizes: *const c_int,
    periods: *const c_int,
    new_rank: *mut c_int,
) -> c_int {
    on(comm, "MPI_Cart_map", |entry| {
        // SAFETY: the caller's promise.
        let grid = unsafe { given_grid(entry, dimensions, sizes, periods)? };
        let rank = entry.messages.group().rank();
        let place = if (rank as usize) < grid.size() {
            rank as c_int
        } else {
            MPI_UNDEFINED
        };
        // SAFETY: as above.
        unsafe { new_rank.write(place) };
        Ok(())
    })
}

/// `MPI_Cart_sub`.
///
/// # Safety
/// The array has an entry for each dimension; the new handle may be written to.
pub(crate) unsafe fn cart_sub(comm: Comm, kept: *const c_int, new: *mut Comm) -> c_int {
    on(comm, "MPI_Cart_sub", |entry| {
        let whole = grid(entry)?;
        let dimensions = whole.dimensions().len() as c_int;
        // SAFETY: the caller's promise.
        let kept = unsafe { numbers(dimensions, kept)? };
        let keep: Vec<bool> = kept.iter().map(|&kept| kept != 0).collect();
        let rank = entry.messages.group().rank() as usize;
        let (part, number, place) = whole.slice(rank, &keep);
        // A grid without dimensions has one rank, as in MPI_Cart_create.
        let is_member = keep.contains(&true) || rank == 0;
        let made = entry.messages.split(is_member.then_some(number), place)?;
        let made = made.map(|made| {
            let rank = made.group().rank() as usize;
            (made, shape(part, rank))
        });
        // SAFETY: as above.
        unsafe { give(entry, made, new) };
        Ok(())
    })
}

/// `MPI_Cartdim_get`.
///
/// # Safety
/// The number may be written to.
pub(crate) unsafe fn cartdim_get(comm: Comm, dimensions: *mut c_int) -> c_int {
    on(comm, "MPI_Cartdim_get", |entry| {
        let number = grid(entry)?.dimensions().len() as c_int;
        // SAFETY: the caller's promise.
        unsafe { dimensions.write(number) };
        Ok(())
    })
}

/// `MPI_Cart_get`.
///
/// # Safety
/// The arrays have room for `room` numbers.
pub(crate) unsafe fn cart_get(
    comm: Comm,
    room: c_int,
    sizes: *mut c_int,
    periods: *mut c_int,
    coordinates: *mut c_int,
) -> c_int {
    on(comm, "MPI_Cart_get", |entry| {
        let grid = grid(entry)?;
        let own = grid.coordinates(entry.messages.group().rank() as usize);
        // SAFETY: the caller's promise.
        unsafe { write(grid.dimensions().map(|ranks| ranks as c_int), sizes, room) };
        // SAFETY: as above.
        unsafe { write(grid.periods().map(c_int::from), periods, room) };
        // SAFETY: as above.
        unsafe { write(own.into_iter().map(|at| at as c_int), coordinates, room) };
        Ok(())
    })
}

/// `MPI_Cart_rank`.
///
/// # Safety
/// The array has an entry for each dimension; the rank may be written to.
pub(crate) unsafe fn cart_rank(comm: Comm, coordinates: *const c_int, rank: *mut c_int) -> c_int {
    on(comm, "MPI_Cart_rank", |entry| {
        let grid = grid(entry)?;
        // SAFETY: the caller's promise.
        let place = unsafe { numbers(grid.dimensions().len() as c_int, coordinates)? };
        let place: Vec<isize> = place.into_iter().map(|at| at as isize).collect();
        let found = grid.rank(&place).ok_or_else(|| {
            let why = format!("the coordinates {place:?} are beyond an edge of the grid");
            Error::new(MPI_ERR_ARG, why)
        })?;
        // SAFETY: as above.
        unsafe { rank.write(found as c_int) };
        Ok(())
    })
}

/// `MPI_Cart_coords`.
///
/// # Safety
/// The array has room for `room` numbers.
pub(crate) unsafe fn cart_coords(
    comm: Comm,
    rank: c_int,
    room: c_int,
    coordinates: *mut c_int,
) -> c_int {
    on(comm, "MPI_Cart_coords", |entry| {
        let place = grid(entry)?.coordinates(rank_of(entry, rank)?);
        if usize::try_from(room).unwrap_or(0) < place.len() {
            let why = format!("there is room for {room} of {} coordinates", place.len());
            return Err(Error::argument(why));
        }
        // SAFETY: the caller's promise.
        unsafe { write(place.into_iter().map(|at| at as c_int), coordinates, room) };
        Ok(())
    })
}

/// `MPI_Cart_shift`.
///
/// # Safety
/// The ranks may be written to.
pub(crate) unsafe fn cart_shift(
    comm: Comm,
    dimension: c_int,
    by: c_int,
    source: *mut c_int,
    destination: *mut c_int,
) -> c_int {
    on(comm, "MPI_Cart_shift", |entry| {
        let grid = grid(entry)?;
        let dimensions = grid.dimensions().len();
        let at = usize::try_from(dimension)
            .ok()
            .filter(|&at| at < dimensions);
        let at = at.ok_or_else(|| {
            let why = format!("dimension {dimension} of {dimensions}, counted from 0");
            Error::new(MPI_ERR_ARG, why)
        })?;
        let rank = entry.messages.group().rank() as usize;
        let along = |by: isize| {
            let rank = grid.along(rank, at, by);
            rank.map_or(MPI_PROC_NULL, |rank| rank as c_int)
        };
        // SAFETY: the caller's promise.
        unsafe { source.write(along(-(by as isize))) };
        // SAFETY: as above.
        unsafe { destination.write(along(by as isize)) };
        Ok(())
    })
}

/// `MPI_Dims_create`.
///
/// # Safety
/// The array has an entry for each dimension, which may be read and written to.
pub(crate) unsafe fn dims_create(ranks: c_int, dimensions: c_int, sizes: *mut c_int) -> c_int {
    catch("MPI_Dims_create", || {
        // SAFETY: the caller's promise.
        let given = unsafe { numbers(dimensions, sizes)? };
        let given: Option<Vec<usize>> = given
            .iter()
            .map(|&size| usize::try_from(size).ok())
            .collect();
        let number = usize::try_from(ranks).ok().filter(|&ranks| ranks > 0);
        let number = number.ok_or_else(|| {
            Error::new(
                MPI_ERR_ARG,
                format!("{ranks} ranks, and at least 1 is expected"),
            )
        })?;
        let filled = given.and_then(|given| Grid::balanced(number, &given));
        let filled = filled.ok_or_else(|| {
            wrong_dimensions(format!("the given dimensions do not divide {ranks} ranks"))
        })?;
        // SAFETY: as above.
        unsafe {
            write(
                filled.into_iter().map(|size| size as c_int),
                sizes,
                dimensions,
            )
        };
        Ok(())
    })
}
