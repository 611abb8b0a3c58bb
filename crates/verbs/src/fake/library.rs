//! The functions of the fake library.

use super::c_objects::{create, destroy, refuse, refuse_region};
use super::device::{Device, EVENT_LEN};
use super::extended::ExtendedContext;
use super::requests::{number_of, poll_cq, post_recv, post_send, post_srq_recv, req_notify_cq};
use super::{called, with_device};
use crate::ffi::{
    IBV_ACCESS_ON_DEMAND, IBV_DEVICE_XRC, IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR,
    IBV_GID_TYPE_ROCE_V2, IBV_LINK_LAYER_ETHERNET, IBV_PORT_ACTIVE, ibv_ah, ibv_ah_attr,
    ibv_async_event, ibv_comp_channel, ibv_context, ibv_cq, ibv_device, ibv_device_attr,
    ibv_gid_entry, ibv_mr, ibv_pd, ibv_port_attr, ibv_qp, ibv_qp_attr, ibv_qp_init_attr, ibv_srq,
    ibv_srq_attr, ibv_srq_init_attr,
};
use crate::library::Library;
use std::ffi::{c_int, c_uint, c_void};
use std::mem::{ManuallyDrop, offset_of};
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
    resize_cq,
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
    fork_init,
    is_fork_initialized: Some(is_fork_initialized),
};

unsafe extern "C" fn get_device_list(count: *mut c_int) -> *mut *mut ibv_device {
    let list: *mut DeviceList = create("get_device_list", format_args!(""));
    if list.is_null() {
        return ptr::null_mut();
    }
    let [devices, _] = with_device(|device| device.counts());
    // SAFETY: the caller has room for the number.
    unsafe { *count = devices.into() };
    for index in 0..devices {
        let device: *mut ibv_device = create("a device", format_args!(""));
        // SAFETY: the list is new, and has room for all.
        unsafe { (*list)[usize::from(index)] = device };
        // SAFETY: the device is new.
        let device = unsafe { &mut *device };
        // The number of iWARP is 1, that of the others 0.
        device.transport_type = with_device(|device| device.is_iwarp()).into();
        for (to, letter) in device.name.iter_mut().zip(Device::NAME.bytes()) {
            *to = letter.cast_signed();
        }
        device.name[INDEX_AT] += index.cast_signed();
    }
    list.cast()
}

/// Where the name of a device has its index.
const INDEX_AT: usize = 4;

/// The array of devices, as long as the longest; null behind the last one.
type DeviceList = [*mut ibv_device; 4];

unsafe extern "C" fn free_device_list(list: *mut *mut ibv_device) {
    // SAFETY: made by `get_device_list`.
    let devices = unsafe { *list.cast::<DeviceList>() };
    for device in devices.into_iter().filter(|device| !device.is_null()) {
        // SAFETY: as above.
        unsafe { destroy("no device", device) };
    }
    // SAFETY: as above.
    unsafe { destroy("free_device_list", list.cast::<DeviceList>()) };
}

unsafe extern "C" fn open_device(device: *mut ibv_device) -> *mut ibv_context {
    let whole: *mut ExtendedContext = create("open_device", format_args!(""));
    if whole.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the context is new.
    unsafe { (*whole).fill() };
    // SAFETY: as above.
    let context = unsafe { &raw mut (*whole).context };
    // SAFETY: the caller's device.
    let index = unsafe { (*device).name[INDEX_AT] } - b'0'.cast_signed();
    let (events, doorbell) = UnixDatagram::pair().expect("a socket");
    with_device(|device| device.set_events(context.addr(), index.cast_unsigned(), doorbell));
    // SAFETY: the context is new.
    let new = unsafe { &mut *context };
    new.async_fd = events.into_raw_fd();
    // No descriptor is needed for commands: here it is the device's index.
    new.cmd_fd = index.into();
    new.ops.post_send = Some(post_send);
    new.ops.post_recv = Some(post_recv);
    new.ops.post_srq_recv = Some(post_srq_recv);
    new.ops.poll_cq = Some(poll_cq);
    new.ops.req_notify_cq = Some(req_notify_cq);
    context
}

unsafe extern "C" fn close_device(context: *mut ibv_context) -> c_int {
    // SAFETY: the context is alive.
    let fd = unsafe { (*context).async_fd };
    // SAFETY: the context owned the descriptor.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    let whole = context.wrapping_byte_sub(offset_of!(ExtendedContext, context));
    // SAFETY: made by `open_device`.
    unsafe { destroy("close_device", whole.cast::<ExtendedContext>()) }
}

