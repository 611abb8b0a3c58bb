//! A librdmacm beside the fake libibverbs: listeners and connections of this thread, on an address of each port.

use super::c_objects::create;
use super::device::Device;
use super::library::next_address;
use super::{called, with_device};
use crate::ffi::{
    IBV_QP_DEST_QPN, IBV_QP_RNR_RETRY, RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_CONNECT_REQUEST,
    RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_ESTABLISHED,
    RDMA_CM_EVENT_ROUTE_RESOLVED, ibv_context, ibv_device, ibv_qp_attr, rdma_cm_event, rdma_cm_id,
    rdma_conn_param, rdma_event_channel,
};
use crate::library::CmLibrary;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::io::Write;
use std::mem::MaybeUninit;
use std::net::Ipv4Addr;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::ptr;

/// The library.
pub(crate) static CM_LIBRARY: CmLibrary = CmLibrary {
    create_event_channel,
    destroy_event_channel,
    create_id,
    destroy_id,
    bind_addr,
    listen,
    get_src_port,
    resolve_addr,
    resolve_route,
    init_qp_attr,
    connect,
    establish,
    accept,
    reject,
    disconnect,
    get_cm_event,
    ack_cm_event,
};

/// The address of the device's first port.
pub(crate) const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);

/// That of any of its ports, by number.
pub(crate) fn address_of(port: u8) -> Ipv4Addr {
    Ipv4Addr::from_bits(ADDRESS.to_bits() + u32::from(port) - 1)
}

/// The port with an address.
fn port_of(address: Ipv4Addr) -> Option<u8> {
    let [_, ports] = with_device(|device| device.counts());
    (1..=ports).find(|port| address_of(*port) == address)
}

/// Bytes of private data in a request on InfiniBand and RoCE.
const REQUEST_DATA: usize = 56;

const RDMA_CM_EVENT_REJECTED: u32 = 8;

thread_local! {
    static STATE: RefCell<State> = const { RefCell::new(State::NEW) };
}

/// What the library knows; identifiers and channels by the addresses of their C objects.
struct State {
    identifiers: BTreeMap<usize, Identifier>,
    doorbells: BTreeMap<usize, UnixStream>,
    last_port: u16,
    /// An event, and the one that comes in its place, with its status.
    replaced: Option<(u32, u32, c_int)>,
}

#[derive(Default)]
struct Identifier {
    channel: usize,
    /// Where it is bound, or which port it wants to connect to.
    port: u16,
    is_listening: bool,
    /// The other end.
    peer: Option<usize>,
    /// Of its queue pair, if it has said so.
    number: Option<u32>,
}

/// An event with the bytes that it points to.
#[repr(C)]
struct Event {
    event: rdma_cm_event,
    data: Vec<u8>,
}

impl State {
    const NEW: Self = Self {
        identifiers: BTreeMap::new(),
        doorbells: BTreeMap::new(),
        last_port: 4000,
        replaced: None,
    };

    /// Announces an event of `id`, which `listener` has made if it is a request.
    fn announce(&mut self, id: usize, listener: usize, kind: u32, mut data: Vec<u8>) {
        let Some(channel) = self.identifiers.get(&id).map(|id| id.channel) else {
            return;
        };
        let (event, status) = match self.replaced {
            Some((replaced, event, status)) if replaced == kind => (event, status),
            _ => (kind, 0),
        };
        // SAFETY: the event consists of numbers and pointers, of which zeros are valid.
        let mut raw = unsafe { MaybeUninit::<rdma_cm_event>::zeroed().assume_init() };
        raw.id = ptr::with_exposed_provenance_mut(id);
        raw.listen_id = ptr::with_exposed_provenance_mut(listener);
        (raw.event, raw.status) = (event, status);
        data.shrink_to_fit();
        let conn = rdma_conn_param {
            private_data: data.as_ptr().cast(),
            private_data_len: data.len() as u8,
            ..parameters()
        };
        raw.param.conn = conn;
        let event = Box::into_raw(Box::new(Event { event: raw, data }));
        let address = event.expose_provenance().to_ne_bytes();
        let mut doorbell = &self.doorbells[&channel];
        doorbell.write_all(&address).expect("room for an event");
    }
}

/// Lets another event come in place of each of a kind from now on.
pub(crate) fn replace_event(kind: u32, by: u32, status: c_int) {
    with(|state| state.replaced = Some((kind, by, status)));
}

