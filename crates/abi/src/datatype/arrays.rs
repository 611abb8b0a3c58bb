//! Constructors of parts of arrays: `MPI_Type_create_subarray` and `MPI_Type_create_darray` (MPI 5.0, sections 5.1.3
//! and 5.1.4).

use oxmpi_wire::layout::{Dimension, DistributedDimension, Distribution, Order};

use super::construct::{array, make};
use super::description::{Argument, Contents};
use super::table::description;
use crate::constants::*;
use crate::counts::Counting;
use crate::error_handling::{Error, Result};
use crate::types::{Datatype, c_int};

fn order_of(order: c_int) -> Result<Order> {
    match order {
        MPI_ORDER_C => Ok(Order::C),
        MPI_ORDER_FORTRAN => Ok(Order::Fortran),
        _ => Err(Error::argument(format!(
            "the order is {order}, and MPI_ORDER_C or MPI_ORDER_FORTRAN is expected"
        ))),
    }
}

/// An argument that is at least `least`.
fn at_least<N: Counting>(what: &str, least: u64, value: N) -> Result<u64> {
    let number = value.number().filter(|&number| number >= least);
    number.ok_or_else(|| {
        Error::argument(format!(
            "{what} is {value}, and at least {least} is expected"
        ))
    })
}

/// `MPI_Type_create_subarray`.
///
/// # Safety
/// The arrays have `ndims` elements; `newtype` may be written to.
pub(crate) unsafe fn subarray<N: Argument>(
    ndims: c_int,
    sizes: *const N,
    subsizes: *const N,
    starts: *const N,
    order: c_int,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> c_int {
    let work = || {
        let (old, dimensions) = (description(oldtype)?, at_least("ndims", 1, ndims)?);
        // SAFETY: the caller's promise.
        let array = |start| unsafe { array(start, dimensions) };
        let (sizes, subsizes, starts) = (array(sizes)?, array(subsizes)?, array(starts)?);
        let dimension = |i: usize| {
            Ok(Dimension {
                whole: at_least("a size", 1, sizes[i])?,
                len: at_least("a size of the sub-array", 1, subsizes[i])?,
                start: at_least("a start", 0, starts[i])?,
            })
        };
        let parts: Vec<_> = (0..sizes.len()).map(dimension).collect::<Result<_>>()?;
        let layout = old.layout.subarray(&parts, order_of(order)?)?;
        let contents = Contents::new(MPI_COMBINER_SUBARRAY).with(&[ndims]);
        let contents = contents.with(sizes).with(subsizes).with(starts);
        Ok((layout, contents.with(&[order]).of(&old)))
    };
    // SAFETY: as above.
    unsafe { make("MPI_Type_create_subarray", newtype, work) }
}

/// `MPI_Type_create_darray`.
///
/// # Safety
/// The arrays have `ndims` elements; `newtype` may be written to.
#[expect(clippy::too_many_arguments, reason = "the call has so many")]
pub(crate) unsafe fn darray<N: Argument>(
    size: c_int,
    rank: c_int,
    ndims: c_int,
    gsizes: *const N,
    distribs: *const c_int,
    dargs: *const c_int,
    psizes: *const c_int,
    order: c_int,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> c_int {
    let work = || {
        let (old, dimensions) = (description(oldtype)?, at_least("ndims", 1, ndims)?);
        // SAFETY: the caller's promise.
        let array_of_ints = |start| unsafe { array(start, dimensions) };
        // SAFETY: as above.
        let gsizes = unsafe { array(gsizes, dimensions) }?;
        let (distribs, dargs) = (array_of_ints(distribs)?, array_of_ints(dargs)?);
        let psizes = array_of_ints(psizes)?;
        let dimension = |i: usize| {
            Ok(DistributedDimension {
                whole: at_least("a size", 1, gsizes[i])?,
                distribution: distribution(distribs[i], dargs[i])?,
                ranks: at_least("a size of the grid", 1, psizes[i])?,
            })
        };
        let parts: Vec<_> = (0..gsizes.len()).map(dimension).collect::<Result<_>>()?;
        let ranks = parts
            .iter()
            .try_fold(1u64, |all, part| all.checked_mul(part.ranks));
        let own = rank.number().filter(|_| rank < size);
        let Some(own) = own.filter(|_| ranks.is_some() && ranks == size.number()) else {
            return Err(Error::argument(format!(
                "rank {rank} of {size}: the sizes of the grid make other ranks"
            )));
        };
        let layout = old.layout.darray(&parts, own, order_of(order)?)?;
        let contents = Contents::new(MPI_COMBINER_DARRAY).with(&[size, rank, ndims]);
        let contents = contents
            .with(gsizes)
            .with(distribs)
            .with(dargs)
            .with(psizes);
        Ok((layout, contents.with(&[order]).of(&old)))
    };
    // SAFETY: as above.
    unsafe { make("MPI_Type_create_darray", newtype, work) }
}

fn distribution(kind: c_int, argument: c_int) -> Result<Distribution> {
    let block = match argument {
        MPI_DISTRIBUTE_DFLT_DARG => None,
        block => Some(at_least("an argument of a distribution", 1, block)?),
    };
    match kind {
        MPI_DISTRIBUTE_NONE => Ok(Distribution::None),
        MPI_DISTRIBUTE_BLOCK => Ok(Distribution::Block(block)),
        MPI_DISTRIBUTE_CYCLIC => Ok(Distribution::Cyclic(block.unwrap_or(1))),
        _ => Err(Error::argument(format!(
            "a distribution is {kind}, and MPI_DISTRIBUTE_NONE, _BLOCK or _CYCLIC is expected"
        ))),
    }
}
