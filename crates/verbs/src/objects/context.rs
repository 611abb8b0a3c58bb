//! An open device.

use super::descriptor::never_block;
use super::device::Device;
use super::handle::Handle;
use crate::error::VerbsError;
use crate::ffi::{
    IBV_DEVICE_XRC, IBV_ODP_SUPPORT, IBV_ODP_SUPPORT_READ, IBV_ODP_SUPPORT_WRITE, ibv_context,
    ibv_context_ops, ibv_device_attr, ibv_device_attr_ex, verbs_context,
};
use crate::library::Library;
use std::ffi::c_int;
use std::fmt;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr;
use std::sync::Arc;

/// An open device: what ports, protection domains and completion queues are made from. Clones are the same one.
#[derive(Clone)]
pub struct Context(Arc<OpenDevice>);

struct OpenDevice {
    library: &'static Library,
    name: String,
    is_iwarp: bool,
    context: Handle<ibv_context>,
}

/// What a device can do at most.
///
/// Source: ibv_query_device(3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceLimits {
    /// Ports, which are numbered from 1 on.
    pub ports: u8,
    /// PCI vendor of the device.
    pub vendor_id: u32,
    /// The vendor's number of the device.
    pub vendor_part_id: u32,
    /// Queue pairs.
    pub max_qp: u32,
    /// Requests in one work queue.
    pub max_qp_wr: u32,
    /// Segments of a request.
    pub max_sge: u32,
    /// Completion queues.
    pub max_cq: u32,
    /// Entries of a completion queue.
    pub max_cqe: u32,
    /// Memory regions.
    pub max_mr: u32,
    /// Bytes of a memory region.
    pub max_mr_size: u64,
    /// Reads of a queue pair that its peer serves at a time.
    pub max_qp_rd_atom: u32,
    /// Reads that a queue pair has in flight at a time.
    pub max_qp_init_rd_atom: u32,
    /// It has extended reliable connections ([`XrcDomain`](super::XrcDomain)).
    pub has_xrc: bool,
}

/// Where a device reads and writes memory that is registered [on demand](super::Access::ON_DEMAND).
///
/// Source: ibv_query_device_ex(3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OnDemandPaging {
    /// RDMA reads and writes of reliable connections.
    pub reliable: bool,
    /// Those of extended ones.
    pub extended: bool,
}

impl Device {
    /// Opens the device.
    ///
    /// # Errors
    /// When the process may not use it, for instance.
    pub fn open(&self) -> Result<Context, VerbsError> {
        let (library, name) = (self.library(), self.name());
        // SAFETY: `self` keeps the device alive.
        let context = unsafe { (library.open_device)(self.as_ptr()) };
        let context = Handle::new(context)
            .map_err(|why| VerbsError::io("ibv_open_device", &name, "", &why))?;
        let context = Context(Arc::new(OpenDevice {
            library,
            name,
            is_iwarp: self.is_iwarp(),
            context,
        }));
        never_block(context.as_fd(), &context)?;
        Ok(context)
    }
}

impl Drop for OpenDevice {
    fn drop(&mut self) {
        // SAFETY: whatever was made from the context owns a clone of `Context`, so nothing is left of it.
        unsafe { (self.library.close_device)(self.context.as_ptr()) };
    }
}

impl Context {
    /// The device's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What the device can do at most.
    ///
    /// # Errors
    /// When the device does not answer.
    pub fn limits(&self) -> Result<DeviceLimits, VerbsError> {
        let mut attributes = MaybeUninit::<ibv_device_attr>::zeroed();
        // SAFETY: the context is open, and there is room for the answer.
        let errno =
            unsafe { (self.library().query_device)(self.as_ptr(), attributes.as_mut_ptr()) };
        self.check("ibv_query_device", "", errno)?;
        // SAFETY: the call has filled the attributes; each is a number, so the zeroes were valid, too.
        let attributes = unsafe { attributes.assume_init() };
        Ok(DeviceLimits::from(&attributes))
    }

