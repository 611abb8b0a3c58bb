//! Constructors of datatypes (MPI 5.0, section 5.1.2). Those of `int` and of `MPI_Count` are one function each.

use std::slice;
use std::sync::Arc;

use oxmpi_wire::layout::{self, Block, DatatypeError, Member};

use super::description::{Argument, Contents, Description};
use super::table::{description, handle_of};
use crate::constants::*;
use crate::error_handling::{Error, Result, catch};
use crate::types::{Datatype, c_int};

impl From<DatatypeError> for Error {
    #[cold]
    fn from(error: DatatypeError) -> Self {
        Self::argument(error.to_string())
    }
}

/// The elements of an array of the program.
///
/// # Errors
/// A null pointer to some elements.
///
/// # Safety
/// It has so many elements, and nobody writes to them while the slice lives.
pub(super) unsafe fn array<'a, T>(start: *const T, len: u64) -> Result<&'a [T]> {
    match (start.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Error::argument(format!(
            "an array is null, and {len} elements are expected"
        ))),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { slice::from_raw_parts(start, len as usize) }),
    }
}

/// Runs the work of a constructor, and writes the handle of the datatype that it describes.
///
/// # Safety
/// `newtype` may be written to.
pub(super) unsafe fn make(
    function: &'static str,
    newtype: *mut Datatype,
    work: impl FnOnce() -> Result<(layout::Datatype, Contents)>,
) -> c_int {
    catch(function, || {
        let (layout, contents) = work()?;
        let made = handle_of(Arc::new(Description::made(layout, contents)));
        // SAFETY: the caller's promise.
        unsafe { newtype.write(made) };
        Ok(())
    })
}

/// The length of a block.
fn block_length<N: Argument>(len: N) -> Result<u64> {
    let why = || {
        Error::argument(format!(
            "a block has {len} elements, and at least 0 are expected"
        ))
    };
    len.number().ok_or_else(why)
}

fn blocks<N: Argument, D: Argument>(lens: &[N], displacements: &[D]) -> Result<Vec<Block>> {
    let block = |(&len, place): (&N, &D)| {
        Ok(Block {
            len: block_length(len)?,
            displacement: place.signed(),
        })
    };
    lens.iter().zip(displacements).map(block).collect()
}

