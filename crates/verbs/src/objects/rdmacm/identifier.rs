//! [`CmIdentifier`]: a connection of rdmacm, or a listener.

use super::super::handle::Handle;
use super::super::port::Gid;
use super::channel::CmChannel;
use super::socket_address::RawSocketAddress;
use crate::error::VerbsError;
use crate::ffi::{RDMA_PS_TCP, ibv_qp_attr, rdma_cm_id, rdma_conn_param};
use std::ffi::{CStr, c_int};
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::ptr;
use std::time::Duration;

/// A connection of one queue pair, or a listener for them. It is destroyed, and a connection thereby ended, when it is
/// dropped; the queue pair should be dropped first.
///
/// Source: rdma_create_id(3).
pub struct CmIdentifier {
    identifier: Handle<rdma_cm_id>,
    // Dropped after the identifier, which announces events on it.
    channel: CmChannel,
}

/// Tells living identifiers of a channel from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CmKey(usize);

impl CmKey {
    pub(super) fn of(identifier: *mut rdma_cm_id) -> Self {
        Self(identifier.addr())
    }
}

/// What a side says of its queue pair when it connects or accepts.
#[derive(Debug, Clone, Copy)]
pub struct CmParameters<'a> {
    /// The number of the queue pair.
    pub queue_pair: u32,
    /// It takes the receives of a shared queue.
    pub is_shared: bool,
    /// What the peer gets along: at most 56 B when connecting.
    pub private_data: &'a [u8],
    /// How often the devices try again without an answer, 0 to 7. The listening side's is ignored.
    pub retry_count: u8,
    /// How often the peer tries again when this side has no receive posted, 0 to 6; 7 is for ever. iWARP ignores it.
    pub rnr_retry_count: u8,
}

impl CmChannel {
    /// Creates an identifier of a reliable connection, or of a listener for them.
    ///
    /// # Errors
    /// When the process has no more of them.
    pub fn create_identifier(&self) -> Result<CmIdentifier, VerbsError> {
        let mut identifier = ptr::null_mut();
        // SAFETY: the channel is alive, and there is room for the identifier.
        let status = unsafe {
            let channel = self.as_ptr();
            (self.library().create_id)(channel, &raw mut identifier, ptr::null_mut(), RDMA_PS_TCP)
        };
        if status != 0 {
            let why = std::io::Error::last_os_error();
            return Err(VerbsError::io(
                "rdma_create_id",
                format!("{self:?}"),
                "",
                &why,
            ));
        }
        let identifier = Handle::new(identifier)
            .map_err(|why| VerbsError::io("rdma_create_id", format!("{self:?}"), "", &why))?;
        Ok(CmIdentifier::new(identifier, self.clone()))
    }
}

impl CmIdentifier {
    pub(super) fn new(identifier: Handle<rdma_cm_id>, channel: CmChannel) -> Self {
        Self {
            identifier,
            channel,
        }
    }

    /// By which events name it.
    #[must_use]
    pub fn key(&self) -> CmKey {
        CmKey::of(self.as_ptr())
    }

    /// Binds it to an address of this host, and to the device of that address.
    ///
    /// # Errors
    /// When no device has the address.
    pub fn bind(&mut self, address: SocketAddr) -> Result<(), VerbsError> {
        let mut raw = RawSocketAddress::new(address);
        // SAFETY: the identifier is alive, and the call reads the address.
        let status = unsafe { (self.channel.library().bind_addr)(self.as_ptr(), raw.as_ptr()) };
        self.check("rdma_bind_addr", format_args!("{address}"), status)
    }

    /// Awaits requests of peers, of which `backlog` may be open.
    ///
    /// # Errors
    /// When its port is taken, for instance.
    pub fn listen(&mut self, backlog: u32) -> Result<(), VerbsError> {
        let count = c_int::try_from(backlog).unwrap_or(c_int::MAX);
        // SAFETY: the identifier is alive.
        let status = unsafe { (self.channel.library().listen)(self.as_ptr(), count) };
        self.check("rdma_listen", format_args!("backlog {backlog}"), status)
    }

