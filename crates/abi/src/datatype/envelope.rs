//! How a datatype was made: `MPI_Type_get_envelope` and `MPI_Type_get_contents` (MPI 5.0, section 5.1.13).

use std::sync::Arc;

use super::description::{Contents, Description, Origin};
use super::table::{description, handle_of};
use crate::constants::{MPI_COMBINER_NAMED, MPI_ERR_TYPE};
use crate::counts::Counting;
use crate::error_handling::{Error, Result, catch};
use crate::types::{Aint, Count, Datatype, c_int};

/// Numbers of integers, addresses, large counts and datatypes, and the combiner.
fn envelope(datatype: Datatype) -> Result<([usize; 4], c_int)> {
    Ok(match &description(datatype)?.origin {
        Origin::Named(..) => ([0; 4], MPI_COMBINER_NAMED),
        Origin::Made(contents) => {
            let Contents {
                integers,
                addresses,
                counts,
                types,
                ..
            } = contents;
            let lens = [integers.len(), addresses.len(), counts.len(), types.len()];
            (lens, contents.combiner)
        }
    })
}

/// The error of a call that has no room for counts of 64 bits.
fn made_of_large_counts<T>() -> Result<T> {
    let why = "the datatype was made with arguments of type MPI_Count: use the function whose name ends in _c";
    Err(Error::new(MPI_ERR_TYPE, why))
}

/// `MPI_Type_get_envelope`.
///
/// # Safety
/// All results may be written to.
pub(crate) unsafe fn get_envelope(
    datatype: Datatype,
    integers: *mut c_int,
    addresses: *mut c_int,
    types: *mut c_int,
    combiner: *mut c_int,
) -> c_int {
    catch("MPI_Type_get_envelope", || {
        let (lens, kind) = envelope(datatype)?;
        if lens[2] > 0 {
            return made_of_large_counts();
        }
        // SAFETY: the caller's promise.
        unsafe { write([integers, addresses, types], [lens[0], lens[1], lens[3]]) };
        // SAFETY: as above.
        unsafe { combiner.write(kind) };
        Ok(())
    })
}

/// `MPI_Type_get_envelope_c`.
///
/// # Safety
/// As [`get_envelope`].
pub(crate) unsafe fn get_envelope_large(
    datatype: Datatype,
    integers: *mut Count,
    addresses: *mut Count,
    counts: *mut Count,
    types: *mut Count,
    combiner: *mut c_int,
) -> c_int {
    catch("MPI_Type_get_envelope_c", || {
        let (lens, kind) = envelope(datatype)?;
        // SAFETY: the caller's promise.
        unsafe { write([integers, addresses, counts, types], lens) };
        // SAFETY: as above.
        unsafe { combiner.write(kind) };
        Ok(())
    })
}

/// # Safety
/// All places may be written to.
unsafe fn write<N: Counting, const LEN: usize>(to: [*mut N; LEN], lens: [usize; LEN]) {
    for (to, len) in to.into_iter().zip(lens) {
        let len = N::of(len as u64).unwrap_or(N::UNDEFINED);
        // SAFETY: the caller's promise.
        unsafe { to.write(len) };
    }
}

/// `MPI_Type_get_contents`.
///
/// # Safety
/// The arrays have room for as many elements as is said.
pub(crate) unsafe fn get_contents(
    datatype: Datatype,
    max_integers: c_int,
    max_addresses: c_int,
    max_types: c_int,
    integers: *mut c_int,
    addresses: *mut Aint,
    types: *mut Datatype,
) -> c_int {
    catch("MPI_Type_get_contents", || {
        contents(datatype, |contents| {
            if !contents.counts.is_empty() {
                return made_of_large_counts();
            }
            // SAFETY: the caller's promise.
            unsafe { give(&contents.integers, max_integers, integers) }?;
            // SAFETY: as above.
            unsafe { give(&contents.addresses, max_addresses, addresses) }?;
            // SAFETY: as above.
            unsafe { give_types(&contents.types, max_types, types) }
        })
    })
}

/// `MPI_Type_get_contents_c`.
///
/// # Safety
/// As [`get_contents`].
#[expect(clippy::too_many_arguments, reason = "the call has so many")]
pub(crate) unsafe fn get_contents_large(
    datatype: Datatype,
    max_integers: Count,
    max_addresses: Count,
    max_counts: Count,
    max_types: Count,
    integers: *mut c_int,
    addresses: *mut Aint,
    counts: *mut Count,
    types: *mut Datatype,
) -> c_int {
    catch("MPI_Type_get_contents_c", || {
        contents(datatype, |contents| {
            // SAFETY: the caller's promise.
            unsafe { give(&contents.integers, max_integers, integers) }?;
            // SAFETY: as above.
            unsafe { give(&contents.addresses, max_addresses, addresses) }?;
            // SAFETY: as above.
            unsafe { give(&contents.counts, max_counts, counts) }?;
            // SAFETY: as above.
            unsafe { give_types(&contents.types, max_types, types) }
        })
    })
}

fn contents(datatype: Datatype, with: impl FnOnce(&Contents) -> Result<()>) -> Result<()> {
    match &description(datatype)?.origin {
        Origin::Named(..) => Err(Error::new(
            MPI_ERR_TYPE,
            "predefined datatypes have no contents",
        )),
        Origin::Made(contents) => with(contents),
    }
}

/// Whether there is room for all.
fn check<N: Counting>(len: usize, room: N) -> Result<()> {
    match room.number() {
        Some(room) if room >= len as u64 => Ok(()),
        _ => Err(Error::argument(format!(
            "there is room for {room} arguments, and {len} are expected: MPI_Type_get_envelope tells how many"
        ))),
    }
}

/// # Safety
/// `to` has room for as many elements as is said.
unsafe fn give<T: Copy, N: Counting>(from: &[T], room: N, to: *mut T) -> Result<()> {
    check(from.len(), room)?;
    if !from.is_empty() {
        // SAFETY: the caller's promise; the vector is none of the program's memory.
        unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
    }
    Ok(())
}

/// Gives handles of the datatypes that another one was made of: of new datatypes, where the program made them.
///
/// # Safety
/// As [`give`].
unsafe fn give_types<N: Counting>(
    from: &[Arc<Description>],
    room: N,
    to: *mut Datatype,
) -> Result<()> {
    check(from.len(), room)?;
    let handles: Vec<_> = from.iter().map(|one| handle_of(Arc::clone(one))).collect();
    // SAFETY: the caller's promise.
    unsafe { give(&handles, room, to) }
}
