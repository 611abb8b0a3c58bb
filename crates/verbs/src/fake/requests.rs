//! The functions on the path of a message: what `ibv_context.ops` names.

use super::device::{Payload, Receive, Send, Span};
use super::{called, with_device};
use crate::ffi::{
    IBV_SEND_INLINE, ibv_cq, ibv_qp, ibv_recv_wr, ibv_send_wr, ibv_sge, ibv_srq, ibv_wc,
};
use std::convert::identity;
use std::ffi::c_int;
use std::ptr;

/// The number of a queue pair, which is alive.
pub(super) fn number_of(pair: *mut ibv_qp) -> u32 {
    // SAFETY: by the callers, which are the functions of the library.
    unsafe { (*pair).qp_num }
}

pub(super) unsafe extern "C" fn post_send(
    pair: *mut ibv_qp,
    request: *mut ibv_send_wr,
    _: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the caller's request.
    let request = unsafe { &*request };
    // SAFETY: any bits are two numbers.
    let remote = unsafe { request.wr.rdma };
    let shown = format_args!(
        "{} opcode {} flags {} segments {} immediate {:#x} remote {:#x} {:#x}",
        request.wr_id,
        request.opcode,
        request.send_flags,
        request.num_sge,
        u32::from_be(request.imm_data),
        remote.remote_addr,
        remote.rkey
    );
    match called("post_send", shown) {
        0 => {}
        errno => return errno,
    }
    // SAFETY: the caller's segments.
    let spans = unsafe { spans(request.sg_list, request.num_sge) };
    let payload = match spans.first() {
        Some(span) if request.send_flags & IBV_SEND_INLINE != 0 => {
            let bytes = ptr::with_exposed_provenance(span.address as usize);
            // SAFETY: the bytes inline, which live as long as the call.
            Payload::Inline(unsafe { std::slice::from_raw_parts(bytes, span.len) }.to_vec())
        }
        _ => Payload::Segments(spans),
    };
    let send = Send {
        id: request.wr_id,
        opcode: request.opcode,
        flags: request.send_flags,
        immediate: request.imm_data,
        payload,
        remote: (remote.remote_addr, remote.rkey),
        remote_queue: request.qp_type,
    };
    with_device(|device| device.post_send(number_of(pair), send))
}

pub(super) unsafe extern "C" fn post_recv(
    pair: *mut ibv_qp,
    request: *mut ibv_recv_wr,
    _: *mut *mut ibv_recv_wr,
) -> c_int {
    let post = |receive| with_device(|device| device.post_receive(number_of(pair), receive));
    // SAFETY: the caller's requests.
    unsafe { post_each("post_recv", request, post) }
}

pub(super) unsafe extern "C" fn post_srq_recv(
    queue: *mut ibv_srq,
    request: *mut ibv_recv_wr,
    _: *mut *mut ibv_recv_wr,
) -> c_int {
    let post = |receive| with_device(|device| device.post_shared(queue.addr(), receive));
    // SAFETY: the caller's requests.
    unsafe { post_each("post_srq_recv", request, post) }
}

/// Posts the receives of a list of requests, until one fails, each as a `call` of its own.
///
/// # Safety
/// Each request is one, with its segments.
unsafe fn post_each(
    call: &'static str,
    mut request: *const ibv_recv_wr,
    post: impl Fn(Receive) -> c_int,
) -> c_int {
    while !request.is_null() {
        // SAFETY: by the caller's word.
        match unsafe { receive(call, request) }.map_or_else(identity, &post) {
            0 => {}
            errno => return errno,
        }
        // SAFETY: by the caller's word.
        request = unsafe { (*request).next };
    }
    0
}

/// The receive of a request; the errno of `call` if that is to fail.
///
/// # Safety
/// The request is one, with its segments.
unsafe fn receive(call: &'static str, request: *const ibv_recv_wr) -> Result<Receive, c_int> {
    // SAFETY: by the caller's word.
    let request = unsafe { &*request };
    let shown = format_args!("{} segments {}", request.wr_id, request.num_sge);
    match called(call, shown) {
        0 => Ok(Receive {
            id: request.wr_id,
            // SAFETY: by the caller's word.
            to: unsafe { spans(request.sg_list, request.num_sge) },
        }),
        errno => Err(errno),
    }
}

/// The segments of a request.
///
/// # Safety
/// The list has so many.
unsafe fn spans(list: *const ibv_sge, count: c_int) -> Vec<Span> {
    let mut spans = Vec::new();
    for at in 0..count as usize {
        // SAFETY: by the caller's word.
        let segment = unsafe { *list.wrapping_add(at) };
        spans.push(Span {
            address: segment.addr,
            len: segment.length as usize,
            key: segment.lkey,
        });
    }
    spans
}

pub(super) unsafe extern "C" fn poll_cq(queue: *mut ibv_cq, most: c_int, to: *mut ibv_wc) -> c_int {
    match called("poll_cq", format_args!("")) {
        0 => {}
        errno => return errno,
    }
    let mut count = 0;
    while count < most {
        let next = with_device(|device| device.poll(queue.addr(), count == 0));
        let Some(completion) = next else {
            break;
        };
        // SAFETY: the caller has room for `most`.
        unsafe { *to.wrapping_add(count as usize) = completion };
        count += 1;
    }
    count
}

pub(super) unsafe extern "C" fn req_notify_cq(queue: *mut ibv_cq, _: c_int) -> c_int {
    with_device(|device| device.arm(queue.addr()));
    called("req_notify_cq", format_args!(""))
}
