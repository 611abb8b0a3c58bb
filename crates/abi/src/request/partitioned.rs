//! Partitioned messages, whose parts the program marks as ready one by one (MPI 5.0, section 4.2).
//!
//! All partitions are one message, which is sent when the last one is ready. So the two sides may cut it differently, and a
//! partition has arrived when all have. The send is buffered: that the last partition is ready completes it.

use std::sync::{Mutex, PoisonError};

use oxmpi_core::{Communicator, PreparedMessage, ProcessEndpoint, RawRequest};

use super::persistent::insert;
use super::{NULL, Prepared, REQUESTS, State, get_status, no_such, on as on_request};
use crate::comm_table::PartitionedPlace;
use crate::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ERR_ARG, MPI_ERR_REQUEST, MPI_SUCCESS};
use crate::counts::Counting;
use crate::datatype::Buffer;
use crate::error_handling::{Error, Result, on};
use crate::handles::slab_handle;
use crate::message_envelope::{destination, source, tag_of};
use crate::types::{Comm, Datatype, Info, Request, Status, c_int, c_void};

/// A partitioned message.
pub(super) struct Partitioned {
    message: PreparedMessage,
    /// The communicator apart on which it matches its other end, and nothing else.
    messages: Communicator<ProcessEndpoint>,
    /// Its place among those of its tag, unless it is for nobody.
    _place: Option<PartitionedPlace>,
    partitions: usize,
    /// Of a send; `None` of a receive.
    sending: Option<Mutex<Sending>>,
}

/// Where a partitioned send stands.
#[derive(Default)]
struct Sending {
    /// Which partitions are ready.
    ready: Vec<bool>,
    /// How many are not.
    missing: usize,
    /// Completes once all are; `None` where the send is not active.
    gate: Option<RawRequest>,
}

impl Partitioned {
    /// Starts it once more.
    pub(super) fn start(&self) -> Result<RawRequest> {
        let Some(sending) = &self.sending else {
            return Ok(self.message.start(&self.messages)?);
        };
        let gate = self.messages.start_generalized()?;
        *sending.lock().unwrap_or_else(PoisonError::into_inner) = Sending {
            ready: vec![false; self.partitions],
            missing: self.partitions,
            gate: Some(gate),
        };
        self.make_ready(std::iter::empty())?;
        Ok(gate)
    }

    /// Marks partitions as ready, and sends the message when all are.
    fn make_ready(&self, partitions: impl Iterator<Item = c_int>) -> Result<()> {
        let sending = self.sending.as_ref().ok_or_else(|| {
            Error::new(
                MPI_ERR_REQUEST,
                "the request is that of a receive, and a partitioned send is expected",
            )
        })?;
        let mut sending = sending.lock().unwrap_or_else(PoisonError::into_inner);
        for partition in partitions {
            let place = self.place(partition)?;
            if sending.gate.is_none() || std::mem::replace(&mut sending.ready[place], true) {
                let why = format!(
                    "partition {partition} is ready already, or the request has not been started"
                );
                return Err(Error::new(MPI_ERR_ARG, why));
            }
            sending.missing -= 1;
        }
        if sending.missing == 0
            && let Some(gate) = sending.gate.take()
        {
            let sent = self.message.start(&self.messages);
            // Its error is this call's; the wait for the request is not to last for ever.
            self.messages.complete_generalized(gate);
            sent?;
        }
        Ok(())
    }

    fn place(&self, partition: c_int) -> Result<usize> {
        let place = usize::try_from(partition).ok();
        let place = place.filter(|&place| place < self.partitions);
        place.ok_or_else(|| {
            let partitions = self.partitions;
            Error::argument(format!("partition {partition} of {partitions} partitions"))
        })
    }
}

/// The partitioned message of a request.
fn find<'a>(request: Request) -> Result<&'a Partitioned> {
    let found = REQUESTS.with(|slab| {
        let State::Persistent(persistent) = &slab[slab.find(slab_handle(request))?].state else {
            return None;
        };
        match &persistent.prepared {
            Prepared::Partitioned(partitioned) => Some(std::ptr::from_ref(&**partitioned)),
            _ => None,
        }
    });
    // SAFETY: it is in a box of the entry, which only the program's own call to free it removes.
    found
        .map(|found| unsafe { &*found })
        .ok_or_else(|| no_such(request))
}

