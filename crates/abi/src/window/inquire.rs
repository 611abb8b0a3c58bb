//! What a program asks about a window: groups, names, hints, error handlers.

use super::calls::on;
use crate::constants::{MPI_MAX_OBJECT_NAME, MPI_WIN_NULL};
use crate::error_handling::{Error, catch, raise_on};
use crate::group;
use crate::handles::Handle;
use crate::info;
use crate::strings;
use crate::types::{Errhandler, Group, Info, Win, c_char, c_int};

/// `MPI_Win_get_group`.
///
/// # Safety
/// The group may be written to.
pub(crate) unsafe fn get_group(win: Win, of: *mut Group) -> c_int {
    on(win, "MPI_Win_get_group", |entry| {
        let processes = entry.raw.comm().process_group();
        // SAFETY: the caller's promise.
        unsafe { of.write(group::insert(processes, entry.session.clone())) };
        Ok(())
    })
}

/// `MPI_Win_set_name`.
///
/// # Safety
/// The name ends with a null character.
pub(crate) unsafe fn set_name(win: Win, name: *const c_char) -> c_int {
    on(win, "MPI_Win_set_name", |entry| {
        // SAFETY: the caller's promise.
        entry.set_name(unsafe { strings::read(name) });
        Ok(())
    })
}

/// `MPI_Win_get_name`.
///
/// # Safety
/// There is room for `MPI_MAX_OBJECT_NAME` characters; the length may be written to.
pub(crate) unsafe fn get_name(win: Win, name: *mut c_char, length: *mut c_int) -> c_int {
    let give = |text: &str| {
        // SAFETY: the caller's promise.
        let written = unsafe { strings::write(text, name, MPI_MAX_OBJECT_NAME as usize) };
        // SAFETY: as above.
        unsafe { length.write(written as c_int) };
        Ok(())
    };
    // The null handle has a name from the start, too (MPI 5.0, section 7.8).
    match win.address() {
        MPI_WIN_NULL => catch("MPI_Win_get_name", || give("MPI_WIN_NULL")),
        _ => on(win, "MPI_Win_get_name", |entry| give(&entry.name())),
    }
}

/// `MPI_Win_set_info`.
pub(crate) fn set_info(win: Win, hints: Info) -> c_int {
    on(win, "MPI_Win_set_info", |entry| {
        let given = info::pairs(hints)?;
        entry.with_hints(|hints| hints.change(&given));
        Ok(())
    })
}

/// `MPI_Win_get_info`.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn get_info(win: Win, hints: *mut Info) -> c_int {
    on(win, "MPI_Win_get_info", |entry| {
        let pairs = entry.with_hints(|hints| hints.pairs());
        // SAFETY: the caller's promise.
        unsafe { hints.write(info::insert(pairs)) };
        Ok(())
    })
}

/// `MPI_Win_set_errhandler`.
pub(crate) fn set_errhandler(win: Win, handler: Errhandler) -> c_int {
    on(win, "MPI_Win_set_errhandler", |entry| {
        entry.errors.set(handler)
    })
}

/// `MPI_Win_get_errhandler`.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn get_errhandler(win: Win, handler: *mut Errhandler) -> c_int {
    on(win, "MPI_Win_get_errhandler", |entry| {
        // SAFETY: the caller's promise.
        unsafe { entry.errors.give(handler) };
        Ok(())
    })
}

/// `MPI_Win_call_errhandler`.
pub(crate) fn call_errhandler(win: Win, code: c_int) -> c_int {
    const FUNCTION: &str = "MPI_Win_call_errhandler";
    on(win, FUNCTION, |entry| {
        let error = Error::new(code, "the program calls the error handler itself");
        let object = (entry.handle(), entry.errors.reaction());
        raise_on(Some(object), FUNCTION, &error);
        Ok(())
    })
}
