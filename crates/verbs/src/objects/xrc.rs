//! [`XrcDomain`]: what the processes of a node share for extended reliable connections.
//!
//! Source: ibv_open_xrcd(3).

use super::context::Context;
use super::handle::Handle;
use crate::error::{EOPNOTSUPP, VerbsError};
use crate::ffi::{IBV_XRCD_INIT_ATTR_FD, IBV_XRCD_INIT_ATTR_OFLAGS, ibv_xrcd, ibv_xrcd_init_attr};
use std::ffi::c_int;
use std::fmt;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;

/// open(2): makes what is not there.
const O_CREAT: c_int = 0o100;

/// An XRC domain: its targets reach its shared receive queues, of whichever process. Clones are the same one.
#[derive(Clone)]
pub struct XrcDomain(Arc<OpenDomain>);

struct OpenDomain {
    domain: Handle<ibv_xrcd>,
    context: Context,
}

impl Context {
    /// Opens the XRC domain of this device that belongs to `file`: all processes that name the same file share it, and it
    /// ends with the last one. `None` for a domain of this process alone.
    ///
    /// # Errors
    /// When the device has no XRC.
    pub fn open_xrc_domain(&self, file: Option<BorrowedFd<'_>>) -> Result<XrcDomain, VerbsError> {
        const CALL: &str = "ibv_open_xrcd";
        let open = self.extended().and_then(|extended| extended.open_xrcd);
        let open = open.ok_or_else(|| VerbsError::new(CALL, self.name(), "", EOPNOTSUPP))?;
        let mut attributes = ibv_xrcd_init_attr {
            comp_mask: IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
            fd: file.map_or(-1, |file| file.as_raw_fd()),
            oflags: O_CREAT,
        };
        // SAFETY: the context is open; the call reads the attributes, whose descriptor is open during it.
        let domain = unsafe { open(self.as_ptr(), &raw mut attributes) };
        let domain =
            Handle::new(domain).map_err(|why| VerbsError::io(CALL, self.name(), "", &why))?;
        let context = self.clone();
        Ok(XrcDomain(Arc::new(OpenDomain { domain, context })))
    }
}

impl Drop for OpenDomain {
    fn drop(&mut self) {
        if let Some(close) = (self.context.extended()).and_then(|extended| extended.close_xrcd) {
            // SAFETY: whatever was made in the domain owns a clone of it, so nothing of this process is left of it.
            unsafe { close(self.domain.as_ptr()) };
        }
    }
}

impl XrcDomain {
    pub(super) fn context(&self) -> &Context {
        &self.0.context
    }

    pub(super) fn as_ptr(&self) -> *mut ibv_xrcd {
        self.0.domain.as_ptr()
    }

    pub(super) fn describe(&self) -> String {
        format!("an XRC domain of {}", self.context().name())
    }
}

impl fmt::Debug for XrcDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}
