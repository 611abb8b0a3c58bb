//! Attributes of windows (MPI 5.0, sections 7.7.3 and 12.2.6).

use super::calls::on;
use crate::attribute::Kind;
use crate::constants::{
    MPI_WIN_BASE, MPI_WIN_CREATE_FLAVOR, MPI_WIN_DISP_UNIT, MPI_WIN_MODEL, MPI_WIN_SIZE,
};
use crate::keyval_calls::keyval_calls;
use crate::types::{Win, c_int, c_void};
use crate::window_table::Entry;

keyval_calls! { Window "MPI_Win_create_keyval" "MPI_Win_free_keyval" }

/// `MPI_Win_set_attr`.
pub(crate) fn set_attr(win: Win, key: c_int, value: *mut c_void) -> c_int {
    on(win, "MPI_Win_set_attr", |entry| {
        (entry.attributes).set(Kind::Window, entry.handle(), key, value)
    })
}

/// `MPI_Win_delete_attr`.
pub(crate) fn delete_attr(win: Win, key: c_int) -> c_int {
    on(win, "MPI_Win_delete_attr", |entry| {
        (entry.attributes).delete(Kind::Window, entry.handle(), key)
    })
}

/// `MPI_Win_get_attr`.
///
/// # Safety
/// The flag may be written to, and so may the value, which is a pointer.
pub(crate) unsafe fn get_attr(win: Win, key: c_int, value: *mut c_void, flag: *mut c_int) -> c_int {
    on(win, "MPI_Win_get_attr", |entry| {
        let found = match predefined(entry, key) {
            Some(place) => Some(place),
            None => entry.attributes.get(Kind::Window, key)?,
        };
        // SAFETY: the caller's promise.
        unsafe { flag.write(c_int::from(found.is_some())) };
        if let Some(found) = found {
            // SAFETY: as above.
            unsafe { value.cast::<*mut c_void>().write(found) };
        }
        Ok(())
    })
}

/// The value of a predefined attribute, which all but the base is a place with the value.
fn predefined(entry: &Entry, key: c_int) -> Option<*mut c_void> {
    let facts = &entry.facts;
    let place = |number: &c_int| std::ptr::from_ref(number).cast_mut().cast();
    Some(match key {
        MPI_WIN_BASE => std::ptr::with_exposed_provenance_mut(facts.base),
        MPI_WIN_SIZE => std::ptr::from_ref(&facts.size).cast_mut().cast(),
        MPI_WIN_DISP_UNIT => place(&facts.unit),
        MPI_WIN_CREATE_FLAVOR => place(&facts.flavor),
        MPI_WIN_MODEL => place(&facts.model),
        _ => return None,
    })
}
