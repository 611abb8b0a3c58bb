//! Running the work of calls on windows, and raising their errors.

use crate::constants::{MPI_ERR_WIN, MPI_SUCCESS};
use crate::error_handling::{self, Error, Result};
use crate::types::{Win, c_int};
use crate::window_table::{Entry, find};

/// What a call on a window returns.
#[inline(always)]
pub(super) fn ended(
    entry: &Entry,
    function: &'static str,
    result: oxmpi_core::Result<()>,
) -> c_int {
    match result {
        Ok(()) => MPI_SUCCESS,
        Err(error) => raise(entry, function, &error.into()),
    }
}

/// Runs the work of a call on a window, and raises its error there.
#[inline]
pub(super) fn on(
    win: Win,
    function: &'static str,
    work: impl FnOnce(&Entry) -> Result<()>,
) -> c_int {
    match find(win) {
        Some(entry) => match work(entry) {
            Ok(()) => MPI_SUCCESS,
            Err(error) => raise(entry, function, &error),
        },
        None => no_window(win, function),
    }
}

#[cold]
#[inline(never)]
fn raise(entry: &Entry, function: &'static str, error: &Error) -> c_int {
    let object = (entry.handle(), entry.errors.reaction());
    error_handling::raise_on(Some(object), function, error)
}

#[cold]
#[inline(never)]
fn no_window(win: Win, function: &'static str) -> c_int {
    error_handling::raise(None, function, Error::handle(MPI_ERR_WIN, "window", win))
}
