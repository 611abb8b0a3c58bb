//! Posting receives, to a queue pair or a shared receive queue.

use super::region::Segment;
use crate::error::{EINVAL, ENOMEM, ENOSYS, PostError, VerbsError};
use crate::ffi::ibv_recv_wr;
use std::ffi::c_int;
use std::fmt;
use std::ptr;

/// The provider's function that posts receives to a `Q`.
pub(super) type Post<Q> =
    Option<unsafe extern "C" fn(*mut Q, *mut ibv_recv_wr, *mut *mut ibv_recv_wr) -> c_int>;

/// What receives are posted to.
pub(super) trait Receiver: fmt::Debug {
    /// The object of the library.
    type Queue;
    /// The name of the function.
    const CALL: &'static str;

    fn post(&self) -> Post<Self::Queue>;

    /// Segments that a receive may have.
    fn max_sge(&self) -> u32;
}

/// Posts a receive of these segments to `queue`.
///
/// # Safety
/// The queue is alive, and belongs to `to`.
#[inline]
pub(super) unsafe fn post<R: Receiver>(
    to: &R,
    queue: *mut R::Queue,
    id: u64,
    segments: &[Segment<'_>],
) -> Result<(), PostError> {
    if segments.len() > to.max_sge() as usize {
        return Err(too_long(
            R::CALL,
            to,
            segments.len(),
            "segments",
            to.max_sge(),
        ));
    }
    let Some(post) = to.post() else {
        return Err(refused(R::CALL, to, "", ENOSYS));
    };
    let mut request = ibv_recv_wr {
        wr_id: id,
        next: ptr::null_mut(),
        sg_list: segments.as_ptr().cast_mut().cast(),
        num_sge: segments.len() as c_int,
    };
    let mut bad = ptr::null_mut();
    // SAFETY: the queue is alive, by the caller's word; the request and its segments, laid out as the library's, are
    // only read during the call; each segment names registered memory.
    let errno = unsafe { post(queue, &raw mut request, &raw mut bad) };
    posted(R::CALL, to, errno)
}

/// Receives that one call posts at most.
const CHAIN: usize = 16;

/// Posts receives of a segment each to `queue`, in this order.
///
/// # Safety
/// The queue is alive, and belongs to `to`.
#[inline]
pub(super) unsafe fn post_each<'a, R: Receiver>(
    to: &R,
    queue: *mut R::Queue,
    receives: impl IntoIterator<Item = (u64, Segment<'a>)>,
) -> Result<(), PostError> {
    const NONE: ibv_recv_wr = ibv_recv_wr {
        wr_id: 0,
        next: ptr::null_mut(),
        sg_list: ptr::null_mut(),
        num_sge: 1,
    };
    let Some(post) = to.post() else {
        return Err(refused(R::CALL, to, "", ENOSYS));
    };
    let mut receives = receives.into_iter();
    loop {
        let (mut requests, mut segments) = ([NONE; CHAIN], [Segment::NONE; CHAIN]);
        let mut count = 0;
        while count < CHAIN
            && let Some((id, segment)) = receives.next()
        {
            requests[count].wr_id = id;
            segments[count] = segment;
            count += 1;
        }
        let mut first = ptr::null_mut();
        for (request, segment) in requests[..count].iter_mut().zip(&segments[..count]).rev() {
            request.sg_list = ptr::from_ref(segment).cast_mut().cast();
            request.next = first;
            first = request;
        }
        if first.is_null() {
            return Ok(());
        }
        let mut bad = ptr::null_mut();
        // SAFETY: as in `post`, for each request; each names the next one.
        let errno = unsafe { post(queue, first, &raw mut bad) };
        posted(R::CALL, to, errno)?;
    }
}

/// The result of a post. Providers return errno, some of them negated.
#[inline]
pub(super) fn posted(
    call: &'static str,
    to: &impl fmt::Debug,
    errno: c_int,
) -> Result<(), PostError> {
    match errno {
        0 => Ok(()),
        errno if errno.saturating_abs() == ENOMEM => Err(PostError::Full),
        errno => Err(refused(call, to, "", errno)),
    }
}

#[cold]
pub(super) fn refused(
    call: &'static str,
    to: &impl fmt::Debug,
    attributes: &str,
    errno: c_int,
) -> PostError {
    VerbsError::new(call, format!("{to:?}"), attributes, errno).into()
}

/// The error of a request with more segments or bytes than the device granted.
#[cold]
pub(super) fn too_long(
    call: &'static str,
    to: &impl fmt::Debug,
    number: usize,
    of: &str,
    granted: u32,
) -> PostError {
    refused(
        call,
        to,
        &format!("{number} {of}, where the device granted {granted}"),
        EINVAL,
    )
}
