//! Waiting for requests and testing them (MPI 5.0, section 3.7).

use std::slice;

use oxmpi_core::RawRequest;

use super::{Found, InUse, NULL, SENT, completed, free_running, generalized, look, running};
use crate::comm_table;
use crate::constants::{MPI_COMM_WORLD, MPI_ERR_IN_STATUS, MPI_ERR_OTHER, MPI_SUCCESS};
use crate::error_handling::{self, Error, Result};
use crate::handles::Handle;
use crate::types::{Comm, Request, Status, c_int};

/// The end of an operation as a call reports it.
pub(super) type Outcome = std::result::Result<Status, Failure>;

/// An error, and the communicator that it is raised on, which the operation may have been the last to keep.
pub(super) struct Failure {
    error: Error,
    comm: Option<InUse>,
}

impl Failure {
    #[cold]
    fn raise(self, function: &'static str) -> c_int {
        error_handling::raise(self.comm.as_deref(), function, self.error)
    }
}

/// Waits for a request. `None`: there is nothing to wait for.
///
/// # Cost
/// That of the core's wait; of a send that was complete when it was started a compare, of a message besides two loads of its
/// entry, which is freed in its place.
#[inline(always)]
pub(super) fn wait_for(request: &mut Request) -> Option<Outcome> {
    if *request == SENT {
        *request = NULL;
        return Some(Ok(Status::EMPTY));
    }
    match running(*request) {
        Some((raw, comm)) => Some(wait_for_running(request, raw, comm)),
        None => wait_for_other(request),
    }
}

/// Waits for an operation that nothing has to be done for but to free its entry.
#[inline(always)]
fn wait_for_running(request: &mut Request, raw: RawRequest, comm: &comm_table::Entry) -> Outcome {
    let handle = std::mem::replace(request, NULL);
    match comm.messages.wait(raw) {
        Ok(status) => {
            free_running(handle);
            Ok(status.into())
        }
        Err(error) => Err(fail(handle, error.into(), comm)),
    }
}

#[cold]
#[inline(never)]
fn fail(handle: Request, error: Error, comm: &comm_table::Entry) -> Failure {
    let comm = Some(InUse::new(comm));
    free_running(handle);
    Failure { error, comm }
}

/// As [`wait_for`], for a request of any kind.
#[inline(never)]
fn wait_for_other(request: &mut Request) -> Option<Outcome> {
    end(request, |comm, raw| Some(comm.messages.wait(raw))).unwrap_or(None)
}

/// Tests a request. `Some(None)`: there is nothing to wait for.
fn poll(request: &mut Request) -> Option<Option<Outcome>> {
    end(request, |comm, raw| comm.messages.test(raw))
}

/// Ends a request if `ended` gives its outcome; the handle is then what the program keeps. `Some(None)`: there is
/// nothing to wait for.
#[inline]
fn end(
    request: &mut Request,
    ended: impl FnOnce(&comm_table::Entry, RawRequest) -> Option<oxmpi_core::Result<oxmpi_core::Status>>,
) -> Option<Option<Outcome>> {
    let (result, comm) = match look(*request) {
        Ok((Found::Inactive, _)) => return Some(None),
        Ok((Found::Ended(result), comm)) => (result, comm),
        Ok((Found::Open(raw), Some(comm))) => {
            let result = ended(comm, raw)?;
            (result.map(Status::from).map_err(Error::from), Some(comm))
        }
        Ok((Found::Open(_), None)) => unreachable!("an operation in progress has a communicator"),
        Err(error) => return Some(Some(Err(Failure { error, comm: None }))),
    };
    let result = match generalized::find(*request) {
        Some(generalized) => {
            let status = generalized.query();
            let freed = generalized.free();
            status.and_then(|status| freed.and(Ok(status)))
        }
        None => result,
    };
    let outcome = result.map_err(|error| Failure {
        error,
        comm: comm.map(InUse::new),
    });
    *request = completed(*request, outcome.as_ref().ok());
    Some(Some(outcome))
}

/// Reports the end of one operation.
///
/// # Safety
/// The status is ignored, or may be written to.
pub(super) unsafe fn report(
    function: &'static str,
    outcome: Option<Outcome>,
    status: *mut Status,
) -> c_int {
    let (ended, failure) = match outcome {
        None => {
            // SAFETY: the caller's promise.
            unsafe { Status::write_empty(status) };
            return MPI_SUCCESS;
        }
        Some(Ok(ended)) => (ended, None),
        Some(Err(failure)) => (failure.error.status(), Some(failure)),
    };
    // SAFETY: the caller's promise.
    unsafe { ended.write(status) };
    failure.map_or(MPI_SUCCESS, |failure| failure.raise(function))
}

/// `MPI_Wait`.
///
/// # Safety
/// The request may be read and written to; the status too, unless it is `MPI_STATUS_IGNORE`.
pub(crate) unsafe fn wait(request: *mut Request, status: *mut Status) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = wait_for(unsafe { &mut *request });
    // SAFETY: as above.
    unsafe { report("MPI_Wait", outcome, status) }
}

/// `MPI_Test`.
///
/// # Safety
/// As [`wait`]; the flag may be written to.
pub(crate) unsafe fn test(request: *mut Request, flag: *mut c_int, status: *mut Status) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = poll(unsafe { &mut *request });
    // SAFETY: as above.
    unsafe { flag.write(c_int::from(outcome.is_some())) };
    match outcome {
        // SAFETY: as above.
        Some(outcome) => unsafe { report("MPI_Test", outcome, status) },
        None => MPI_SUCCESS,
    }
}

