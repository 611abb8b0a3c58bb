//! Datatypes by the sizes and the precision of numbers (MPI 5.0, sections 19.1.9 and 6.9.4).

use std::sync::Arc;

use super::description::{Contents, Description};
use super::predefined;
use super::table::{self, find};
use crate::constants::*;
use crate::error_handling::{Error, Result, catch};
use crate::handles::Handle;
use crate::types::{Datatype, c_int};

/// Decimal digits and exponents of the predefined floats, and their handles and those of complex numbers.
const FLOATS: [(c_int, c_int, usize, usize); 3] = [
    (6, 37, MPI_REAL, MPI_COMPLEX),
    (15, 307, MPI_DOUBLE_PRECISION, MPI_DOUBLE_COMPLEX),
    (33, 4931, MPI_REAL16, MPI_COMPLEX32),
];

/// Decimal digits of the predefined integers, and their handles.
const INTEGERS: [(c_int, usize); 5] = [
    (2, MPI_INTEGER1),
    (4, MPI_INTEGER2),
    (9, MPI_INTEGER4),
    (18, MPI_INTEGER8),
    (38, MPI_INTEGER16),
];

/// A datatype that is like a predefined one, but for its contents.
///
/// # Safety
/// `newtype` may be written to.
unsafe fn by_precision(
    function: &'static str,
    contents: Contents,
    like: Option<usize>,
    newtype: *mut Datatype,
) -> c_int {
    catch(function, || {
        let made = match (table::made_by(&contents), like) {
            (Some(made), _) => made,
            (None, Some(like)) => make(contents, like)?,
            (None, None) => {
                return Err(Error::argument("no datatype has this precision and range"));
            }
        };
        // SAFETY: the caller's promise.
        unsafe { newtype.write(made) };
        Ok(())
    })
}

fn make(contents: Contents, like: usize) -> Result<Datatype> {
    let named = find(Datatype::from_address(like))?;
    let (combiner, integers) = (contents.combiner, contents.integers.clone());
    let made = table::insert(Arc::new(Description {
        kind: named.description.kind,
        ..Description::made(named.description.layout.clone(), contents)
    }));
    find(made)?.commit();
    let arguments = [integers[0], integers[integers.len() - 1]];
    table::keep_made_by(combiner, arguments, made);
    Ok(made)
}

/// The first float that has the precision and range, if one of them is asked for.
fn float(precision: c_int, range: c_int) -> Option<(usize, usize)> {
    let suffices = |asked: c_int, has| asked == MPI_UNDEFINED || (0..=has).contains(&asked);
    let found = FLOATS
        .iter()
        .find(|row| suffices(precision, row.0) && suffices(range, row.1));
    let is_asked = (precision, range) != (MPI_UNDEFINED, MPI_UNDEFINED);
    found.filter(|_| is_asked).map(|row| (row.2, row.3))
}

/// `MPI_Type_create_f90_real`.
///
/// # Safety
/// `newtype` may be written to.
pub(crate) unsafe fn f90_real(precision: c_int, range: c_int, newtype: *mut Datatype) -> c_int {
    let contents = Contents::new(MPI_COMBINER_F90_REAL).with(&[precision, range]);
    let like = float(precision, range).map(|(real, _)| real);
    // SAFETY: the caller's promise.
    unsafe { by_precision("MPI_Type_create_f90_real", contents, like, newtype) }
}

/// `MPI_Type_create_f90_complex`.
///
/// # Safety
/// `newtype` may be written to.
pub(crate) unsafe fn f90_complex(precision: c_int, range: c_int, newtype: *mut Datatype) -> c_int {
    let contents = Contents::new(MPI_COMBINER_F90_COMPLEX).with(&[precision, range]);
    let like = float(precision, range).map(|(_, complex)| complex);
    // SAFETY: the caller's promise.
    unsafe { by_precision("MPI_Type_create_f90_complex", contents, like, newtype) }
}

/// `MPI_Type_create_f90_integer`.
///
/// # Safety
/// `newtype` may be written to.
pub(crate) unsafe fn f90_integer(range: c_int, newtype: *mut Datatype) -> c_int {
    let contents = Contents::new(MPI_COMBINER_F90_INTEGER).with(&[range]);
    let like = INTEGERS.iter().find(|row| (0..=row.0).contains(&range));
    // SAFETY: the caller's promise.
    unsafe {
        by_precision(
            "MPI_Type_create_f90_integer",
            contents,
            like.map(|row| row.1),
            newtype,
        )
    }
}

/// `MPI_Type_match_size`.
///
/// # Safety
/// `datatype` may be written to.
pub(crate) unsafe fn match_size(class: c_int, size: c_int, datatype: *mut Datatype) -> c_int {
    catch("MPI_Type_match_size", || {
        let handle = match (class, size) {
            (MPI_TYPECLASS_REAL, 2) => MPI_REAL2,
            (MPI_TYPECLASS_REAL, 4) => MPI_REAL4,
            (MPI_TYPECLASS_REAL, 8) => MPI_REAL8,
            (MPI_TYPECLASS_REAL, 16) => MPI_REAL16,
            (MPI_TYPECLASS_COMPLEX, 4) => MPI_COMPLEX4,
            (MPI_TYPECLASS_COMPLEX, 8) => MPI_COMPLEX8,
            (MPI_TYPECLASS_COMPLEX, 16) => MPI_COMPLEX16,
            (MPI_TYPECLASS_COMPLEX, 32) => MPI_COMPLEX32,
            (MPI_TYPECLASS_INTEGER, 1) => MPI_INTEGER1,
            (MPI_TYPECLASS_INTEGER, 2) => MPI_INTEGER2,
            (MPI_TYPECLASS_INTEGER, 4) => MPI_INTEGER4,
            (MPI_TYPECLASS_INTEGER, 8) => MPI_INTEGER8,
            (MPI_TYPECLASS_INTEGER, 16) => MPI_INTEGER16,
            _ => {
                let why = format!("no datatype of class {class} has {size} bytes");
                return Err(Error::argument(why));
            }
        };
        // SAFETY: the caller's promise.
        unsafe { datatype.write(Datatype::from_address(handle)) };
        Ok(())
    })
}

/// `MPI_Type_get_value_index`: null if no pair is predefined for the two datatypes.
///
/// # Safety
/// `pair` may be written to.
pub(crate) unsafe fn value_index(value: Datatype, index: Datatype, pair: *mut Datatype) -> c_int {
    catch("MPI_Type_get_value_index", || {
        find(value)?;
        find(index)?;
        let found = predefined::pair_of(value.address(), index.address());
        // SAFETY: the caller's promise.
        unsafe { pair.write(Datatype::from_address(found.unwrap_or(MPI_DATATYPE_NULL))) };
        Ok(())
    })
}