/// `MPI_Type_contiguous`.
///
/// # Safety
/// `newtype` may be written to.
pub(crate) unsafe fn contiguous<N: Argument>(
    count: N,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> c_int {
    let work = || {
        let old = description(oldtype)?;
        let layout = old.layout.contiguous(count.checked()?)?;
        let contents = Contents::new(MPI_COMBINER_CONTIGUOUS).with(&[count]);
        Ok((layout, contents.of(&old)))
    };
    // SAFETY: the caller's promise.
    unsafe { make("MPI_Type_contiguous", newtype, work) }
}

/// `MPI_Type_vector`.
///
/// # Safety
/// `newtype` may be written to.
pub(crate) unsafe fn vector<N: Argument>(
    count: N,
    blocklength: N,
    stride: N,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> c_int {
    let work = || {
        let old = description(oldtype)?;
        let (times, len) = (count.checked()?, block_length(blocklength)?);
        let layout = old.layout.vector(times, len, stride.signed())?;
        let contents = Contents::new(MPI_COMBINER_VECTOR).with(&[count, blocklength, stride]);
        Ok((layout, contents.of(&old)))
    };
    // SAFETY: the caller's promise.
    unsafe { make("MPI_Type_vector", newtype, work) }
}

/// `MPI_Type_create_hvector`.
///
/// # Safety
/// `newtype` may be written to.
pub(crate) unsafe fn hvector<N: Argument, D: Argument>(
    count: N,
    blocklength: N,
    stride: D,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> c_int {
    let work = || {
        let old = description(oldtype)?;
        let (times, len) = (count.checked()?, block_length(blocklength)?);
        let layout = old.layout.hvector(times, len, stride.signed())?;
        let contents = Contents::new(MPI_COMBINER_HVECTOR).with(&[count, blocklength]);
        Ok((layout, contents.with(&[stride]).of(&old)))
    };
    // SAFETY: the caller's promise.
    unsafe { make("MPI_Type_create_hvector", newtype, work) }
}

/// Whether displacements count extents or bytes.
#[derive(Clone, Copy)]
enum Unit {
    Extents,
    Bytes,
}

/// Blocks of different lengths.
///
/// # Safety
/// Both arrays have `count` elements; `newtype` may be written to.
unsafe fn indexed_by<N: Argument, D: Argument>(
    unit: Unit,
    (count, blocklengths, displacements): (N, *const N, *const D),
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> c_int {
    let (function, combiner) = match unit {
        Unit::Extents => ("MPI_Type_indexed", MPI_COMBINER_INDEXED),
        Unit::Bytes => ("MPI_Type_create_hindexed", MPI_COMBINER_HINDEXED),
    };
    let work = || {
        let (old, times) = (description(oldtype)?, count.checked()?);
        // SAFETY: the caller's promise.
        let lens = unsafe { array(blocklengths, times) }?;
        // SAFETY: as above.
        let places = unsafe { array(displacements, times) }?;
        let blocks = blocks(lens, places)?;
        let layout = match unit {
            Unit::Extents => old.layout.indexed(&blocks)?,
            Unit::Bytes => old.layout.hindexed(&blocks)?,
        };
        let contents = Contents::new(combiner).with(&[count]).with(lens);
        Ok((layout, contents.with(places).of(&old)))
    };
    // SAFETY: as above.
    unsafe { make(function, newtype, work) }
}

/// `MPI_Type_indexed`.
///
/// # Safety
/// Both arrays have `count` elements; `newtype` may be written to.
pub(crate) unsafe fn indexed<N: Argument>(
    count: N,
    blocklengths: *const N,
    displacements: *const N,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> c_int {
    let arrays = (count, blocklengths, displacements);
    // SAFETY: the caller's promise.
    unsafe { indexed_by(Unit::Extents, arrays, oldtype, newtype) }
}

/// `MPI_Type_create_hindexed`.
///
/// # Safety
/// As [`indexed`].
pub(crate) unsafe fn hindexed<N: Argument, D: Argument>(
    count: N,
    blocklengths: *const N,
    displacements: *const D,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> c_int {
    let arrays = (count, blocklengths, displacements);
    // SAFETY: the caller's promise.
    unsafe { indexed_by(Unit::Bytes, arrays, oldtype, newtype) }
}

/// Blocks of one length.
///
/// # Safety
/// The array has `count` elements; `newtype` may be written to.
unsafe fn blocks_by<N: Argument, D: Argument>(
    unit: Unit,
    (count, blocklength, displacements): (N, N, *const D),
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> c_int {
    let (function, combiner) = match unit {
        Unit::Extents => ("MPI_Type_create_indexed_block", MPI_COMBINER_INDEXED_BLOCK),
        Unit::Bytes => (
            "MPI_Type_create_hindexed_block",
            MPI_COMBINER_HINDEXED_BLOCK,
        ),
    };
    let work = || {
        let (old, len) = (description(oldtype)?, block_length(blocklength)?);
        // SAFETY: the caller's promise.
        let places = unsafe { array(displacements, count.checked()?) }?;
        let wide: Vec<i64> = places.iter().map(|place| place.signed()).collect();
        let layout = match unit {
            Unit::Extents => old.layout.indexed_block(len, &wide)?,
            Unit::Bytes => old.layout.hindexed_block(len, &wide)?,
        };
        let contents = Contents::new(combiner).with(&[count, blocklength]);
        Ok((layout, contents.with(places).of(&old)))
    };
    // SAFETY: as above.
    unsafe { make(function, newtype, work) }
}

/// `MPI_Type_create_indexed_block`.
///
/// # Safety
/// The array has `count` elements; `newtype` may be written to.
pub(crate) unsafe fn indexed_block<N: Argument>(
    count: N,
    blocklength: N,
    displacements: *const N,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> c_int {
    let blocks = (count, blocklength, displacements);
    // SAFETY: the caller's promise.
    unsafe { blocks_by(Unit::Extents, blocks, oldtype, newtype) }
}

/// `MPI_Type_create_hindexed_block`.
///
/// # Safety
/// As [`indexed_block`].
pub(crate) unsafe fn hindexed_block<N: Argument, D: Argument>(
    count: N,
    blocklength: N,
    displacements: *const D,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> c_int {
    let blocks = (count, blocklength, displacements);
    // SAFETY: the caller's promise.
    unsafe { blocks_by(Unit::Bytes, blocks, oldtype, newtype) }
}

/// `MPI_Type_create_struct`.
///
/// # Safety
/// The arrays have `count` elements; `newtype` may be written to.
pub(crate) unsafe fn structure<N: Argument, D: Argument>(
    count: N,
    blocklengths: *const N,
    displacements: *const D,
    types: *const Datatype,
    newtype: *mut Datatype,
) -> c_int {
    let work = || {
        let times = count.checked()?;
        // SAFETY: the caller's promise.
        let lens = unsafe { array(blocklengths, times) }?;
        // SAFETY: as above.
        let places = unsafe { array(displacements, times) }?;
        // SAFETY: as above.
        let types = unsafe { array(types, times) }?;
        let types: Vec<_> = types
            .iter()
            .map(|&one| description(one))
            .collect::<Result<_>>()?;
        let blocks = blocks(lens, places)?;
        let blocks = blocks.iter().zip(&types);
        let members: Vec<_> = blocks
            .map(|(&Block { len, displacement }, member)| Member {
                len,
                displacement,
                datatype: &member.layout,
            })
            .collect();
        let layout = layout::Datatype::structure(&members)?;
        let contents = Contents::new(MPI_COMBINER_STRUCT).with(&[count]).with(lens);
        Ok((
            layout,
            Contents {
                types,
                ..contents.with(places)
            },
        ))
    };
    // SAFETY: as above.
    unsafe { make("MPI_Type_create_struct", newtype, work) }
}

/// `MPI_Type_create_resized`.
///
/// # Safety
/// `newtype` may be written to.
pub(crate) unsafe fn resized<D: Argument>(
    oldtype: Datatype,
    lower_bound: D,
    extent: D,
    newtype: *mut Datatype,
) -> c_int {
    let work = || {
        let old = description(oldtype)?;
        let layout = old.layout.resized(lower_bound.signed(), extent.signed())?;
        let contents = Contents::new(MPI_COMBINER_RESIZED).with(&[lower_bound, extent]);
        Ok((layout, contents.of(&old)))
    };
    // SAFETY: the caller's promise.
    unsafe { make("MPI_Type_create_resized", newtype, work) }
}
