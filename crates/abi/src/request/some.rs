//! Waiting for some of several requests and testing them (MPI 5.0, section 3.7.5). Each call looks every request up once,
//! and makes progress once.

use oxmpi_core::RawRequest;

use super::complete::{Outcome, Statuses, any_communicator, array, report, report_all, wait_for};
use super::{Found, REQUESTS, find};
use crate::constants::{MPI_SUCCESS, MPI_UNDEFINED};
use crate::error_handling::{self, Result};
use crate::types::{Request, Status, c_int};

/// Requests of an array that are null or active.
enum Looked {
    /// None is active.
    Inactive,
    /// The places of some that have ended, or whose handles are wrong.
    Ended(Vec<usize>),
}

/// Makes some progress, then finds at most `most` requests that have ended.
fn look_for_ended(requests: &[Request], most: usize) -> Result<Looked> {
    if requests.iter().all(|&request| request == super::NULL) {
        return Ok(Looked::Inactive);
    }
    let world = &any_communicator()?.messages;
    let looked = world.poll_once(|ended| {
        REQUESTS.with(|slab| {
            let (mut places, mut inactive) = (Vec::new(), true);
            for (place, &request) in requests.iter().enumerate() {
                let has_ended = match find(slab, request) {
                    Some((Found::Inactive, _)) => continue,
                    Some((Found::Open(raw), _)) => ended(raw),
                    Some((Found::Ended(_), _)) | None => true,
                };
                inactive = false;
                if has_ended {
                    places.push(place);
                    if places.len() == most {
                        break;
                    }
                }
            }
            match inactive {
                true => Looked::Inactive,
                false => Looked::Ended(places),
            }
        })
    })?;
    Ok(looked)
}

/// As [`look_for_ended`], but waits until one of the requests has ended.
fn wait_for_ended(requests: &[Request], most: usize) -> Result<Looked> {
    let mut open: Vec<(usize, RawRequest)> = Vec::new();
    let mut ended = Vec::new();
    REQUESTS.with(|slab| {
        for (place, &request) in requests.iter().enumerate() {
            match find(slab, request) {
                Some((Found::Inactive, _)) => {}
                Some((Found::Open(raw), _)) => open.push((place, raw)),
                Some((Found::Ended(_), _)) | None => ended.push(place),
            }
        }
    });
    if open.is_empty() && ended.is_empty() {
        return Ok(Looked::Inactive);
    }
    if ended.len() < most && !open.is_empty() {
        let world = &any_communicator()?.messages;
        if ended.is_empty() {
            let first = world.wait_first(open.iter().map(|&(_, raw)| raw))?;
            if most == 1 {
                return Ok(Looked::Ended(vec![open[first].0]));
            }
        }
        world.poll_once(|has_ended| {
            let places = open.iter().filter(|&&(_, raw)| has_ended(raw));
            ended.extend(places.map(|&(place, _)| place));
        })?;
    }
    ended.sort_unstable();
    ended.truncate(most);
    Ok(Looked::Ended(ended))
}

/// Ends the first of the requests at these places.
fn end_first(requests: &mut [Request], places: &[usize]) -> Option<(usize, Outcome)> {
    let &place = places.first()?;
    Some((place, wait_for(&mut requests[place])?))
}

/// Reports which request of an array has ended.
///
/// # Safety
/// The index may be written to, and the status, unless it is ignored.
unsafe fn report_any(
    function: &'static str,
    ended: Option<(usize, Outcome)>,
    index: *mut c_int,
    status: *mut Status,
) -> c_int {
    let (place, outcome) = match ended {
        Some((place, outcome)) => (place as c_int, Some(outcome)),
        None => (MPI_UNDEFINED, None),
    };
    // SAFETY: the caller's promise.
    unsafe { index.write(place) };
    // SAFETY: as above.
    unsafe { report(function, outcome, status) }
}

