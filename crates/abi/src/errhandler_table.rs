//! Error handlers as objects: which one an object holds, and those of the program.

use std::sync::atomic::{AtomicUsize, Ordering};

use oxmpi_wire::slab::Slab;

use crate::constants::{
    MPI_ERR_ERRHANDLER, MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN,
};
use crate::error::{Error, Result};
use crate::handles::{Handle, Table, slab_handle};
use crate::types::{Errhandler, c_int};

/// Error handlers that the program has made. Objects change the handler that they hold while the table is locked, so none goes
/// between the moment in which a thread reads which one it is and that in which it is held once more, or its function copied.
static HANDLERS: Table<Errhandler, UserHandler> = Table::always_locked();

struct UserHandler {
    function: HandlerFunction,
    /// How many places hold it: objects, and the program for each handle.
    holders: usize,
    /// Handles that the program has got and not freed.
    handles: usize,
}

/// A function that handles errors. The first argument points to the handle of the object with the error.
pub(crate) type HandlerFunction = unsafe extern "C" fn(*mut usize, *mut c_int, ...);

/// What an error handler does.
#[derive(Clone, Copy)]
pub(crate) enum Reaction {
    /// The call returns the error.
    Return,
    /// The job ends.
    EndJob,
    /// A function of the program is called. It may free the handler, or set another one.
    Call(HandlerFunction),
}

/// The error handler that an object holds. A clone holds it once more.
pub(crate) struct Handler(AtomicUsize);

impl Handler {
    /// The initial handler of all objects.
    pub(crate) const fn fatal() -> Self {
        Self(AtomicUsize::new(MPI_ERRORS_ARE_FATAL))
    }

    /// Whether it is the initial one.
    pub(crate) fn is_fatal(&self) -> bool {
        self.get().address() == MPI_ERRORS_ARE_FATAL
    }

    fn get(&self) -> Errhandler {
        Errhandler::from_address(self.0.load(Ordering::Relaxed))
    }

    /// Replaces the handler.
    pub(crate) fn set(&self, handler: Errhandler) -> Result<()> {
        HANDLERS.with(|slab| {
            check(slab, handler)?;
            hold(slab, handler);
            let old = self.0.swap(handler.address(), Ordering::Relaxed);
            release(slab, Errhandler::from_address(old));
            Ok(())
        })
    }

    /// What it does.
    pub(crate) fn reaction(&self) -> Reaction {
        HANDLERS.with(|slab| react(slab, self.get()))
    }

    /// Gives the handler to the program, which holds it once more.
    ///
    /// # Safety
    /// The handle may be written to.
    pub(crate) unsafe fn give(&self, to: *mut Errhandler) {
        let held = HANDLERS.with(|slab| {
            let held = self.get();
            if let Some(user) = find(slab, held) {
                user.holders += 1;
                user.handles += 1;
            }
            held
        });
        // SAFETY: the caller's promise.
        unsafe { to.write(held) };
    }
}

impl Clone for Handler {
    fn clone(&self) -> Self {
        HANDLERS.with(|slab| {
            let held = self.get();
            hold(slab, held);
            Self(AtomicUsize::new(held.address()))
        })
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        HANDLERS.with(|slab| release(slab, self.get()));
    }
}

/// A handle of a function of the program.
pub(crate) fn insert(function: Option<HandlerFunction>) -> Result<Errhandler> {
    let function = function.ok_or_else(|| Error::argument("the function is null"))?;
    Ok(HANDLERS.insert(UserHandler {
        function,
        holders: 1,
        handles: 1,
    }))
}

/// What a handler that the program names does.
pub(crate) fn reaction(handler: Errhandler) -> Reaction {
    HANDLERS.with(|slab| react(slab, handler))
}

fn react(slab: &mut Slab<UserHandler>, handler: Errhandler) -> Reaction {
    match handler.address() {
        MPI_ERRORS_ARE_FATAL | MPI_ERRORS_ABORT => Reaction::EndJob,
        _ => find(slab, handler).map_or(Reaction::Return, |user| Reaction::Call(user.function)),
    }
}

fn find(slab: &mut Slab<UserHandler>, handler: Errhandler) -> Option<&mut UserHandler> {
    let index = slab.find(slab_handle(handler))?;
    slab.get_mut(index)
}

/// Checks that the handler is predefined, or that the program has a handle of it.
fn check(slab: &mut Slab<UserHandler>, handler: Errhandler) -> Result<()> {
    match handler.address() {
        MPI_ERRORS_ARE_FATAL | MPI_ERRORS_ABORT | MPI_ERRORS_RETURN => Ok(()),
        _ if find(slab, handler).is_some_and(|user| user.handles > 0) => Ok(()),
        _ => Err(Error::handle(MPI_ERR_ERRHANDLER, "error handler", handler)),
    }
}

fn hold(slab: &mut Slab<UserHandler>, handler: Errhandler) {
    if let Some(user) = find(slab, handler) {
        user.holders += 1;
    }
}

fn release(slab: &mut Slab<UserHandler>, handler: Errhandler) {
    let Some(user) = find(slab, handler) else {
        return;
    };
    user.holders -= 1;
    if user.holders == 0 {
        slab.free(slab_handle(handler).index);
    }
}

/// The program frees a handle of an error handler.
///
/// # Errors
/// It has none, or has freed all.
pub(crate) fn free(handler: Errhandler) -> Result<()> {
    HANDLERS.with(|slab| {
        check(slab, handler)?;
        if let Some(user) = find(slab, handler) {
            user.handles -= 1;
        }
        release(slab, handler);
        Ok(())
    })
}

/// The error handlers of which the program has not freed all handles.
pub(crate) fn left() -> Vec<Errhandler> {
    let mut left = HANDLERS.handles();
    left.retain(|&handler| {
        HANDLERS.with(|slab| find(slab, handler).is_some_and(|user| user.handles > 0))
    });
    left
}

/// `MPI_Errhandler_fromint`.
pub(crate) fn from_int(int: c_int) -> Errhandler {
    HANDLERS.handle_of(int)
}
