//! Attributes of datatypes (MPI 5.0, section 7.7.4).

use super::table::find;
use crate::attribute::{self, Kind};
use crate::error_handling::catch;
use crate::handles::Handle;
use crate::types::{Callback, Datatype, c_int, c_void};

/// `MPI_Type_create_keyval`.
///
/// # Safety
/// The functions have the types that the standard says; the key may be written to.
pub(crate) unsafe fn create_keyval(
    copy: Callback,
    delete: Callback,
    key: *mut c_int,
    state: *mut c_void,
) -> c_int {
    catch("MPI_Type_create_keyval", || {
        // SAFETY: the caller's promise.
        let made = unsafe { attribute::create_key(Kind::Datatype, copy, delete, state) };
        // SAFETY: as above.
        unsafe { key.write(made) };
        Ok(())
    })
}

/// `MPI_Type_free_keyval`.
///
/// # Safety
/// The key may be read and written to.
pub(crate) unsafe fn free_keyval(key: *mut c_int) -> c_int {
    catch("MPI_Type_free_keyval", || {
        // SAFETY: the caller's promise.
        unsafe { attribute::free_key(Kind::Datatype, key) }
    })
}

/// `MPI_Type_set_attr`.
pub(crate) fn set_attr(datatype: Datatype, key: c_int, value: *mut c_void) -> c_int {
    catch("MPI_Type_set_attr", || {
        let found = find(datatype)?;
        (found.attributes).set(Kind::Datatype, datatype.address(), key, value)
    })
}

/// `MPI_Type_delete_attr`.
pub(crate) fn delete_attr(datatype: Datatype, key: c_int) -> c_int {
    catch("MPI_Type_delete_attr", || {
        let found = find(datatype)?;
        (found.attributes).delete(Kind::Datatype, datatype.address(), key)
    })
}

/// `MPI_Type_get_attr`.
///
/// # Safety
/// The flag may be written to, and so may the value, which is a pointer.
pub(crate) unsafe fn get_attr(
    datatype: Datatype,
    key: c_int,
    value: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    catch("MPI_Type_get_attr", || {
        let found = find(datatype)?.attributes.get(Kind::Datatype, key)?;
        // SAFETY: the caller's promise.
        unsafe { flag.write(c_int::from(found.is_some())) };
        if let Some(found) = found {
            // SAFETY: as above.
            unsafe { value.cast::<*mut c_void>().write(found) };
        }
        Ok(())
    })
}
