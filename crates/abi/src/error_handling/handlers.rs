//! Error handlers (MPI 5.0, section 9.3).

use super::{Error, catch, codes, on};
use crate::comm_table;
use crate::constants::MPI_ERRHANDLER_NULL;
use crate::errhandler_table::{self, HandlerFunction, Reaction};
use crate::error::class_name;
use crate::handles::Handle;
use crate::membership;
use crate::types::{Callback, Comm, Errhandler, Win, c_int};
use crate::window_table;

/// Handles an error of an object with this handle and handler; without one the process has not started, or has ended.
pub(super) fn handle(object: Option<(usize, Reaction)>, function: &'static str, error: &Error) {
    let Some((mut object, reaction)) = object else {
        return membership::abort_for(error.code, &describe(None, function, error));
    };
    match reaction {
        Reaction::Return => {}
        Reaction::EndJob => {
            membership::abort_for(error.code, &describe(Some(object), function, error));
        }
        Reaction::Call(user) => {
            let mut code = error.code;
            // SAFETY: the program gave a function of this type. Nothing of the library is borrowed meanwhile.
            unsafe { user(&raw mut object, &raw mut code) };
        }
    }
}

fn describe(object: Option<usize>, function: &str, error: &Error) -> String {
    let class = class_name(codes::class(error.code)).unwrap_or("an error class of the program");
    let rank = membership::world_rank().map_or(String::new(), |rank| format!("rank {rank}: "));
    let name = object.and_then(|address| {
        let comm = comm_table::name_of(Comm::from_address(address));
        comm.or_else(|| window_table::name_of(Win::from_address(address)))
    });
    let name = name.map_or(String::new(), |name| format!(" on {name}"));
    format!("{rank}{function}{name}: {} ({class})", error.why)
}

/// Defines the calls that create error handlers, for each kind of object.
macro_rules! creations {
    ($($name:ident $of:literal)*) => {
        $(
            /// # Safety
            /// The function has the type that the standard says; the handle may be written to.
            pub(crate) unsafe fn $name(function: Callback, handler: *mut Errhandler) -> c_int {
                // SAFETY: the caller's promise. A null pointer gives `None`.
                let function: Option<HandlerFunction> = unsafe { std::mem::transmute(function) };
                catch($of, || {
                    let made = errhandler_table::insert(function)?;
                    // SAFETY: the caller's promise.
                    unsafe { handler.write(made) };
                    Ok(())
                })
            }
        )*
    };
}

creations! {
    comm_create "MPI_Comm_create_errhandler"
    session_create "MPI_Session_create_errhandler"
    win_create "MPI_Win_create_errhandler"
    file_create "MPI_File_create_errhandler"
}

/// `MPI_Comm_set_errhandler`.
pub(crate) fn comm_set(comm: Comm, handler: Errhandler) -> c_int {
    on(comm, "MPI_Comm_set_errhandler", |entry| {
        entry.errors.set(handler)
    })
}

/// `MPI_Comm_get_errhandler`.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn comm_get(comm: Comm, handler: *mut Errhandler) -> c_int {
    on(comm, "MPI_Comm_get_errhandler", |entry| {
        // SAFETY: the caller's promise.
        unsafe { entry.errors.give(handler) };
        Ok(())
    })
}

/// `MPI_Comm_call_errhandler`.
pub(crate) fn call(comm: Comm, code: c_int) -> c_int {
    const FUNCTION: &str = "MPI_Comm_call_errhandler";
    on(comm, FUNCTION, |entry| {
        let error = Error::new(code, "the program calls the error handler itself");
        let object = (entry.handle(), entry.errors.reaction());
        handle(Some(object), FUNCTION, &error);
        Ok(())
    })
}

/// `MPI_Errhandler_free`.
///
/// # Safety
/// The handle may be read and written to.
pub(crate) unsafe fn free(handler: *mut Errhandler) -> c_int {
    // SAFETY: the caller's promise.
    let held = unsafe { *handler };
    catch("MPI_Errhandler_free", || {
        errhandler_table::free(held)?;
        // SAFETY: the caller's promise.
        unsafe { handler.write(Errhandler::from_address(MPI_ERRHANDLER_NULL)) };
        Ok(())
    })
}
