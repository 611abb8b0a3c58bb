//! Attributes of datatypes (MPI 5.0, section 7.7.4).

use super::table::find;
use crate::attribute::Kind;
use crate::error_handling::catch;
use crate::handles::Handle;
use crate::keyval_calls::keyval_calls;
use crate::types::{Datatype, c_int, c_void};

keyval_calls! { Datatype "MPI_Type_create_keyval" "MPI_Type_free_keyval" }

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
