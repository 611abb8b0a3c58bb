//! [`CmChannel`]: where identifiers announce events.

use super::super::descriptor::{never_block, next_event};
use super::super::handle::Handle;
use super::event::CmEvent;
use super::identifier::CmIdentifier;
use crate::error::{Unavailable, VerbsError};
use crate::ffi::{RDMA_PS_TCP, rdma_event_channel};
use crate::library::CmLibrary;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr;
use std::sync::Arc;
use std::time::Instant;

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

    /// Creates an identifier of a reliable connection, or of a listener for them.
    ///
    /// # Errors
    /// When the process has no more of them.
    pub fn create_identifier(&self) -> Result<CmIdentifier, VerbsError> {
        let mut identifier = ptr::null_mut();
        // SAFETY: the channel is alive, and there is room for the identifier.
        let status = unsafe {
            let channel = self.0.channel.as_ptr();
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

    /// The next event of an identifier of this channel; `None` at the deadline. One that has passed makes it a poll.
    ///
    /// # Errors
    /// When the events cannot be read.
    ///
    /// # Cost
    /// Two system calls; one if there is no event.
    pub fn next_event(&self, deadline: Instant) -> Result<Option<CmEvent>, VerbsError> {
        let take = || {
            let mut event = ptr::null_mut();
            // SAFETY: the channel is alive, and there is room for the event.
            let status =
                unsafe { (self.library().get_cm_event)(self.0.channel.as_ptr(), &raw mut event) };
            if status != 0 {
                return (status, None);
            }
            // SAFETY: the event comes from the library just now, and is acknowledged here only, once its contents are
            // copied; the identifier of a request has no other owner.
            let taken = unsafe {
                let taken = CmEvent::of(&*event, self);
                (self.library().ack_cm_event)(event);
                taken
            };
            (0, Some(taken))
        };
        let call = "rdma_get_cm_event";
        Ok(next_event(self.as_fd(), deadline, call, self, take)?.flatten())
    }

    pub(super) fn library(&self) -> &'static CmLibrary {
        self.0.library
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
        let fd = unsafe { (*self.0.channel.as_ptr()).fd };
        // SAFETY: the descriptor is open as long as the channel lives.
        unsafe { BorrowedFd::borrow_raw(fd) }
    }
}

impl fmt::Debug for CmChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a channel of rdmacm")
    }
}