/// The requests of an array.
///
/// # Safety
/// They may be read and written to.
pub(super) unsafe fn array<'a>(count: c_int, requests: *mut Request) -> Result<&'a mut [Request]> {
    match usize::try_from(count) {
        Ok(0) => Ok(&mut []),
        // SAFETY: the caller's promise.
        Ok(count) => Ok(unsafe { slice::from_raw_parts_mut(requests, count) }),
        Err(_) => Err(Error::count(count)),
    }
}

/// The statuses of an array, from which calls leave out those to be ignored.
pub(super) struct Statuses(pub(super) *mut Status);

impl Statuses {
    fn at(&self, index: usize) -> *mut Status {
        match self.0.is_null() {
            true => self.0,
            false => self.0.wrapping_add(index),
        }
    }

    /// Writes the error of a status, where some operation of the call has failed.
    ///
    /// # Safety
    /// The status is ignored, or may be written to.
    unsafe fn set_error(&self, index: usize, error: c_int) {
        if !self.0.is_null() {
            // SAFETY: the caller's promise.
            unsafe { (*self.at(index)).error = error };
        }
    }
}

/// Reports the end of several operations. `outcomes` has the place of each status, and the outcome; `None`: there was
/// nothing to wait for.
///
/// # Safety
/// The statuses at these places are ignored, or may be written to.
pub(super) unsafe fn report_all(
    function: &'static str,
    outcomes: impl Iterator<Item = Option<Outcome>>,
    statuses: &Statuses,
) -> c_int {
    let mut failed: Option<Failure> = None;
    for (place, outcome) in outcomes.enumerate() {
        let code = match outcome {
            None => {
                // SAFETY: the caller's promise.
                unsafe { Status::write_empty(statuses.at(place)) };
                MPI_SUCCESS
            }
            Some(Ok(ended)) => {
                // SAFETY: as above.
                unsafe { ended.write(statuses.at(place)) };
                MPI_SUCCESS
            }
            Some(Err(failure)) => {
                let code = failure.error.code;
                // SAFETY: as above.
                unsafe { failure.error.status().write(statuses.at(place)) };
                if failed.is_none() {
                    // SAFETY: as above, for all statuses before this one.
                    (0..place).for_each(|place| unsafe {
                        statuses.set_error(place, MPI_SUCCESS);
                    });
                    failed = Some(failure);
                }
                code
            }
        };
        if failed.is_some() {
            // SAFETY: as above.
            unsafe { statuses.set_error(place, code) };
        }
    }
    match failed {
        None => MPI_SUCCESS,
        Some(mut failure) => {
            failure.error.code = MPI_ERR_IN_STATUS;
            failure.raise(function)
        }
    }
}

/// `MPI_Waitall`.
///
/// # Safety
/// The requests may be read and written to, and the statuses written to, unless they are `MPI_STATUSES_IGNORE`.
pub(crate) unsafe fn waitall(count: c_int, requests: *mut Request, statuses: *mut Status) -> c_int {
    const FUNCTION: &str = "MPI_Waitall";
    // SAFETY: the caller's promise.
    match unsafe { array(count, requests) } {
        Ok(requests) => {
            let outcomes = requests.iter_mut().map(wait_for);
            // SAFETY: the caller's promise.
            unsafe { report_all(FUNCTION, outcomes, &Statuses(statuses)) }
        }
        Err(error) => error_handling::raise(None, FUNCTION, error),
    }
}

/// The operations of these requests that are in progress, with their places.
fn open(requests: &[Request]) -> Vec<(usize, RawRequest)> {
    let requests = requests.iter().enumerate();
    let open = requests.filter_map(|(place, &request)| match look(request) {
        Ok((Found::Open(raw), _)) => Some((place, raw)),
        _ => None,
    });
    open.collect()
}

/// Any communicator: all are on one endpoint, which alone knows whether operations have ended.
pub(super) fn any_communicator<'a>() -> Result<&'a comm_table::Entry> {
    comm_table::find(Comm::from_address(MPI_COMM_WORLD)).ok_or_else(|| {
        Error::new(
            MPI_ERR_OTHER,
            "the process is not initialised, or has ended",
        )
    })
}

/// Whether all have ended.
fn all_ended(open: &[(usize, RawRequest)]) -> Result<bool> {
    if open.is_empty() {
        return Ok(true);
    }
    let all = any_communicator()?
        .messages
        .poll_for(|ended| (open.iter().all(|&(_, raw)| ended(raw))).then_some(()))?;
    Ok(all.is_some())
}

/// `MPI_Testall`.
///
/// # Safety
/// As [`waitall`]; the flag may be written to.
pub(crate) unsafe fn testall(
    count: c_int,
    requests: *mut Request,
    flag: *mut c_int,
    statuses: *mut Status,
) -> c_int {
    const FUNCTION: &str = "MPI_Testall";
    // SAFETY: the caller's promise.
    let tested = unsafe { array(count, requests) }
        .and_then(|requests| Ok((all_ended(&open(requests))?, requests)));
    match tested {
        Ok((ended, requests)) => {
            // SAFETY: the caller's promise.
            unsafe { flag.write(c_int::from(ended)) };
            let outcomes = requests.iter_mut().filter(|_| ended).map(wait_for);
            // SAFETY: the caller's promise.
            unsafe { report_all(FUNCTION, outcomes, &Statuses(statuses)) }
        }
        Err(error) => error_handling::raise(None, FUNCTION, error),
    }
}
