//! Errors of calls: their codes, their texts, and the error handlers that they are raised on (MPI 5.0, chapter 9).

mod codes;
mod handlers;

pub(crate) use crate::error::{Error, Result};
pub(crate) use codes::{
    add_class, add_code, add_string, error_class, error_string, last_used, remove_class,
    remove_code, remove_string,
};
pub(crate) use handlers::{
    call, comm_create, comm_get, comm_set, file_create, free, session_create, win_create,
};

use crate::comm_table::{self, Entry};
use crate::constants::{MPI_COMM_SELF, MPI_COMM_WORLD, MPI_SUCCESS};
use crate::errhandler_table::Reaction;
use crate::handles::Handle;
use crate::types::{Comm, c_int};

/// Runs the work of a call on a communicator, and raises its error there.
#[inline]
pub(crate) fn on(
    comm: Comm,
    function: &'static str,
    work: impl FnOnce(&Entry) -> Result<()>,
) -> c_int {
    match comm_table::find(comm) {
        Some(entry) => match work(entry) {
            Ok(()) => MPI_SUCCESS,
            Err(error) => raise(Some(entry), function, error),
        },
        None => no_communicator(comm, function),
    }
}

#[cold]
#[inline(never)]
fn no_communicator(comm: Comm, function: &'static str) -> c_int {
    raise(None, function, comm_table::no_such(comm))
}

/// Runs the work of a call that concerns no communicator.
pub(crate) fn catch(function: &'static str, work: impl FnOnce() -> Result<()>) -> c_int {
    match work() {
        Ok(()) => MPI_SUCCESS,
        Err(error) => raise(None, function, error),
    }
}

/// Raises an error on the error handler of a communicator; of `MPI_COMM_SELF`, where the call concerns none. A program of
/// MPI 3.1 or before sets that of `MPI_COMM_WORLD` for such errors, so it counts where that of `MPI_COMM_SELF` is the
/// initial one.
#[cold]
#[inline(never)]
pub(crate) fn raise(on: Option<&Entry>, function: &'static str, error: Error) -> c_int {
    let predefined = |address| comm_table::find(Comm::from_address(address));
    let is_set = |entry: &&Entry| !entry.errors.is_fatal();
    let own = || predefined(MPI_COMM_SELF).filter(is_set);
    let object = (on.or_else(own)).or_else(|| predefined(MPI_COMM_WORLD));
    let object = object.map(|entry| (entry.handle(), entry.errors.reaction()));
    raise_on(object, function, &error)
}

/// Raises an error on the error handler of the object with this handle; `None`: there is no object yet, or any more.
#[cold]
pub(crate) fn raise_on(
    object: Option<(usize, Reaction)>,
    function: &'static str,
    error: &Error,
) -> c_int {
    handlers::handle(object, function, error);
    error.code
}
