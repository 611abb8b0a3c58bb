//! [`CmChannel`]: where identifiers announce events.

use super::super::descriptor::never_block;
use super::super::handle::Handle;
use crate::error::{Unavailable, VerbsError};
use crate::ffi::rdma_event_channel;
use crate::library::CmLibrary;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// Where identifiers announce events: a descriptor for poll and epoll. Clones are the same one.
///
/// Source: rdma_create_event_channel(3).
#[derive(Clone)]
pub struct CmChannel(Arc<LiveChannel>);

struct LiveChannel {
    library: &'static CmLibrary,
    channel: Handle<rdma_event_channel>,
}

impl CmChannel {
    /// Creates a channel. The first call loads librdmacm.
    ///
    /// # Errors
    /// Why this process cannot use rdmacm: no library, or a kernel without the module `rdma_ucm`.
    pub fn create() -> Result<Self, Unavailable> {
        Ok(Self::of(CmLibrary::load()?)?)
    }

    /// Creates a channel of a library.
    pub(crate) fn of(library: &'static CmLibrary) -> Result<Self, VerbsError> {
        // SAFETY: the call takes nothing.
        let channel = unsafe { (library.create_event_channel)() };
        let channel = Handle::new(channel).map_err(|why| {
            let hint = "rdmacm needs the kernel module rdma_ucm";
            VerbsError::io("rdma_create_event_channel", "this machine", hint, &why)
        })?;
        let channel = Self(Arc::new(LiveChannel { library, channel }));
        never_block(channel.as_fd(), &channel)?;
        Ok(channel)
    }

    pub(super) fn library(&self) -> &'static CmLibrary {
        self.0.library
    }

    pub(super) fn as_ptr(&self) -> *mut rdma_event_channel {
        self.0.channel.as_ptr()
    }
}

impl Drop for LiveChannel {
    fn drop(&mut self) {
        // SAFETY: the identifiers of the channel own it, so there are none.
        unsafe { (self.library.destroy_event_channel)(self.channel.as_ptr()) };
    }
}

impl AsFd for CmChannel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the channel is alive.
        let fd = unsafe { (*self.as_ptr()).fd };
        // SAFETY: the descriptor is open as long as the channel lives.
        unsafe { BorrowedFd::borrow_raw(fd) }
    }
}

impl fmt::Debug for CmChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a channel of rdmacm")
    }
}