/// `MPI_Waitany`.
///
/// # Safety
/// As [`waitall`](super::waitall); the index may be written to.
pub(crate) unsafe fn waitany(
    count: c_int,
    requests: *mut Request,
    index: *mut c_int,
    status: *mut Status,
) -> c_int {
    const FUNCTION: &str = "MPI_Waitany";
    // SAFETY: the caller's promise.
    let requests = unsafe { array(count, requests) };
    match requests.and_then(|requests| Ok((wait_for_ended(requests, 1)?, requests))) {
        Ok((looked, requests)) => {
            let ended = match looked {
                Looked::Inactive => None,
                Looked::Ended(places) => end_first(requests, &places),
            };
            // SAFETY: the caller's promise.
            unsafe { report_any(FUNCTION, ended, index, status) }
        }
        Err(error) => error_handling::raise(None, FUNCTION, error),
    }
}

/// `MPI_Testany`.
///
/// # Safety
/// As [`waitany`]; the flag may be written to.
pub(crate) unsafe fn testany(
    count: c_int,
    requests: *mut Request,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut Status,
) -> c_int {
    const FUNCTION: &str = "MPI_Testany";
    // SAFETY: the caller's promise.
    let requests = unsafe { array(count, requests) };
    match requests.and_then(|requests| Ok((look_for_ended(requests, 1)?, requests))) {
        Ok((looked, requests)) => {
            let (is_done, ended) = match looked {
                Looked::Inactive => (true, None),
                Looked::Ended(places) => (!places.is_empty(), end_first(requests, &places)),
            };
            // SAFETY: the caller's promise.
            unsafe { flag.write(c_int::from(is_done)) };
            if is_done {
                // SAFETY: as above.
                return unsafe { report_any(FUNCTION, ended, index, status) };
            }
            // SAFETY: as above.
            unsafe { index.write(MPI_UNDEFINED) };
            MPI_SUCCESS
        }
        Err(error) => error_handling::raise(None, FUNCTION, error),
    }
}

/// Ends the requests that were found, and reports them in order.
///
/// # Safety
/// As [`waitsome`].
unsafe fn report_some(
    function: &'static str,
    looked: Result<(Looked, &mut [Request])>,
    count: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
) -> c_int {
    let (places, requests) = match looked {
        Ok((Looked::Inactive, _)) => {
            // SAFETY: the caller's promise.
            unsafe { count.write(MPI_UNDEFINED) };
            return MPI_SUCCESS;
        }
        Ok((Looked::Ended(places), requests)) => (places, requests),
        Err(error) => return error_handling::raise(None, function, error),
    };
    // SAFETY: as above.
    unsafe { count.write(places.len() as c_int) };
    for (at, &place) in places.iter().enumerate() {
        // SAFETY: as above; no more have ended than there are requests.
        unsafe { indices.wrapping_add(at).write(place as c_int) };
    }
    let outcomes = places.iter().map(|&place| wait_for(&mut requests[place]));
    // SAFETY: as above.
    unsafe { report_all(function, outcomes, &Statuses(statuses)) }
}

/// `MPI_Waitsome`.
///
/// # Safety
/// As [`waitall`](super::waitall); there is an index for each request, and all may be written to.
pub(crate) unsafe fn waitsome(
    count: c_int,
    requests: *mut Request,
    ended: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
) -> c_int {
    // SAFETY: the caller's promise.
    let requests = unsafe { array(count, requests) };
    let looked =
        requests.and_then(|requests| Ok((wait_for_ended(requests, requests.len())?, requests)));
    // SAFETY: as above.
    unsafe { report_some("MPI_Waitsome", looked, ended, indices, statuses) }
}

/// `MPI_Testsome`.
///
/// # Safety
/// As [`waitsome`].
pub(crate) unsafe fn testsome(
    count: c_int,
    requests: *mut Request,
    ended: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
) -> c_int {
    // SAFETY: the caller's promise.
    let requests = unsafe { array(count, requests) };
    let looked =
        requests.and_then(|requests| Ok((look_for_ended(requests, requests.len())?, requests)));
    // SAFETY: as above.
    unsafe { report_some("MPI_Testsome", looked, ended, indices, statuses) }
}
