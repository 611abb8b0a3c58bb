//! Errors of calls: their codes, their texts, and the error handlers that they are raised on (MPI 5.0, chapter 9).

mod classes;
mod codes;
mod handlers;

use std::borrow::Cow;
use std::fmt::Display;

pub(crate) use classes::{class_of_core, name as class_name};
pub(crate) use codes::{
    add_class, add_code, add_string, error_class, error_string, last_used, remove_class,
    remove_code, remove_string,
};
pub(crate) use handlers::{
    Handler, call, comm_get, comm_set, create, errhandler_from_int, free, give,
};

use crate::communicator::{self, Entry};
use crate::constants::{
    MPI_COMM_SELF, MPI_COMM_WORLD, MPI_ERR_ARG, MPI_ERR_COUNT, MPI_ERR_RANK, MPI_ERR_TAG,
    MPI_ERRORS_ARE_FATAL, MPI_SUCCESS,
};
use crate::handles::Handle;
use crate::types::{Comm, Errhandler, c_int};

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Error {
    /// The error code.
    pub(crate) code: c_int,
    /// What happened.
    why: Cow<'static, str>,
}

/// The result of a call's work.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(code: c_int, why: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            why: why.into(),
        }
    }

    /// An argument that is wrong, where no other class says more.
    pub(crate) fn argument(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(MPI_ERR_ARG, why)
    }

    /// A handle that names no object.
    pub(crate) fn handle(code: c_int, what: &str, handle: impl Handle) -> Self {
        let address = handle.address();
        Self::new(
            code,
            format!(
                "{address:#x} is no valid {what}: it is null, was freed, or is of another kind"
            ),
        )
    }

    /// A negative count.
    pub(crate) fn count(count: impl Display) -> Self {
        Self::new(
            MPI_ERR_COUNT,
            format!("the count is {count}, and at least 0 is expected"),
        )
    }
}

impl From<oxmpi_core::Error> for Error {
    #[cold]
    fn from(error: oxmpi_core::Error) -> Self {
        use oxmpi_core::Error as Core;
        match error {
            // Ranks and tags of a C program are signed.
            Core::Rank { rank, named, size } if named > i32::MAX as usize => Self::new(
                MPI_ERR_RANK,
                format!(
                    "rank {rank} named rank {}, but the communicator has ranks 0 to {}",
                    named as i32,
                    size - 1
                ),
            ),
            Core::Tag { rank, tag } if tag > i32::MAX as u32 => Self::new(
                MPI_ERR_TAG,
                format!("rank {rank} used tag {}, but tags begin at 0", tag as i32),
            ),
            Core::GroupRank { named, size } if named > i32::MAX as usize => Self::new(
                MPI_ERR_RANK,
                format!(
                    "rank {} of a group was named, but the group has {size} ranks",
                    named as i32
                ),
            ),
            error => Self::new(class_of_core(error.class()), error.to_string()),
        }
    }
}

/// Runs the work of a call on a communicator, and raises its error there.
#[inline]
pub(crate) fn on(
    comm: Comm,
    function: &'static str,
    work: impl FnOnce(&Entry) -> Result<()>,
) -> c_int {
    match communicator::find(comm) {
        Some(entry) => match work(entry) {
            Ok(()) => MPI_SUCCESS,
            Err(error) => raise(Some(entry), function, error),
        },
        None => raise(None, function, communicator::no_such(comm)),
    }
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
    let predefined = |address| communicator::find(Comm::from_address(address));
    let is_set = |entry: &&Entry| entry.handler().address() != MPI_ERRORS_ARE_FATAL;
    let own = || predefined(MPI_COMM_SELF).filter(is_set);
    let object = (on.or_else(own)).or_else(|| predefined(MPI_COMM_WORLD));
    let object = object.map(|entry| (entry.handle(), entry.handler()));
    raise_on(object, function, &error)
}

/// Raises an error on the error handler of the object with this handle; `None`: there is no object yet, or any more.
#[cold]
pub(crate) fn raise_on(
    object: Option<(usize, Errhandler)>,
    function: &'static str,
    error: &Error,
) -> c_int {
    handlers::handle(object, function, error);
    error.code
}