unsafe extern "C" fn query_device(_: *mut ibv_context, attributes: *mut ibv_device_attr) -> c_int {
    // SAFETY: the caller's attributes.
    let attributes = unsafe { &mut *attributes };
    attributes.max_cqe = with_device(|device| device.max_cqe());
    (attributes.max_qp_rd_atom, attributes.max_qp_init_rd_atom) = (16, 128);
    attributes.max_qp_wr = with_device(|device| device.max_qp_wr());
    [_, attributes.phys_port_cnt] = with_device(|device| device.counts());
    if with_device(|device| device.has_xrc()) {
        attributes.device_cap_flags |= IBV_DEVICE_XRC;
    }
    called("query_device", format_args!(""))
}

unsafe extern "C" fn query_port(
    _: *mut ibv_context,
    _: u8,
    attributes: *mut ibv_port_attr,
) -> c_int {
    // SAFETY: the caller's attributes.
    let attributes = unsafe { &mut *attributes };
    attributes.max_msg_sz = 1 << 31;
    attributes.state = IBV_PORT_ACTIVE;
    attributes.link_layer = IBV_LINK_LAYER_ETHERNET as u8;
    attributes.gid_tbl_len = 1;
    called("query_port", format_args!(""))
}

unsafe extern "C" fn query_gid_table(
    context: *mut ibv_context,
    entries: *mut ibv_gid_entry,
    room: usize,
    _: u32,
    _: usize,
) -> isize {
    // SAFETY: the context is open.
    let device = unsafe { (*context).cmd_fd } as u8;
    let [_, ports] = with_device(|device| device.counts());
    let numbers = (1..=ports).take(room);
    for (at, port) in numbers.clone().enumerate() {
        // SAFETY: the caller has room for so many.
        let entry = unsafe { &mut *entries.wrapping_add(at) };
        entry.gid.raw = [
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, device, port, 1,
        ];
        entry.port_num = port.into();
        entry.gid_type = IBV_GID_TYPE_ROCE_V2;
    }
    match called("query_gid_table", format_args!("")) {
        0 => numbers.count() as isize,
        errno => -(errno as isize),
    }
}

unsafe extern "C" fn alloc_pd(context: *mut ibv_context) -> *mut ibv_pd {
    let domain: *mut ibv_pd = create("alloc_pd", format_args!(""));
    if !domain.is_null() {
        // SAFETY: the domain is new.
        unsafe { (*domain).context = context };
    }
    domain
}

/// The context of a domain, and the index of its device.
///
/// # Safety
/// Both are alive.
unsafe fn context_of(domain: *mut ibv_pd) -> (usize, u8) {
    // SAFETY: by the caller's word.
    let context = unsafe { (*domain).context };
    // SAFETY: by the caller's word.
    (context.addr(), unsafe { (*context).cmd_fd } as u8)
}

unsafe extern "C" fn dealloc_pd(domain: *mut ibv_pd) -> c_int {
    // SAFETY: made by `alloc_pd`.
    unsafe { destroy("dealloc_pd", domain) }
}

unsafe extern "C" fn reg_mr(
    domain: *mut ibv_pd,
    memory: *mut c_void,
    length: usize,
    access: c_int,
) -> *mut ibv_mr {
    let region: *mut ibv_mr = create("reg_mr", format_args!("{length} {access}"));
    if region.is_null() {
        return region;
    }
    // SAFETY: the caller has a domain, and its context.
    let (_, of) = unsafe { context_of(domain) };
    if !with_device(|device| device.can_register(of)) {
        // SAFETY: the region is new.
        drop(unsafe { Box::from_raw(region) });
        return refuse_region(of);
    }
    let address = memory.expose_provenance() as u64;
    let access = access.cast_unsigned();
    let is_on_demand = access & IBV_ACCESS_ON_DEMAND != 0;
    assert!(
        !is_on_demand || with_device(|device| device.pages_on_demand(of)),
        "the device pins pages"
    );
    let key = with_device(|device| {
        device
            .memory
            .register(domain.addr(), address, length, access)
    });
    // SAFETY: the region is new.
    let region = unsafe { &mut *region };
    (region.lkey, region.rkey) = (key, key);
    region
}

unsafe extern "C" fn dereg_mr(region: *mut ibv_mr) -> c_int {
    // SAFETY: made by `reg_mr`.
    let key = unsafe { (*region).lkey };
    with_device(|device| device.memory.deregister(key));
    // SAFETY: as above.
    unsafe { destroy("dereg_mr", region) }
}

