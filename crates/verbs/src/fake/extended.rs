//! The functions of the fake library that only a [`verbs_context`] names: those of XRC, and of what else a device can do.

use super::c_objects::{create, destroy};
use super::requests::number_of;
use super::{called, with_device};
use crate::ffi::{
    IBV_ODP_SUPPORT, IBV_ODP_SUPPORT_READ, IBV_ODP_SUPPORT_WRITE, IBV_QPT_XRC_RECV, ibv_context,
    ibv_device_attr_ex, ibv_qp, ibv_qp_init_attr_ex, ibv_qp_open_attr, ibv_srq,
    ibv_srq_init_attr_ex, ibv_xrcd, ibv_xrcd_init_attr, verbs_context,
};
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::os::unix::fs::MetadataExt;
use std::ptr;

/// A context as a library allocates it.
#[repr(C)]
pub(super) struct ExtendedContext {
    pub(super) extended: verbs_context,
    pub(super) context: ibv_context,
}

impl ExtendedContext {
    /// Names the functions.
    pub(super) const fn fill(&mut self) {
        self.extended.sz = size_of::<Self>();
        self.extended.query_device_ex = Some(query_device_ex);
        self.extended.open_xrcd = Some(open_xrcd);
        self.extended.close_xrcd = Some(close_xrcd);
        self.extended.create_srq_ex = Some(create_srq_ex);
        self.extended.get_srq_num = Some(get_srq_num);
        self.extended.create_qp_ex = Some(create_qp_ex);
        self.extended.open_qp = Some(open_qp);
    }
}

/// The device of a context, which has its index in place of a descriptor.
fn index_of(context: *mut ibv_context) -> u8 {
    // SAFETY: by the callers, which are the functions of the library, the context is open.
    unsafe { (*context).cmd_fd as u8 }
}

unsafe extern "C" fn query_device_ex(
    context: *mut ibv_context,
    _: *const c_void,
    attributes: *mut ibv_device_attr_ex,
    room: usize,
) -> c_int {
    assert_eq!(room, size_of::<ibv_device_attr_ex>());
    let index = index_of(context);
    if with_device(|device| device.pages_on_demand(index)) {
        let bits = IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_WRITE;
        // SAFETY: the caller's attributes.
        let attributes = unsafe { &mut *attributes };
        attributes.odp_caps.general_caps = IBV_ODP_SUPPORT.into();
        attributes.odp_caps.per_transport_caps[0] = bits;
        attributes.xrc_odp_caps = bits;
    }
    called("query_device_ex", format_args!(""))
}

unsafe extern "C" fn open_xrcd(
    context: *mut ibv_context,
    attributes: *mut ibv_xrcd_init_attr,
) -> *mut ibv_xrcd {
    // SAFETY: the caller's attributes.
    let fd = unsafe { (*attributes).fd };
    let domain: *mut ibv_xrcd = create("open_xrcd", format_args!(""));
    if !domain.is_null() {
        let file = (fd >= 0).then(|| {
            // SAFETY: the caller's descriptor, which stays the caller's.
            let file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
            let of = file.metadata().expect("a file");
            (of.dev(), of.ino())
        });
        let index = index_of(context);
        with_device(|device| device.open_domain(domain.addr(), index, file));
    }
    domain
}

unsafe extern "C" fn close_xrcd(domain: *mut ibv_xrcd) -> c_int {
    with_device(|device| device.close_domain(domain.addr()));
    // SAFETY: made by `open_xrcd`.
    unsafe { destroy("close_xrcd", domain) }
}

unsafe extern "C" fn create_srq_ex(
    context: *mut ibv_context,
    attributes: *mut ibv_srq_init_attr_ex,
) -> *mut ibv_srq {
    let queue: *mut ibv_srq = create("create_srq_ex", format_args!(""));
    if !queue.is_null() {
        // SAFETY: the caller's attributes.
        let attributes = unsafe { &*attributes };
        // SAFETY: the queue is new.
        unsafe { (*queue).srq_context = attributes.srq_context };
        let (address, most) = (queue.expose_provenance(), attributes.attr.max_wr);
        let of = [context.addr(), attributes.pd.addr()];
        let extended = [attributes.xrcd.addr(), attributes.cq.addr()];
        with_device(|device| {
            device.create_shared(address, of, most);
            device.extend_shared(address, extended);
        });
    }
    queue
}

unsafe extern "C" fn get_srq_num(queue: *mut ibv_srq, number: *mut u32) -> c_int {
    // SAFETY: the caller has room for the number.
    unsafe { *number = with_device(|device| device.number_of_shared(queue.addr())) };
    called("get_srq_num", format_args!(""))
}

unsafe extern "C" fn create_qp_ex(
    context: *mut ibv_context,
    attributes: *mut ibv_qp_init_attr_ex,
) -> *mut ibv_qp {
    // SAFETY: the caller's attributes.
    let attributes = unsafe { &*attributes };
    assert_eq!(
        attributes.qp_type, IBV_QPT_XRC_RECV,
        "others have a call of their own"
    );
    let pair: *mut ibv_qp = create("create_qp_ex", format_args!(""));
    if !pair.is_null() {
        let (index, domain) = (index_of(context), attributes.xrcd.addr());
        let number = with_device(|device| device.create_target(index, domain));
        // SAFETY: the queue pair is new.
        unsafe { (*pair).qp_num = number };
        let objects = [pair.expose_provenance(), context.addr()];
        with_device(|device| device.set_objects(number, objects));
    }
    pair
}

unsafe extern "C" fn open_qp(
    _: *mut ibv_context,
    attributes: *mut ibv_qp_open_attr,
) -> *mut ibv_qp {
    // SAFETY: the caller's attributes.
    let attributes = unsafe { &*attributes };
    let pair: *mut ibv_qp = create("open_qp", format_args!(""));
    if pair.is_null() {
        return pair;
    }
    // SAFETY: the queue pair is new.
    unsafe { (*pair).qp_num = attributes.qp_num };
    let (number, domain) = (number_of(pair), attributes.xrcd.addr());
    if with_device(|device| device.open_target(number, domain)) {
        return pair;
    }
    // SAFETY: as above.
    unsafe { destroy("no queue pair", pair) };
    ptr::null_mut()
}