    /// What the device does with memory that is registered on demand; nothing where it does not say so.
    #[must_use]
    pub fn on_demand_paging(&self) -> OnDemandPaging {
        let query = self
            .extended()
            .and_then(|extended| extended.query_device_ex);
        let Some(query) = query else {
            return OnDemandPaging::default();
        };
        let mut attributes = MaybeUninit::<ibv_device_attr_ex>::zeroed();
        let (to, room) = (attributes.as_mut_ptr(), size_of::<ibv_device_attr_ex>());
        // SAFETY: the context is open, and there is so much room for the answer.
        let errno = unsafe { query(self.as_ptr(), ptr::null(), to, room) };
        // SAFETY: each attribute is a number, of which zero is one, and the call has filled those that it knows.
        let attributes = unsafe { attributes.assume_init() };
        let needed = IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_WRITE;
        let has_any =
            errno == 0 && attributes.odp_caps.general_caps & u64::from(IBV_ODP_SUPPORT) != 0;
        let has = |bits: u32| has_any && bits & needed == needed;
        let [reliable, ..] = attributes.odp_caps.per_transport_caps;
        OnDemandPaging {
            reliable: has(reliable),
            extended: has(attributes.xrc_odp_caps),
        }
    }

    /// Whether its network is iWARP: only rdmacm makes connections there, and devices neither wait for a receive of the
    /// peer, nor know numbers of messages or atomics.
    #[must_use]
    pub fn is_iwarp(&self) -> bool {
        self.0.is_iwarp
    }

    /// Whether both are the same opening of a device: objects of two do not fit each other.
    pub(super) fn is(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn library(&self) -> &'static Library {
        self.0.library
    }

    pub(super) fn as_ptr(&self) -> *mut ibv_context {
        self.0.context.as_ptr()
    }

    /// The provider's functions on the path of a message.
    pub(super) fn ops(&self) -> &ibv_context_ops {
        // SAFETY: the context is open, and the provider has filled the table when it was opened.
        unsafe { &(*self.as_ptr()).ops }
    }

    /// The provider's functions that the library has no names for; `None` if there are fewer.
    pub(super) fn extended(&self) -> Option<&verbs_context> {
        let extended = self.as_ptr().cast::<verbs_context>().wrapping_sub(1);
        // SAFETY: libraries of rdma-core 32 and later allocate each context at the end of a `verbs_context`, which is filled
        // when the device is opened; `layouts.c` asserts what is before the context.
        let extended = unsafe { &*extended };
        let least = size_of::<verbs_context>() + size_of::<ibv_context>();
        (extended.sz >= least).then_some(extended)
    }

    /// An error if a call on this device returned one.
    pub(super) fn check(
        &self,
        call: &'static str,
        attributes: &str,
        errno: c_int,
    ) -> Result<(), VerbsError> {
        match errno {
            0 => Ok(()),
            errno => Err(VerbsError::new(call, self.name(), attributes, errno)),
        }
    }
}

impl AsFd for Context {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the context is open, and its descriptors never change.
        let fd = unsafe { (*self.as_ptr()).async_fd };
        // SAFETY: the descriptor is open as long as the context is.
        unsafe { BorrowedFd::borrow_raw(fd) }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<&ibv_device_attr> for DeviceLimits {
    fn from(attributes: &ibv_device_attr) -> DeviceLimits {
        // The header declares counts as `int`; providers give -1 for what they do not have.
        let count = |number: c_int| u32::try_from(number).unwrap_or(0);
        DeviceLimits {
            ports: attributes.phys_port_cnt,
            vendor_id: attributes.vendor_id,
            vendor_part_id: attributes.vendor_part_id,
            max_qp: count(attributes.max_qp),
            max_qp_wr: count(attributes.max_qp_wr),
            max_sge: count(attributes.max_sge),
            max_cq: count(attributes.max_cq),
            max_cqe: count(attributes.max_cqe),
            max_mr: count(attributes.max_mr),
            max_mr_size: attributes.max_mr_size,
            max_qp_rd_atom: count(attributes.max_qp_rd_atom),
            max_qp_init_rd_atom: count(attributes.max_qp_init_rd_atom),
            has_xrc: attributes.device_cap_flags & IBV_DEVICE_XRC != 0,
        }
    }
}