/// The elements of all partitions.
///
/// # Safety
/// As [`Buffer::new`].
unsafe fn whole<N: Counting>(
    buffer: *const c_void,
    partitions: c_int,
    count: N,
    datatype: Datatype,
) -> Result<(usize, Buffer)> {
    let number = usize::try_from(partitions).map_err(|_| {
        Error::argument(format!(
            "the number of partitions is {partitions}, and at least 0 is expected"
        ))
    })?;
    let all = count.checked()?.checked_mul(number as u64);
    let all = all.and_then(|all| i64::try_from(all).ok());
    let all = all.ok_or_else(|| Error::count(count))?;
    // SAFETY: the caller's promise.
    Ok((number, unsafe { Buffer::new(buffer, all, datatype)? }))
}

/// `MPI_Psend_init`.
///
/// # Safety
/// The elements of all partitions may be read while the operation is active, and the request be written to now.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(crate) unsafe fn psend_init<N: Counting>(
    buffer: *const c_void,
    partitions: c_int,
    count: N,
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> c_int {
    on(comm, "MPI_Psend_init", |entry| {
        // SAFETY: the caller's promise.
        let (partitions, buffer) = unsafe { whole(buffer, partitions, count, datatype)? };
        let message = (entry.messages).prepare_bsend(buffer.bytes, destination(to), tag as u32)?;
        let (place, messages) = entry.for_partitioned(true, to, tag)?;
        let partitioned = Partitioned {
            message,
            messages,
            _place: place,
            partitions,
            sending: Some(Mutex::default()),
        };
        let prepared = Prepared::Partitioned(Box::new(partitioned));
        // SAFETY: the caller's promise.
        unsafe { request.write(insert(entry, prepared, buffer.held)) };
        Ok(())
    })
}

/// `MPI_Precv_init`.
///
/// # Safety
/// The elements of all partitions may be written to while the operation is active, and the request now.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(crate) unsafe fn precv_init<N: Counting>(
    buffer: *mut c_void,
    partitions: c_int,
    count: N,
    datatype: Datatype,
    from: c_int,
    tag: c_int,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> c_int {
    on(comm, "MPI_Precv_init", |entry| {
        if from == MPI_ANY_SOURCE || tag == MPI_ANY_TAG {
            let why = "a partitioned receive names its source and its tag";
            return Err(Error::argument(why));
        }
        // SAFETY: the caller's promise.
        let (partitions, buffer) = unsafe { whole(buffer, partitions, count, datatype)? };
        let message = (entry.messages).prepare_recv(buffer.bytes, source(from), tag_of(tag))?;
        let (place, messages) = entry.for_partitioned(false, from, tag)?;
        let partitioned = Partitioned {
            message,
            messages,
            _place: place,
            partitions,
            sending: None,
        };
        let prepared = Prepared::Partitioned(Box::new(partitioned));
        // SAFETY: the caller's promise.
        unsafe { request.write(insert(entry, prepared, buffer.held)) };
        Ok(())
    })
}

/// `MPI_Pready`.
pub(crate) fn pready(partition: c_int, request: Request) -> c_int {
    on_request(request, "MPI_Pready", || {
        find(request)?.make_ready(std::iter::once(partition))
    })
}

/// `MPI_Pready_range`. Both ends are part of it.
pub(crate) fn pready_range(low: c_int, high: c_int, request: Request) -> c_int {
    on_request(request, "MPI_Pready_range", || {
        if low > high {
            let why = format!("partitions {low} to {high}, of which the second is the last one");
            return Err(Error::argument(why));
        }
        find(request)?.make_ready(low..=high)
    })
}

/// `MPI_Pready_list`.
///
/// # Safety
/// The array has `length` numbers.
pub(crate) unsafe fn pready_list(
    length: c_int,
    partitions: *const c_int,
    request: Request,
) -> c_int {
    on_request(request, "MPI_Pready_list", || {
        let length = usize::try_from(length).map_err(|_| Error::count(length))?;
        // SAFETY: the caller's promise.
        let listed = (0..length).map(|place| unsafe { *partitions.wrapping_add(place) });
        find(request)?.make_ready(listed)
    })
}

/// `MPI_Parrived`. A request that is null or not active has arrived.
///
/// # Safety
/// The flag may be written to.
pub(crate) unsafe fn parrived(request: Request, partition: c_int, flag: *mut c_int) -> c_int {
    let checked = || match request {
        NULL => Ok(()),
        request => find(request)?.place(partition).map(drop),
    };
    match on_request(request, "MPI_Parrived", checked) {
        // SAFETY: the caller's promise.
        MPI_SUCCESS => unsafe { get_status(request, flag, std::ptr::null_mut::<Status>()) },
        code => code,
    }
}
