//! The functions of the fake library.

use super::called;
use crate::ffi::{
    ibv_ah, ibv_ah_attr, ibv_async_event, ibv_comp_channel, ibv_context, ibv_cq, ibv_device,
    ibv_device_attr, ibv_gid_entry, ibv_mr, ibv_pd, ibv_port_attr, ibv_qp, ibv_qp_attr,
    ibv_qp_init_attr, ibv_recv_wr, ibv_send_wr, ibv_srq, ibv_srq_attr, ibv_srq_init_attr, ibv_wc,
};
use crate::library::Library;
use std::ffi::{c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::ptr;

/// The library.
pub(crate) static LIBRARY: Library = Library {
    get_device_list,
    free_device_list,
    open_device,
    close_device,
    query_device,
    query_port,
    query_gid_table,
    alloc_pd,
    dealloc_pd,
    reg_mr,
    dereg_mr,
    create_comp_channel,
    destroy_comp_channel,
    create_cq,
    destroy_cq,
    get_cq_event,
    ack_cq_events,
    create_qp,
    modify_qp,
    destroy_qp,
    create_ah,
    destroy_ah,
    create_srq,
    modify_srq,
    destroy_srq,
    get_async_event,
    ack_async_event,
};

/// A new object, unless `call` is to fail; then null, and errno is ENOENT.
fn create<T>(call: &'static str, with: &str) -> *mut T {
    if called(call, with) != 0 {
        // Sets errno, which Rust cannot do by itself.
        drop(std::fs::File::open("/nowhere"));
        return ptr::null_mut();
    }
    // SAFETY: the types of the library consist of numbers, pointers and optional functions: zeroes are valid.
    Box::into_raw(Box::new(unsafe {
        MaybeUninit::<T>::zeroed().assume_init()
    }))
}

/// Destroys an object, also if `call` is to fail.
///
/// # Safety
/// `object` was made by [`create`], and is not used any more.
unsafe fn destroy<T>(call: &'static str, object: *mut T) -> c_int {
    // SAFETY: by the caller's word.
    drop(unsafe { Box::from_raw(object) });
    called(call, "")
}

/// A descriptor that is never readable.
fn descriptor() -> c_int {
    UnixDatagram::unbound().expect("a socket").into_raw_fd()
}

unsafe extern "C" fn get_device_list(count: *mut c_int) -> *mut *mut ibv_device {
    let list: *mut [*mut ibv_device; 1] = create("get_device_list", "");
    if list.is_null() {
        return ptr::null_mut();
    }
    let device: *mut ibv_device = create("a device", "");
    // SAFETY: the caller has room for the number.
    unsafe { *count = 1 };
    // SAFETY: the list is new, and has room for one.
    unsafe { (*list)[0] = device };
    for (at, letter) in b"fake0".iter().enumerate() {
        // SAFETY: the device is new, and its name has room for 64 letters.
        unsafe { (*device).name[at] = letter.cast_signed() };
    }
    list.cast()
}

unsafe extern "C" fn free_device_list(list: *mut *mut ibv_device) {
    // SAFETY: the list has one device.
    let device = unsafe { *list };
    // SAFETY: both were made by `get_device_list`.
    unsafe { destroy("no device", device) };
    // SAFETY: as above.
    unsafe { destroy("free_device_list", list.cast::<[*mut ibv_device; 1]>()) };
}

unsafe extern "C" fn open_device(_: *mut ibv_device) -> *mut ibv_context {
    let context: *mut ibv_context = create("open_device", "");
    if !context.is_null() {
        // SAFETY: the context is new.
        let context = unsafe { &mut *context };
        context.async_fd = descriptor();
        context.ops.post_send = Some(post_send);
        context.ops.post_recv = Some(post_recv);
        context.ops.poll_cq = Some(poll_cq);
    }
    context
}

unsafe extern "C" fn close_device(context: *mut ibv_context) -> c_int {
    // SAFETY: the context is alive.
    let fd = unsafe { (*context).async_fd };
    // SAFETY: the context owned the descriptor.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    // SAFETY: made by `open_device`.
    unsafe { destroy("close_device", context) }
}

unsafe extern "C" fn query_device(_: *mut ibv_context, _: *mut ibv_device_attr) -> c_int {
    called("query_device", "")
}

unsafe extern "C" fn query_port(_: *mut ibv_context, _: u8, _: *mut ibv_port_attr) -> c_int {
    called("query_port", "")
}

unsafe extern "C" fn query_gid_table(
    _: *mut ibv_context,
    _: *mut ibv_gid_entry,
    _: usize,
    _: u32,
    _: usize,
) -> isize {
    -(called("query_gid_table", "") as isize)
}

unsafe extern "C" fn alloc_pd(_: *mut ibv_context) -> *mut ibv_pd {
    create("alloc_pd", "")
}

unsafe extern "C" fn dealloc_pd(domain: *mut ibv_pd) -> c_int {
    // SAFETY: made by `alloc_pd`.
    unsafe { destroy("dealloc_pd", domain) }
}

unsafe extern "C" fn reg_mr(
    _: *mut ibv_pd,
    _: *mut c_void,
    length: usize,
    access: c_int,
) -> *mut ibv_mr {
    let region: *mut ibv_mr = create("reg_mr", &format!("{length} {access}"));
    if !region.is_null() {
        // SAFETY: the region is new.
        let region = unsafe { &mut *region };
        (region.lkey, region.rkey) = (0x11, 0x22);
    }
    region
}

unsafe extern "C" fn dereg_mr(region: *mut ibv_mr) -> c_int {
    // SAFETY: made by `reg_mr`.
    unsafe { destroy("dereg_mr", region) }
}

unsafe extern "C" fn create_comp_channel(_: *mut ibv_context) -> *mut ibv_comp_channel {
    let channel: *mut ibv_comp_channel = create("create_comp_channel", "");
    if !channel.is_null() {
        // SAFETY: the channel is new.
        unsafe { (*channel).fd = descriptor() };
    }
    channel
}

unsafe extern "C" fn destroy_comp_channel(channel: *mut ibv_comp_channel) -> c_int {
    // SAFETY: the channel is alive.
    let fd = unsafe { (*channel).fd };
    // SAFETY: the channel owned the descriptor.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    // SAFETY: made by `create_comp_channel`.
    unsafe { destroy("destroy_comp_channel", channel) }
}

unsafe extern "C" fn create_cq(
    _: *mut ibv_context,
    depth: c_int,
    _: *mut c_void,
    _: *mut ibv_comp_channel,
    _: c_int,
) -> *mut ibv_cq {
    create("create_cq", &depth.to_string())
}

unsafe extern "C" fn destroy_cq(queue: *mut ibv_cq) -> c_int {
    // SAFETY: made by `create_cq`.
    unsafe { destroy("destroy_cq", queue) }
}

unsafe extern "C" fn get_cq_event(
    _: *mut ibv_comp_channel,
    _: *mut *mut ibv_cq,
    _: *mut *mut c_void,
) -> c_int {
    called("get_cq_event", "")
}

unsafe extern "C" fn ack_cq_events(_: *mut ibv_cq, _: c_uint) {
    called("ack_cq_events", "");
}

unsafe extern "C" fn create_qp(_: *mut ibv_pd, attributes: *mut ibv_qp_init_attr) -> *mut ibv_qp {
    let pair: *mut ibv_qp = create("create_qp", "");
    if !pair.is_null() {
        // SAFETY: the queue pair is new.
        unsafe { (*pair).qp_num = 17 };
        // SAFETY: the caller's attributes, which say what is granted.
        unsafe { (*attributes).cap.max_inline_data = 8 };
    }
    pair
}

unsafe extern "C" fn modify_qp(_: *mut ibv_qp, attributes: *mut ibv_qp_attr, mask: c_int) -> c_int {
    // SAFETY: the caller's attributes.
    let attributes = unsafe { &*attributes };
    called(
        "modify_qp",
        &format!("to {} by {mask:#x}", attributes.qp_state),
    )
}

unsafe extern "C" fn destroy_qp(pair: *mut ibv_qp) -> c_int {
    // SAFETY: made by `create_qp`.
    unsafe { destroy("destroy_qp", pair) }
}

unsafe extern "C" fn create_ah(_: *mut ibv_pd, _: *mut ibv_ah_attr) -> *mut ibv_ah {
    create("create_ah", "")
}

unsafe extern "C" fn destroy_ah(handle: *mut ibv_ah) -> c_int {
    // SAFETY: made by `create_ah`.
    unsafe { destroy("destroy_ah", handle) }
}

unsafe extern "C" fn create_srq(_: *mut ibv_pd, _: *mut ibv_srq_init_attr) -> *mut ibv_srq {
    create("create_srq", "")
}

unsafe extern "C" fn modify_srq(_: *mut ibv_srq, _: *mut ibv_srq_attr, _: c_int) -> c_int {
    called("modify_srq", "")
}

unsafe extern "C" fn destroy_srq(queue: *mut ibv_srq) -> c_int {
    // SAFETY: made by `create_srq`.
    unsafe { destroy("destroy_srq", queue) }
}

unsafe extern "C" fn get_async_event(_: *mut ibv_context, _: *mut ibv_async_event) -> c_int {
    called("get_async_event", "")
}

unsafe extern "C" fn ack_async_event(_: *mut ibv_async_event) {
    called("ack_async_event", "");
}

unsafe extern "C" fn post_send(
    _: *mut ibv_qp,
    request: *mut ibv_send_wr,
    _: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the caller's request.
    let request = unsafe { &*request };
    // SAFETY: any bits are two numbers.
    let remote = unsafe { request.wr.rdma };
    let shown = format!(
        "{} opcode {} flags {} segments {} immediate {:#x} remote {:#x} {:#x}",
        request.wr_id,
        request.opcode,
        request.send_flags,
        request.num_sge,
        u32::from_be(request.imm_data),
        remote.remote_addr,
        remote.rkey
    );
    called("post_send", &shown)
}

unsafe extern "C" fn post_recv(
    _: *mut ibv_qp,
    request: *mut ibv_recv_wr,
    _: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller's request.
    let request = unsafe { &*request };
    called(
        "post_recv",
        &format!("{} segments {}", request.wr_id, request.num_sge),
    )
}

unsafe extern "C" fn poll_cq(_: *mut ibv_cq, _: c_int, _: *mut ibv_wc) -> c_int {
    called("poll_cq", "")
}