    /// The port that it is bound to.
    #[must_use]
    pub fn port(&self) -> u16 {
        // SAFETY: the identifier is alive.
        u16::from_be(unsafe { (self.channel.library().get_src_port)(self.as_ptr()) })
    }

    /// The device and the number of its port that it is bound to, if it is.
    #[must_use]
    pub fn device(&self) -> Option<(String, u8)> {
        // SAFETY: the identifier is alive, and only calls on it change the field.
        let context = unsafe { (*self.as_ptr()).verbs };
        // SAFETY: as above.
        let port = unsafe { (*self.as_ptr()).port_num };
        if context.is_null() {
            return None;
        }
        // SAFETY: an identifier that is bound has an open context.
        let device = unsafe { (*context).device };
        // SAFETY: the device of an open context is alive.
        let name = unsafe { &raw const (*device).name };
        // SAFETY: the library ends the name with a zero, and never changes it.
        let name = unsafe { CStr::from_ptr(name.cast()) };
        Some((name.to_string_lossy().into_owned(), port))
    }

    /// The GID of the port that its packets come from; of iWARP, which has none, without meaning.
    #[must_use]
    pub fn source_gid(&self) -> Gid {
        // SAFETY: the identifier is alive, and only calls on it change the field; any bits are a GID.
        Gid(unsafe { (*self.as_ptr()).route.addr.addr.sgid.raw })
    }

    /// Finds the device and the hardware address by which `to` is reached from `from`: an event tells.
    ///
    /// # Errors
    /// When the call refuses at once.
    pub fn resolve_address(
        &mut self,
        from: SocketAddr,
        to: SocketAddr,
        timeout: Duration,
    ) -> Result<(), VerbsError> {
        let (mut source, mut destination) =
            (RawSocketAddress::new(from), RawSocketAddress::new(to));
        // SAFETY: the identifier is alive, and the call reads both addresses.
        let status = unsafe {
            let [source, destination] = [source.as_ptr(), destination.as_ptr()];
            (self.channel.library().resolve_addr)(self.as_ptr(), source, destination, ms(timeout))
        };
        self.check("rdma_resolve_addr", format_args!("{from} to {to}"), status)
    }

    /// Finds the route to the resolved address, on InfiniBand by a query of the subnet manager: an event tells.
    ///
    /// # Errors
    /// When the call refuses at once.
    pub fn resolve_route(&mut self, timeout: Duration) -> Result<(), VerbsError> {
        // SAFETY: the identifier is alive.
        let status = unsafe { (self.channel.library().resolve_route)(self.as_ptr(), ms(timeout)) };
        self.check("rdma_resolve_route", format_args!(""), status)
    }

    /// Asks the listener at the resolved address for a connection: an event tells its answer.
    ///
    /// # Errors
    /// When the call refuses at once.
    pub fn connect(&mut self, parameters: CmParameters<'_>) -> Result<(), VerbsError> {
        let mut raw = parameters.to_c();
        // SAFETY: the identifier is alive, and the call reads the parameters.
        let status = unsafe { (self.channel.library().connect)(self.as_ptr(), &raw mut raw) };
        self.check("rdma_connect", parameters, status)
    }

    /// Completes the connection that the peer has accepted; see [`Response`](super::CmEventKind::Response).
    ///
    /// # Errors
    /// When the peer is gone.
    pub fn establish(&mut self) -> Result<(), VerbsError> {
        // SAFETY: the identifier is alive.
        let status = unsafe { (self.channel.library().establish)(self.as_ptr()) };
        self.check("rdma_establish", format_args!(""), status)
    }

    /// Accepts a request. On InfiniBand and RoCE the queue pair can receive already.
    ///
    /// # Errors
    /// When the peer is gone.
    pub fn accept(&mut self, parameters: CmParameters<'_>) -> Result<(), VerbsError> {
        let mut raw = parameters.to_c();
        // SAFETY: the identifier is alive, and the call reads the parameters.
        let status = unsafe { (self.channel.library().accept)(self.as_ptr(), &raw mut raw) };
        self.check("rdma_accept", parameters, status)
    }

