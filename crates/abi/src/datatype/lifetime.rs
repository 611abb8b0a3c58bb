//! Datatypes are committed, duplicated, freed and named.

use std::sync::Arc;

use super::description::{Contents, Description};
use super::object::Type;
use super::table::{self, find};
use crate::constants::*;
use crate::error_handling::{Error, Result, catch};
use crate::handles::Handle;
use crate::strings;
use crate::types::{Datatype, c_char, c_int};

/// `MPI_Type_commit`. Layouts are in normal form from the start.
///
/// # Safety
/// `datatype` may be read.
pub(crate) unsafe fn commit(datatype: *mut Datatype) -> c_int {
    catch("MPI_Type_commit", || {
        // SAFETY: the caller's promise.
        find(unsafe { *datatype })?.commit();
        Ok(())
    })
}

/// `MPI_Type_dup`.
///
/// # Safety
/// `newtype` may be written to.
pub(crate) unsafe fn dup(oldtype: Datatype, newtype: *mut Datatype) -> c_int {
    catch("MPI_Type_dup", || {
        let old = find(oldtype)?;
        let mut copy = duplicate(&old);
        copy.attributes = old.attributes.copies(oldtype.address())?;
        let made = table::insert_type(copy);
        // SAFETY: the caller's promise.
        unsafe { newtype.write(made) };
        Ok(())
    })
}

/// Another datatype that describes the same.
fn duplicate(old: &Type) -> Type {
    let description = &old.description;
    let contents = Contents::new(MPI_COMBINER_DUP).of(description);
    let copy = Type::new(Arc::new(Description {
        kind: description.kind,
        ..Description::made(description.layout.clone(), contents)
    }));
    if old.is_committed() {
        copy.commit();
    }
    copy
}

/// `MPI_Type_free`.
///
/// # Safety
/// `datatype` may be read and written to.
pub(crate) unsafe fn free(datatype: *mut Datatype) -> c_int {
    catch("MPI_Type_free", || {
        // SAFETY: the caller's promise.
        let handle = unsafe { *datatype };
        let found = find(handle)?;
        if found.description.is_permanent() {
            return Err(Error::new(
                MPI_ERR_TYPE,
                "predefined datatypes are not freed",
            ));
        }
        found.attributes.delete_all(handle.address())?;
        table::free(handle);
        // SAFETY: as above.
        unsafe { datatype.write(Datatype::from_address(MPI_DATATYPE_NULL)) };
        Ok(())
    })
}

/// `MPI_Type_set_name`.
///
/// # Safety
/// The name ends with a null character.
pub(crate) unsafe fn set_name(datatype: Datatype, name: *const c_char) -> c_int {
    catch("MPI_Type_set_name", || {
        // SAFETY: the caller's promise.
        find(datatype)?.set_name(unsafe { strings::read(name) });
        Ok(())
    })
}

/// `MPI_Type_get_name`.
///
/// # Safety
/// `name` has room for `MPI_MAX_OBJECT_NAME` characters; `len` may be written to.
pub(crate) unsafe fn get_name(datatype: Datatype, name: *mut c_char, len: *mut c_int) -> c_int {
    catch("MPI_Type_get_name", || {
        let text: Result<String> = match datatype.address() {
            MPI_DATATYPE_NULL => Ok("MPI_DATATYPE_NULL".to_owned()),
            _ => find(datatype).map(|found| found.name()),
        };
        // SAFETY: the caller's promise.
        let written = unsafe { strings::write(&text?, name, MPI_MAX_OBJECT_NAME as usize) };
        // SAFETY: as above.
        unsafe { len.write(written as c_int) };
        Ok(())
    })
}
