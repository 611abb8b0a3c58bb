//! Completion channels: descriptors on which a thread sleeps until a queue has something.

use super::super::context::Context;
use super::super::descriptor::{never_block, next_event};
use super::super::handle::Handle;
use crate::error::VerbsError;
use crate::ffi::ibv_comp_channel;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr;
use std::sync::Arc;
use std::time::Instant;

/// A completion channel: several queues can announce completions on it. It is a descriptor, which is readable while
/// there is an event.
pub struct CompletionChannel(pub(super) Arc<LiveChannel>);

pub(super) struct LiveChannel {
    pub(super) channel: Handle<ibv_comp_channel>,
    context: Context,
}

impl Context {
    /// Creates a completion channel.
    ///
    /// # Errors
    /// When the process has no more descriptors, for instance.
    pub fn create_completion_channel(&self) -> Result<CompletionChannel, VerbsError> {
        // SAFETY: the context is open.
        let channel = unsafe { (self.library().create_comp_channel)(self.as_ptr()) };
        let channel = Handle::new(channel)
            .map_err(|why| VerbsError::io("ibv_create_comp_channel", self.name(), "", &why))?;
        let context = self.clone();
        let channel = CompletionChannel(Arc::new(LiveChannel { channel, context }));
        never_block(channel.as_fd(), &channel)?;
        Ok(channel)
    }
}

impl Drop for LiveChannel {
    fn drop(&mut self) {
        // SAFETY: the queues of the channel own it, so there are none.
        unsafe { (self.context.library().destroy_comp_channel)(self.channel.as_ptr()) };
    }
}

impl CompletionChannel {
    /// Waits for an event, and returns the key of the queue it came from; `None` at the deadline.
    ///
    /// A queue gives one event for each [`CompletionQueue::arm`](super::CompletionQueue::arm).
    ///
    /// # Errors
    /// When the channel cannot be read.
    ///
    /// # Cost
    /// Two system calls and an allocation.
    pub fn wait(&self, deadline: Instant) -> Result<Option<u64>, VerbsError> {
        let library = self.0.context.library();
        let take = || {
            let (mut queue, mut key) = (ptr::null_mut(), ptr::null_mut());
            // SAFETY: the channel is alive, and there is room for both answers.
            let errno = unsafe {
                (library.get_cq_event)(self.0.channel.as_ptr(), &raw mut queue, &raw mut key)
            };
            if errno == 0 {
                // SAFETY: the queue is alive: its destruction waits until this event is acknowledged.
                unsafe { (library.ack_cq_events)(queue, 1) };
            }
            (errno, key.addr() as u64)
        };
        next_event(self.as_fd(), deadline, "ibv_get_cq_event", self, take)
    }

    pub(super) fn context(&self) -> &Context {
        &self.0.context
    }
}

impl AsFd for CompletionChannel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the channel is alive.
        let fd = unsafe { (*self.0.channel.as_ptr()).fd };
        // SAFETY: the descriptor is open as long as the channel lives.
        unsafe { BorrowedFd::borrow_raw(fd) }
    }
}

impl fmt::Debug for CompletionChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a completion channel of {}", self.0.context.name())
    }
}