    /// Refuses a request.
    ///
    /// # Errors
    /// When the peer is gone.
    pub fn reject(self) -> Result<(), VerbsError> {
        // SAFETY: the identifier is alive, and there are no bytes to read.
        let status = unsafe { (self.channel.library().reject)(self.as_ptr(), ptr::null(), 0) };
        self.check("rdma_reject", format_args!(""), status)
    }

    /// Ends the connection: both sides get an event.
    ///
    /// # Errors
    /// When there is no connection.
    pub fn disconnect(&mut self) -> Result<(), VerbsError> {
        // SAFETY: the identifier is alive.
        let status = unsafe { (self.channel.library().disconnect)(self.as_ptr()) };
        self.check("rdma_disconnect", format_args!(""), status)
    }

    /// The attributes, and their mask, by which a queue pair of this connection gets to `state`.
    pub(in crate::objects) fn attributes(
        &self,
        state: u32,
    ) -> Result<(ibv_qp_attr, u32), VerbsError> {
        // SAFETY: every attribute is a number, of which 0 is one.
        let mut attributes = unsafe { MaybeUninit::<ibv_qp_attr>::zeroed().assume_init() };
        attributes.qp_state = state;
        let mut mask = 0;
        // SAFETY: the identifier is alive, and there is room for the attributes and their mask.
        let status = unsafe {
            let init = self.channel.library().init_qp_attr;
            init(self.as_ptr(), &raw mut attributes, &raw mut mask)
        };
        self.check(
            "rdma_init_qp_attr",
            format_args!("to state {state}"),
            status,
        )?;
        Ok((attributes, mask.cast_unsigned()))
    }

    fn as_ptr(&self) -> *mut rdma_cm_id {
        self.identifier.as_ptr()
    }

    /// An error if a call on this identifier returned one, which leaves its reason in errno.
    fn check(
        &self,
        call: &'static str,
        attributes: impl fmt::Display,
        status: c_int,
    ) -> Result<(), VerbsError> {
        if status == 0 {
            return Ok(());
        }
        let why = io::Error::last_os_error();
        Err(VerbsError::io(
            call,
            format!("{self:?}"),
            attributes.to_string(),
            &why,
        ))
    }
}

impl CmParameters<'_> {
    fn to_c(self) -> rdma_conn_param {
        let Self {
            queue_pair,
            is_shared,
            private_data,
            retry_count,
            rnr_retry_count,
        } = self;
        rdma_conn_param {
            private_data: private_data.as_ptr().cast(),
            private_data_len: private_data.len() as u8,
            // As the attributes of queue pairs have it that are connected otherwise: one read in flight each way.
            responder_resources: 1,
            initiator_depth: 1,
            flow_control: 1,
            retry_count,
            rnr_retry_count,
            srq: is_shared.into(),
            qp_num: queue_pair,
        }
    }
}

impl fmt::Display for CmParameters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "queue pair {}, {} B of private data, retry_count {}, rnr_retry_count {}",
            self.queue_pair,
            self.private_data.len(),
            self.retry_count,
            self.rnr_retry_count
        )
    }
}

impl Drop for CmIdentifier {
    fn drop(&mut self) {
        // SAFETY: the identifier is alive, nobody else has it, and all of its events are acknowledged.
        unsafe { (self.channel.library().destroy_id)(self.as_ptr()) };
    }
}

impl fmt::Debug for CmIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.device() {
            Some((name, port)) => write!(f, "an identifier of rdmacm on {name}:{port}"),
            None => f.write_str("an identifier of rdmacm"),
        }
    }
}

fn ms(timeout: Duration) -> c_int {
    c_int::try_from(timeout.as_millis()).unwrap_or(c_int::MAX)
}
