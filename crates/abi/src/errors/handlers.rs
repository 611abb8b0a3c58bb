//! Error handlers (MPI 5.0, section 9.3).

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Error, Result, catch, class_name, codes, on};
use crate::communicator;
use crate::constants::{
    MPI_ERR_ERRHANDLER, MPI_ERRHANDLER_NULL, MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL,
    MPI_ERRORS_RETURN,
};
use crate::handles::{Handle, Table};
use crate::process;
use crate::types::{Callback, Comm, Errhandler, c_int};

/// Error handlers that the program has made. They count the places that hold them: handles and communicators.
static HANDLERS: Table<Errhandler, Box<UserHandler>> = Table::always_locked();

struct UserHandler {
    function: HandlerFunction,
    holders: AtomicUsize,
}

/// A function that handles errors. The first argument points to the handle of the object with the error.
type HandlerFunction = unsafe extern "C" fn(*mut usize, *mut c_int, ...);

/// The error handler that an object holds.
pub(crate) struct Handler(AtomicUsize);

impl Handler {
    /// A predefined handler, or one that is held once more.
    pub(crate) fn new(handler: Errhandler) -> Self {
        hold(handler);
        Self(AtomicUsize::new(handler.address()))
    }

    pub(crate) fn get(&self) -> Errhandler {
        Errhandler::from_address(self.0.load(Ordering::Relaxed))
    }

    /// Replaces the handler.
    pub(crate) fn set(&self, handler: Errhandler) -> Result<()> {
        check(handler)?;
        hold(handler);
        release(Errhandler::from_address(
            self.0.swap(handler.address(), Ordering::Relaxed),
        ));
        Ok(())
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        release(self.get());
    }
}

fn check(handler: Errhandler) -> Result<()> {
    match handler.address() {
        MPI_ERRORS_ARE_FATAL | MPI_ERRORS_ABORT | MPI_ERRORS_RETURN => Ok(()),
        _ if HANDLERS.find(handler).is_some() => Ok(()),
        _ => Err(Error::handle(MPI_ERR_ERRHANDLER, "error handler", handler)),
    }
}

fn hold(handler: Errhandler) {
    if let Some(user) = HANDLERS.find(handler) {
        user.holders.fetch_add(1, Ordering::Relaxed);
    }
}

fn release(handler: Errhandler) {
    if let Some(user) = HANDLERS.find(handler)
        && user.holders.fetch_sub(1, Ordering::Relaxed) == 1
    {
        HANDLERS.remove(handler);
    }
}

/// Handles an error of an object with this handle and handler; without one the process has not started, or has ended.
pub(super) fn handle(object: Option<(usize, Errhandler)>, function: &'static str, error: &Error) {
    let Some((mut object, handler)) = object else {
        return process::abort_for(error.code, &describe(None, function, error));
    };
    match handler.address() {
        MPI_ERRORS_RETURN => {}
        MPI_ERRORS_ARE_FATAL | MPI_ERRORS_ABORT => {
            process::abort_for(error.code, &describe(Some(object), function, error));
        }
        _ => {
            if let Some(user) = HANDLERS.find(handler) {
                let (call, mut code) = (user.function, error.code);
                // SAFETY: the program gave a function of this type. Nothing of the library is borrowed meanwhile.
                unsafe { call(&raw mut object, &raw mut code) };
            }
        }
    }
}

fn describe(object: Option<usize>, function: &str, error: &Error) -> String {
    let class = class_name(codes::class(error.code)).unwrap_or("an error class of the program");
    let rank = process::world_rank().map_or(String::new(), |rank| format!("rank {rank}: "));
    let name = object.and_then(|address| communicator::name_of(Comm::from_address(address)));
    let name = name.map_or(String::new(), |name| format!(" on {name}"));
    format!("{rank}{function}{name}: {} ({class})", error.why)
}

/// `MPI_Comm_create_errhandler`, and those of sessions, windows and files.
///
/// # Safety
/// The function has the type that the standard says; the handle may be written to.
pub(crate) unsafe fn create(function: Callback, handler: *mut Errhandler) -> c_int {
    // SAFETY: the caller's promise. A null pointer gives `None`.
    let function: Option<HandlerFunction> = unsafe { std::mem::transmute(function) };
    catch("MPI_Comm_create_errhandler", || {
        let function = function.ok_or_else(|| Error::argument("the function is null"))?;
        let made = HANDLERS.insert(Box::new(UserHandler {
            function,
            holders: AtomicUsize::new(1),
        }));
        // SAFETY: the caller's promise.
        unsafe { handler.write(made) };
        Ok(())
    })
}

/// `MPI_Comm_set_errhandler`.
pub(crate) fn comm_set(comm: Comm, handler: Errhandler) -> c_int {
    on(comm, "MPI_Comm_set_errhandler", |entry| {
        entry.errors.set(handler)
    })
}

/// Gives a handler to the program, which holds it once more.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn give(held: Errhandler, handler: *mut Errhandler) {
    hold(held);
    // SAFETY: the caller's promise.
    unsafe { handler.write(held) };
}

/// `MPI_Comm_get_errhandler`.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn comm_get(comm: Comm, handler: *mut Errhandler) -> c_int {
    on(comm, "MPI_Comm_get_errhandler", |entry| {
        // SAFETY: the caller's promise.
        unsafe { give(entry.errors.get(), handler) };
        Ok(())
    })
}

/// `MPI_Comm_call_errhandler`.
pub(crate) fn call(comm: Comm, code: c_int) -> c_int {
    const FUNCTION: &str = "MPI_Comm_call_errhandler";
    on(comm, FUNCTION, |entry| {
        let error = Error::new(code, "the program calls the error handler itself");
        handle(Some((entry.handle(), entry.errors.get())), FUNCTION, &error);
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
        check(held)?;
        release(held);
        // SAFETY: the caller's promise.
        unsafe { handler.write(Errhandler::from_address(MPI_ERRHANDLER_NULL)) };
        Ok(())
    })
}

/// `MPI_Errhandler_fromint`.
pub(crate) fn errhandler_from_int(int: c_int) -> Errhandler {
    HANDLERS.handle_of(int)
}