unsafe extern "C" fn create_comp_channel(_: *mut ibv_context) -> *mut ibv_comp_channel {
    let channel: *mut ibv_comp_channel = create("create_comp_channel", format_args!(""));
    if !channel.is_null() {
        let (events, doorbell) = UnixDatagram::pair().expect("a socket");
        // SAFETY: the channel is new.
        unsafe { (*channel).fd = events.into_raw_fd() };
        with_device(|device| device.create_channel(channel.addr(), doorbell));
    }
    channel
}

unsafe extern "C" fn destroy_comp_channel(channel: *mut ibv_comp_channel) -> c_int {
    with_device(|device| device.destroy_channel(channel.addr()));
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
    key: *mut c_void,
    channel: *mut ibv_comp_channel,
    _: c_int,
) -> *mut ibv_cq {
    let queue: *mut ibv_cq = create("create_cq", format_args!("{depth}"));
    if !queue.is_null() {
        // SAFETY: the queue is new.
        unsafe { (*queue).cq_context = key };
        let address = queue.expose_provenance();
        with_device(|device| device.create_queue(address, channel.addr(), depth));
    }
    queue
}

unsafe extern "C" fn resize_cq(queue: *mut ibv_cq, depth: c_int) -> c_int {
    match called("resize_cq", format_args!("{depth}")) {
        0 => with_device(|device| device.resize_queue(queue.addr(), depth)),
        errno => errno,
    }
}

unsafe extern "C" fn destroy_cq(queue: *mut ibv_cq) -> c_int {
    with_device(|device| device.destroy_queue(queue.addr()));
    // SAFETY: made by `create_cq`.
    unsafe { destroy("destroy_cq", queue) }
}

unsafe extern "C" fn get_cq_event(
    channel: *mut ibv_comp_channel,
    queue: *mut *mut ibv_cq,
    key: *mut *mut c_void,
) -> c_int {
    if called("get_cq_event", format_args!("")) != 0 {
        return -1;
    }
    // SAFETY: the channel is alive.
    let fd = unsafe { (*channel).fd };
    // SAFETY: the channel owns the descriptor.
    let Some(address) = (unsafe { next_address(fd) }) else {
        return -1;
    };
    let of: *mut ibv_cq = ptr::with_exposed_provenance_mut(address);
    // SAFETY: a queue is destroyed when its events are acknowledged.
    let found = unsafe { (*of).cq_context };
    // SAFETY: the caller has room for the queue.
    unsafe { *queue = of };
    // SAFETY: and for its key.
    unsafe { *key = found };
    0
}

/// The address of the object of the next event that `fd` announces.
///
/// # Safety
/// The descriptor is an open socket.
pub(super) unsafe fn next_address(fd: c_int) -> Option<usize> {
    // SAFETY: by the caller's word; whoever owns the descriptor keeps it, as the socket here is never dropped.
    let events = ManuallyDrop::new(unsafe { UnixDatagram::from_raw_fd(fd) });
    let mut address = [0; size_of::<usize>()];
    events.recv(&mut address).ok()?;
    Some(usize::from_ne_bytes(address))
}

unsafe extern "C" fn ack_cq_events(_: *mut ibv_cq, _: c_uint) {
    called("ack_cq_events", format_args!(""));
}

unsafe extern "C" fn create_qp(
    domain: *mut ibv_pd,
    attributes: *mut ibv_qp_init_attr,
) -> *mut ibv_qp {
    // SAFETY: the caller's attributes.
    let inline = unsafe { (*attributes).cap.max_inline_data };
    if with_device(|device| device.refuses_inline(inline)) {
        return refuse();
    }
    let pair: *mut ibv_qp = create("create_qp", format_args!(""));
    if !pair.is_null() {
        // SAFETY: the caller's attributes, where the call says what is granted.
        let attributes = unsafe { &mut *attributes };
        let queues = [attributes.send_cq.addr(), attributes.recv_cq.addr()];
        let asked = attributes.cap;
        // SAFETY: the caller's domain.
        let (_, index) = unsafe { context_of(domain) };
        let (number, inline) = with_device(|device| {
            device.create_pair(
                (index, domain.addr()),
                queues,
                attributes.srq.addr(),
                asked.max_send_wr,
                asked.max_inline_data,
            )
        });
        attributes.cap.max_inline_data = inline;
        // SAFETY: the queue pair is new.
        unsafe { (*pair).qp_num = number };
        // SAFETY: the caller's domain.
        let (context, _) = unsafe { context_of(domain) };
        let objects = [pair.expose_provenance(), context];
        with_device(|device| device.set_objects(number, objects));
    }
    pair
}

