//! Error handlers as objects: which one an object holds, and those of the program.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::constants::{
    MPI_ERR_ERRHANDLER, MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN,
};
use crate::error::{Error, Result};
use crate::handles::{Handle, Table};
use crate::types::{Errhandler, c_int};

/// Error handlers that the program has made. They count the places that hold them: handles and communicators.
pub(crate) static HANDLERS: Table<Errhandler, Box<UserHandler>> = Table::always_locked();

pub(crate) struct UserHandler {
    pub(crate) function: HandlerFunction,
    holders: AtomicUsize,
    /// Handles that the program has got and not freed: they hold it, too.
    handles: AtomicUsize,
}

/// A function that handles errors. The first argument points to the handle of the object with the error.
pub(crate) type HandlerFunction = unsafe extern "C" fn(*mut usize, *mut c_int, ...);

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

/// A handle of a function of the program.
pub(crate) fn insert(function: Option<HandlerFunction>) -> Result<Errhandler> {
    let function = function.ok_or_else(|| Error::argument("the function is null"))?;
    Ok(HANDLERS.insert(Box::new(UserHandler {
        function,
        holders: AtomicUsize::new(1),
        handles: AtomicUsize::new(1),
    })))
}

pub(crate) fn check(handler: Errhandler) -> Result<()> {
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

/// The program frees a handle of an error handler.
pub(crate) fn free(handler: Errhandler) {
    if let Some(user) = HANDLERS.find(handler) {
        user.handles.fetch_sub(1, Ordering::Relaxed);
    }
    release(handler);
}

/// The error handlers of which the program has not freed all handles.
pub(crate) fn left() -> Vec<Errhandler> {
    let mut left = HANDLERS.handles();
    left.retain(|&handler| {
        HANDLERS
            .find(handler)
            .is_some_and(|user| user.handles.load(Ordering::Relaxed) > 0)
    });
    left
}

/// Gives a handler to the program, which holds it once more.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn give(held: Errhandler, handler: *mut Errhandler) {
    hold(held);
    if let Some(user) = HANDLERS.find(held) {
        user.handles.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: the caller's promise.
    unsafe { handler.write(held) };
}

/// `MPI_Errhandler_fromint`.
pub(crate) fn from_int(int: c_int) -> Errhandler {
    HANDLERS.handle_of(int)
}
