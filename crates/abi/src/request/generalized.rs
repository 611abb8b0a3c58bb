//! Generalized requests, whose operations the program carries out (MPI 5.0, section 13.2).

use oxmpi_core::RawRequest;

use super::{Entry, REQUESTS, State, insert_state, no_such};
use crate::comm_table;
use crate::constants::{MPI_COMM_SELF, MPI_SUCCESS};
use crate::error_handling::{Error, Result, catch};
use crate::handles::{Handle, slab_handle};
use crate::types::{Callback, Comm, Request, Status, c_int, c_void};

type QueryFunction = unsafe extern "C" fn(*mut c_void, *mut Status) -> c_int;
type FreeFunction = unsafe extern "C" fn(*mut c_void) -> c_int;
type CancelFunction = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

/// An operation of the program.
#[derive(Clone, Copy)]
pub(super) struct Generalized {
    pub(super) raw: RawRequest,
    /// Whether the program has said that it is complete.
    pub(super) complete: bool,
    /// Whether the program has freed its request before.
    freed: bool,
    query: Option<QueryFunction>,
    free: Option<FreeFunction>,
    cancel: Option<CancelFunction>,
    state: *mut c_void,
}

fn checked(what: &str, code: c_int) -> Result<()> {
    match code {
        MPI_SUCCESS => Ok(()),
        code => Err(Error::new(
            code,
            format!("the program's function that {what} a generalized request returned {code}"),
        )),
    }
}

impl Generalized {
    /// The status, as the program says it.
    pub(super) fn query(&self) -> Result<Status> {
        let mut status = Status::EMPTY;
        if let Some(query) = self.query {
            // SAFETY: the program gave a function of this type, and its state.
            checked("queries", unsafe { query(self.state, &raw mut status) })?;
        }
        Ok(status)
    }

    /// Tells the program that the request is freed.
    pub(super) fn free(&self) -> Result<()> {
        match self.free {
            // SAFETY: as above.
            Some(free) => checked("frees", unsafe { free(self.state) }),
            None => Ok(()),
        }
    }

    /// Tells the program that the request is cancelled.
    pub(super) fn cancel(&self) -> Result<()> {
        match self.cancel {
            // SAFETY: as above.
            Some(cancel) => checked("cancels", unsafe {
                cancel(self.state, c_int::from(self.complete))
            }),
            None => Ok(()),
        }
    }
}

/// The generalized request of a handle, after a change.
fn change(request: Request, change: impl FnOnce(&mut Generalized)) -> Option<Generalized> {
    REQUESTS.with(|slab| {
        let index = slab.find(slab_handle(request))?;
        match &mut slab[index].state {
            State::Generalized(generalized) => {
                change(generalized);
                Some(**generalized)
            }
            _ => None,
        }
    })
}

/// The generalized request of a handle.
pub(super) fn find(request: Request) -> Option<Generalized> {
    change(request, |_| ())
}

/// The generalized request of a handle that the program frees. Its entry and the program's state stay until the program
/// has completed the operation.
pub(super) fn freed(request: Request) -> Option<Generalized> {
    change(request, |generalized| generalized.freed = true)
}

/// `MPI_Grequest_start`.
///
/// # Safety
/// The functions have the types that the standard says; the request may be written to.
pub(crate) unsafe fn grequest_start(
    query: Callback,
    free: Callback,
    cancel: Callback,
    state: *mut c_void,
    request: *mut Request,
) -> c_int {
    catch("MPI_Grequest_start", || {
        let entry = comm_table::own()?;
        let generalized = Generalized {
            raw: entry.messages.start_generalized()?,
            complete: false,
            freed: false,
            // SAFETY: the caller's promise; null gives `None`; here and below.
            query: unsafe { std::mem::transmute::<Callback, Option<QueryFunction>>(query) },
            // SAFETY: as above.
            free: unsafe { std::mem::transmute::<Callback, Option<FreeFunction>>(free) },
            // SAFETY: as above.
            cancel: unsafe { std::mem::transmute::<Callback, Option<CancelFunction>>(cancel) },
            state,
        };
        let made = insert_state(entry, State::Generalized(Box::new(generalized)));
        // SAFETY: the caller's promise.
        unsafe { request.write(made) };
        Ok(())
    })
}

/// `MPI_Grequest_complete`.
pub(crate) fn grequest_complete(request: Request) -> c_int {
    catch("MPI_Grequest_complete", || {
        let completed = change(request, |generalized| generalized.complete = true);
        let completed = completed.ok_or_else(|| no_such(request))?;
        if let Some(own) = comm_table::find(Comm::from_address(MPI_COMM_SELF)) {
            own.messages.complete_generalized(completed.raw);
        }
        if !completed.freed {
            return Ok(());
        }
        // The program frees its state last, so the end of the operation is nobody's to see.
        if let Some(Entry { comm, .. }) = REQUESTS.remove(request) {
            comm.messages.detach(completed.raw, Box::new(()));
        }
        completed.free()
    })
}
