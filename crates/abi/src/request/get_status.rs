//! Statuses of requests that stay as they are (MPI 5.0, section 3.7.6).

use std::slice;

use super::{Found, generalized, is_inactive, look, on};
use crate::constants::MPI_UNDEFINED;
use crate::error_handling::{Error, Result, catch};
use crate::types::{Request, Status, c_int};

/// What a call tells about a request.
enum Peeked {
    Inactive,
    Ended(Status),
}

impl Peeked {
    fn of(ended: &Result<Status>) -> Self {
        Self::Ended(ended.as_ref().map_or_else(Error::status, |&status| status))
    }

    /// # Safety
    /// As [`Status::write`].
    unsafe fn write(self, to: *mut Status) {
        match self {
            // SAFETY: the caller's promise.
            Self::Inactive => unsafe { Status::write_empty(to) },
            // SAFETY: as above.
            Self::Ended(status) => unsafe { status.write(to) },
        }
    }
}

/// The status of a request, if its operation has ended; the request stays, and its error is that of the call that completes
/// it. The status of one that is not active is empty.
fn peek(request: Request) -> Result<Option<Peeked>> {
    let (found, comm) = look(request)?;
    if let (Some(generalized), Some(comm)) = (generalized::find(request), comm) {
        // Its status is the program's to tell, and the request is freed later.
        let ended = (comm.messages).poll_for(|ended| ended(generalized.raw).then_some(()))?;
        let status = ended.map(|()| generalized.query()).transpose()?;
        return Ok(status.map(Peeked::Ended));
    }
    match (found, comm) {
        (Found::Inactive, _) => Ok(Some(Peeked::Inactive)),
        (Found::Ended(ended), _) => Ok(Some(Peeked::of(&ended))),
        (Found::Open(raw), Some(comm)) => {
            let ended = comm.messages.peek(raw);
            let ended = ended.map(|ended| ended.map(Status::from).map_err(Error::from));
            Ok(ended.as_ref().map(Peeked::of))
        }
        (Found::Open(_), None) => Ok(None),
    }
}

/// The requests of an array.
///
/// # Safety
/// They may be read.
unsafe fn array<'a>(count: c_int, requests: *const Request) -> Result<&'a [Request]> {
    match usize::try_from(count) {
        Ok(0) => Ok(&[]),
        // SAFETY: the caller's promise.
        Ok(count) => Ok(unsafe { slice::from_raw_parts(requests, count) }),
        Err(_) => Err(Error::count(count)),
    }
}

/// `MPI_Request_get_status`.
///
/// # Safety
/// The flag may be written to; the status too, unless it is `MPI_STATUS_IGNORE`.
pub(crate) unsafe fn get_status(request: Request, flag: *mut c_int, status: *mut Status) -> c_int {
    on(request, "MPI_Request_get_status", || {
        let ended = peek(request)?;
        // SAFETY: the caller's promise.
        unsafe { flag.write(c_int::from(ended.is_some())) };
        if let Some(ended) = ended {
            // SAFETY: as above.
            unsafe { ended.write(status) };
        }
        Ok(())
    })
}

/// `MPI_Request_get_status_all`.
///
/// # Safety
/// The requests may be read, the flag may be written to; the statuses too, unless they are `MPI_STATUSES_IGNORE`.
pub(crate) unsafe fn get_status_all(
    count: c_int,
    requests: *const Request,
    flag: *mut c_int,
    statuses: *mut Status,
) -> c_int {
    catch("MPI_Request_get_status_all", || {
        // SAFETY: the caller's promise.
        let requests = unsafe { array(count, requests)? };
        let ended = requests.iter().map(|&request| peek(request));
        let ended: Option<Vec<_>> = ended.collect::<Result<_>>()?;
        // SAFETY: the caller's promise.
        unsafe { flag.write(c_int::from(ended.is_some())) };
        for (place, status) in ended.into_iter().flatten().enumerate() {
            if !statuses.is_null() {
                // SAFETY: as above.
                unsafe { status.write(statuses.wrapping_add(place)) };
            }
        }
        Ok(())
    })
}

/// `MPI_Request_get_status_any`.
///
/// # Safety
/// The requests may be read, index and flag may be written to; the status too, unless it is `MPI_STATUS_IGNORE`.
pub(crate) unsafe fn get_status_any(
    count: c_int,
    requests: *const Request,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut Status,
) -> c_int {
    catch("MPI_Request_get_status_any", || {
        // SAFETY: the caller's promise.
        let requests = unsafe { array(count, requests)? };
        let mut found = requests
            .iter()
            .all(is_inactive)
            .then_some((MPI_UNDEFINED, Peeked::Inactive));
        for (place, request) in requests.iter().enumerate() {
            if found.is_none() && !is_inactive(request) {
                found = peek(*request)?.map(|status| (place as c_int, status));
            }
        }
        // SAFETY: the caller's promise.
        unsafe { flag.write(c_int::from(found.is_some())) };
        // SAFETY: as above.
        unsafe { index.write(found.as_ref().map_or(MPI_UNDEFINED, |found| found.0)) };
        if let Some((_, ended)) = found {
            // SAFETY: as above.
            unsafe { ended.write(status) };
        }
        Ok(())
    })
}

/// `MPI_Request_get_status_some`.
///
/// # Safety
/// As [`get_status_all`]; there is an index for each request, and all may be written to.
pub(crate) unsafe fn get_status_some(
    count: c_int,
    requests: *const Request,
    ended: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
) -> c_int {
    catch("MPI_Request_get_status_some", || {
        // SAFETY: the caller's promise.
        let requests = unsafe { array(count, requests)? };
        let mut found = 0;
        for (place, request) in requests.iter().enumerate() {
            if !is_inactive(request)
                && let Some(status) = peek(*request)?
            {
                // SAFETY: the caller's promise; no more have ended than there are requests.
                unsafe { indices.wrapping_add(found).write(place as c_int) };
                if !statuses.is_null() {
                    // SAFETY: as above.
                    unsafe { status.write(statuses.wrapping_add(found)) };
                }
                found += 1;
            }
        }
        let none = requests.iter().all(is_inactive);
        // SAFETY: as above.
        unsafe { ended.write(if none { MPI_UNDEFINED } else { found as c_int }) };
        Ok(())
    })
}