unsafe extern "C" fn modify_qp(
    pair: *mut ibv_qp,
    attributes: *mut ibv_qp_attr,
    mask: c_int,
) -> c_int {
    // SAFETY: the caller's attributes.
    let attributes = unsafe { &*attributes };
    let errno = called(
        "modify_qp",
        format_args!("to {} by {mask:#x}", attributes.qp_state),
    );
    if errno != 0 {
        return errno;
    }
    let (number, mask) = (number_of(pair), mask.cast_unsigned());
    with_device(|device| device.modify_pair(number, attributes, mask))
}

unsafe extern "C" fn destroy_qp(pair: *mut ibv_qp) -> c_int {
    with_device(|device| device.destroy_pair(number_of(pair)));
    // SAFETY: made by `create_qp`.
    unsafe { destroy("destroy_qp", pair) }
}

unsafe extern "C" fn create_ah(_: *mut ibv_pd, _: *mut ibv_ah_attr) -> *mut ibv_ah {
    create("create_ah", format_args!(""))
}

unsafe extern "C" fn destroy_ah(handle: *mut ibv_ah) -> c_int {
    // SAFETY: made by `create_ah`.
    unsafe { destroy("destroy_ah", handle) }
}

unsafe extern "C" fn create_srq(
    domain: *mut ibv_pd,
    attributes: *mut ibv_srq_init_attr,
) -> *mut ibv_srq {
    let queue: *mut ibv_srq = create("create_srq", format_args!(""));
    if !queue.is_null() {
        // SAFETY: the caller's attributes.
        let attributes = unsafe { &*attributes };
        // SAFETY: the queue is new.
        unsafe { (*queue).srq_context = attributes.srq_context };
        let (address, most) = (queue.expose_provenance(), attributes.attr.max_wr);
        // SAFETY: the caller's domain.
        let (context, _) = unsafe { context_of(domain) };
        with_device(|device| device.create_shared(address, [context, domain.addr()], most));
    }
    queue
}

unsafe extern "C" fn modify_srq(
    queue: *mut ibv_srq,
    attributes: *mut ibv_srq_attr,
    _: c_int,
) -> c_int {
    let errno = called("modify_srq", format_args!(""));
    if errno == 0 {
        // SAFETY: the caller's attributes.
        let limit = unsafe { (*attributes).srq_limit };
        with_device(|device| device.arm_limit(queue.addr(), limit));
    }
    errno
}

unsafe extern "C" fn destroy_srq(queue: *mut ibv_srq) -> c_int {
    with_device(|device| device.destroy_shared(queue.addr()));
    // SAFETY: made by `create_srq`.
    unsafe { destroy("destroy_srq", queue) }
}

unsafe extern "C" fn get_async_event(
    context: *mut ibv_context,
    event: *mut ibv_async_event,
) -> c_int {
    if called("get_async_event", format_args!("")) != 0 {
        return -1;
    }
    // SAFETY: the context is open.
    let fd = unsafe { (*context).async_fd };
    // SAFETY: the context owns the descriptor, which stays open.
    let events = ManuallyDrop::new(unsafe { UnixDatagram::from_raw_fd(fd) });
    loop {
        let mut bytes = [0; EVENT_LEN];
        if events.recv(&mut bytes).is_err() {
            return -1;
        }
        let [a, b, c, d, of @ ..] = bytes;
        let kind = u32::from_ne_bytes([a, b, c, d]);
        let found = (kind, u64::from_ne_bytes(of));
        let Some(object) = with_device(|device| device.object_of(found)) else {
            continue;
        };
        // SAFETY: the caller has room for the event.
        let event = unsafe { &mut *event };
        event.event_type = kind;
        match kind {
            IBV_EVENT_PORT_ACTIVE | IBV_EVENT_PORT_ERR => event.element.port_num = object as c_int,
            // All others are pointers.
            _ => event.element.srq = ptr::with_exposed_provenance_mut(object),
        }
        return 0;
    }
}

unsafe extern "C" fn ack_async_event(_: *mut ibv_async_event) {
    called("ack_async_event", format_args!(""));
}

unsafe extern "C" fn fork_init() -> c_int {
    called("fork_init", format_args!(""))
}

/// This library has its own memory: forks do not matter.
unsafe extern "C" fn is_fork_initialized() -> c_uint {
    2
}