/// Begins anew.
pub(super) fn start() {
    STATE.set(State::NEW);
}

fn with<R>(with: impl FnOnce(&mut State) -> R) -> R {
    STATE.with_borrow_mut(with)
}

fn parameters() -> rdma_conn_param {
    // SAFETY: numbers and a pointer, of which zeros are valid.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// The status of a call that is written down: -1 with a reason in errno, if it is to fail.
fn status(call: &'static str) -> c_int {
    match called(call, format_args!("")) {
        0 => 0,
        _ => refuse(),
    }
}

fn refuse() -> c_int {
    drop(std::fs::File::open("/nowhere"));
    -1
}

unsafe extern "C" fn create_event_channel() -> *mut rdma_event_channel {
    let channel: *mut rdma_event_channel = create("rdma_create_event_channel", format_args!(""));
    if !channel.is_null() {
        let (events, doorbell) = UnixStream::pair().expect("a socket");
        // SAFETY: the channel is new.
        unsafe { (*channel).fd = events.into_raw_fd() };
        with(|state| state.doorbells.insert(channel.addr(), doorbell));
    }
    channel
}

unsafe extern "C" fn destroy_event_channel(channel: *mut rdma_event_channel) {
    called("rdma_destroy_event_channel", format_args!(""));
    with(|state| state.doorbells.remove(&channel.addr()));
    // SAFETY: the channel was made by `create_event_channel`.
    let channel = unsafe { Box::from_raw(channel) };
    // SAFETY: the channel owns its descriptor.
    drop(unsafe { OwnedFd::from_raw_fd(channel.fd) });
}

unsafe extern "C" fn create_id(
    channel: *mut rdma_event_channel,
    id: *mut *mut rdma_cm_id,
    _: *mut c_void,
    _: c_uint,
) -> c_int {
    let new: *mut rdma_cm_id = create("rdma_create_id", format_args!(""));
    if new.is_null() {
        return -1;
    }
    // SAFETY: the caller has room for the identifier.
    unsafe { *id = new };
    with(|state| state.add(new, channel.addr(), Identifier::default()));
    0
}

impl State {
    fn add(&mut self, new: *mut rdma_cm_id, channel: usize, identifier: Identifier) {
        let identifier = Identifier {
            channel,
            ..identifier
        };
        self.identifiers.insert(new.expose_provenance(), identifier);
    }

    fn id(&mut self, id: *mut rdma_cm_id) -> &mut Identifier {
        self.identifiers.get_mut(&id.addr()).expect("an identifier")
    }

    /// Ends the connection of an identifier: its peer learns it by an event.
    fn part(&mut self, id: *mut rdma_cm_id, kind: u32, status: c_int) {
        let Some(peer) = self
            .identifiers
            .get_mut(&id.addr())
            .and_then(|id| id.peer.take())
        else {
            return;
        };
        if let Some(of) = self.identifiers.get_mut(&peer) {
            of.peer = None;
            let before = self.replaced.replace((kind, kind, status));
            self.announce(peer, 0, kind, Vec::new());
            self.replaced = before;
        }
    }

    /// Ends an identifier: its peer learns that the connection has ended, or is not made.
    fn end(&mut self, id: *mut rdma_cm_id) {
        let is_known = |id: &usize| {
            self.identifiers
                .get(id)
                .is_some_and(|id| id.number.is_some())
        };
        let peer = self.identifiers.get(&id.addr()).and_then(|id| id.peer);
        let (kind, status) = match is_known(&id.addr()) && peer.as_ref().is_some_and(is_known) {
            true => (RDMA_CM_EVENT_DISCONNECTED, 0),
            false => (RDMA_CM_EVENT_REJECTED, 28),
        };
        self.part(id, kind, status);
    }
}

unsafe extern "C" fn destroy_id(id: *mut rdma_cm_id) -> c_int {
    called("rdma_destroy_id", format_args!(""));
    with(|state| {
        state.end(id);
        state.identifiers.remove(&id.addr());
    });
    // SAFETY: the identifier was made here.
    let id = unsafe { Box::from_raw(id) };
    if !id.verbs.is_null() {
        // SAFETY: so was its context.
        let context = unsafe { Box::from_raw(id.verbs) };
        // SAFETY: and its device.
        drop(unsafe { Box::from_raw(context.device) });
    }
    0
}

/// Port and address of a `struct sockaddr_in`.
///
/// # Safety
/// It is one, or a longer address, whose family is another then.
unsafe fn address(raw: *mut c_void) -> (u16, Option<Ipv4Addr>) {
    const AF_INET: u16 = 2;
    // SAFETY: every address is as long.
    let bytes = unsafe { raw.cast::<[u8; 8]>().read() };
    let family = u16::from_ne_bytes([bytes[0], bytes[1]]);
    let of = Ipv4Addr::new(bytes[4], bytes[5], bytes[6], bytes[7]);
    let port = u16::from_be_bytes([bytes[2], bytes[3]]);
    (port, (family == AF_INET).then_some(of))
}

/// Gives an identifier a port of the device.
///
/// # Safety
/// The identifier is alive.
unsafe fn give_device(id: *mut rdma_cm_id, port: u8) {
    // SAFETY: the type consists of numbers, pointers and optional functions: zeros are valid.
    let mut device: Box<ibv_device> = Box::new(unsafe { MaybeUninit::zeroed().assume_init() });
    // SAFETY: as above.
    let mut context: Box<ibv_context> = Box::new(unsafe { MaybeUninit::zeroed().assume_init() });
    for (letter, of) in device.name.iter_mut().zip(Device::NAME.bytes()) {
        *letter = of.cast_signed();
    }
    context.device = Box::into_raw(device);
    let mut gid = [0; 16];
    gid[10..12].copy_from_slice(&[0xff; 2]);
    gid[12..].copy_from_slice(&address_of(port).octets());
    // SAFETY: by the caller's word.
    let id = unsafe { &mut *id };
    id.verbs = Box::into_raw(context);
    id.port_num = port;
    id.route.addr.addr.sgid.raw = gid;
}

unsafe extern "C" fn bind_addr(id: *mut rdma_cm_id, raw: *mut c_void) -> c_int {
    // SAFETY: the caller's address.
    let (port, of) = unsafe { address(raw) };
    let bound = of.and_then(port_of);
    let Some(number) = bound.filter(|_| status("rdma_bind_addr") == 0) else {
        return refuse();
    };
    // SAFETY: the caller's identifier.
    unsafe { give_device(id, number) };
    with(|state| {
        state.last_port += 1;
        let free = state.last_port;
        state.id(id).port = if port == 0 { free } else { port };
    });
    0
}

unsafe extern "C" fn listen(id: *mut rdma_cm_id, _: c_int) -> c_int {
    with(|state| state.id(id).is_listening = true);
    status("rdma_listen")
}

unsafe extern "C" fn get_src_port(id: *mut rdma_cm_id) -> u16 {
    with(|state| state.id(id).port).to_be()
}

unsafe extern "C" fn resolve_addr(
    id: *mut rdma_cm_id,
    from: *mut c_void,
    to: *mut c_void,
    _: c_int,
) -> c_int {
    // SAFETY: the caller's address.
    let (_, from) = unsafe { address(from) };
    // SAFETY: as above.
    let (port, to) = unsafe { address(to) };
    let ports = from.and_then(port_of).zip(to.and_then(port_of));
    let Some((number, _)) = ports.filter(|_| status("rdma_resolve_addr") == 0) else {
        return refuse();
    };
    // SAFETY: the caller's identifier.
    unsafe { give_device(id, number) };
    with(|state| {
        state.id(id).port = port;
        state.announce(id.addr(), 0, RDMA_CM_EVENT_ADDR_RESOLVED, Vec::new());
    });
    0
}

unsafe extern "C" fn resolve_route(id: *mut rdma_cm_id, _: c_int) -> c_int {
    let failed = status("rdma_resolve_route");
    if failed == 0 {
        let kind = RDMA_CM_EVENT_ROUTE_RESOLVED;
        with(|state| state.announce(id.addr(), 0, kind, Vec::new()));
    }
    failed
}

unsafe extern "C" fn connect(id: *mut rdma_cm_id, said: *mut rdma_conn_param) -> c_int {
    if status("rdma_connect") != 0 {
        return -1;
    }
    // SAFETY: the caller's parameters.
    let said = unsafe { &*said };
    let len = said.private_data_len.into();
    // SAFETY: the caller's private data, of which there is some.
    let data = unsafe { std::slice::from_raw_parts(said.private_data.cast::<u8>(), len) };
    let mut data = data.to_vec();
    if !with_device(|device| device.is_iwarp()) {
        data.resize(REQUEST_DATA, 0);
    }
    let number = said.qp_num;
    let port = with(|state| {
        state.id(id).number = Some(number);
        state.id(id).port
    });
    let listener = with(|state| {
        let is_it = |of: &Identifier| of.is_listening && of.port == port;
        let mut all = state.identifiers.iter();
        all.find(|(_, of)| is_it(of)).map(|(at, _)| *at)
    });
    let Some(listener) = listener else {
        with(|state| state.announce(id.addr(), 0, RDMA_CM_EVENT_REJECTED, Vec::new()));
        return 0;
    };
    let new: *mut rdma_cm_id = create("a request", format_args!(""));
    with(|state| {
        let channel = state.identifiers[&listener].channel;
        let peer = Some(id.addr());
        state.add(
            new,
            channel,
            Identifier {
                peer,
                ..Identifier::default()
            },
        );
        state.id(id).peer = Some(new.addr());
        state.announce(new.addr(), listener, RDMA_CM_EVENT_CONNECT_REQUEST, data);
    });
    0
}

unsafe extern "C" fn init_qp_attr(
    id: *mut rdma_cm_id,
    attributes: *mut ibv_qp_attr,
    mask: *mut c_int,
) -> c_int {
    if status("rdma_init_qp_attr") != 0 {
        return -1;
    }
    let number = with(|state| {
        let peer = state.id(id).peer?;
        state.identifiers.get(&peer)?.number
    });
    let Some(number) = number else {
        return refuse();
    };
    // SAFETY: the caller's attributes.
    let attributes = unsafe { &mut *attributes };
    (
        attributes.dest_qp_num,
        attributes.rnr_retry,
        attributes.ah_attr.sl,
    ) = (number, 7, 5);
    // SAFETY: the caller has room for the mask.
    unsafe { *mask = (IBV_QP_DEST_QPN | IBV_QP_RNR_RETRY).cast_signed() };
    0
}

unsafe extern "C" fn establish(id: *mut rdma_cm_id) -> c_int {
    let failed = status("rdma_establish");
    if let Some(peer) = with(|state| state.id(id).peer).filter(|_| failed == 0) {
        with(|state| state.announce(peer, 0, RDMA_CM_EVENT_ESTABLISHED, Vec::new()));
    }
    failed
}

unsafe extern "C" fn accept(id: *mut rdma_cm_id, said: *mut rdma_conn_param) -> c_int {
    // SAFETY: the caller's parameters.
    let number = unsafe { (*said).qp_num };
    let Some(peer) = with(|state| {
        state.id(id).number = Some(number);
        state.id(id).peer
    }) else {
        return refuse();
    };
    if status("rdma_accept") != 0 {
        return -1;
    }
    if !with_device(|device| device.is_iwarp()) {
        with(|state| state.announce(peer, 0, RDMA_CM_EVENT_CONNECT_RESPONSE, Vec::new()));
        return 0;
    }
    if let Some(other) = with(|state| state.identifiers[&peer].number) {
        with_device(|device| device.connect(other, number));
    }
    for of in [id.addr(), peer] {
        with(|state| state.announce(of, 0, RDMA_CM_EVENT_ESTABLISHED, Vec::new()));
    }
    0
}

unsafe extern "C" fn reject(id: *mut rdma_cm_id, _: *const c_void, _: u8) -> c_int {
    with(|state| state.part(id, RDMA_CM_EVENT_REJECTED, 28));
    status("rdma_reject")
}

unsafe extern "C" fn disconnect(id: *mut rdma_cm_id) -> c_int {
    with(|state| state.part(id, RDMA_CM_EVENT_DISCONNECTED, 0));
    status("rdma_disconnect")
}

unsafe extern "C" fn get_cm_event(
    channel: *mut rdma_event_channel,
    event: *mut *mut rdma_cm_event,
) -> c_int {
    // SAFETY: the channel is alive.
    let fd = unsafe { (*channel).fd };
    // SAFETY: the channel owns the descriptor.
    let Some(address) = (unsafe { next_address(fd) }) else {
        return -1;
    };
    // SAFETY: the caller has room for the event.
    unsafe { *event = ptr::with_exposed_provenance_mut(address) };
    status("rdma_get_cm_event")
}

unsafe extern "C" fn ack_cm_event(event: *mut rdma_cm_event) -> c_int {
    // SAFETY: the event is the first field of one that was announced.
    let event = unsafe { Box::from_raw(event.cast::<Event>()) };
    assert!(event.data.len() < 256, "private data is shorter");
    status("rdma_ack_cm_event")
}
