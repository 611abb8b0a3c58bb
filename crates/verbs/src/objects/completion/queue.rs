//! Completion queues.

use super::super::context::Context;
use super::super::handle::Handle;
use super::channel::{CompletionChannel, LiveChannel};
use super::entry::Completion;
use crate::error::{EINVAL, ENOSYS, VerbsError};
use crate::ffi::ibv_cq;
use std::ffi::c_int;
use std::fmt;
use std::ptr;
use std::sync::Arc;

/// A completion queue. Clones are the same one.
#[derive(Clone)]
pub struct CompletionQueue(Arc<LiveQueue>);

struct LiveQueue {
    queue: Handle<ibv_cq>,
    context: Context,
    // Dropped after the queue, which announces completions on it.
    _channel: Option<Arc<LiveChannel>>,
}

/// How a completion queue is made.
#[derive(Debug, Clone, Copy)]
pub struct CompletionQueueOptions<'a> {
    /// The least number of completions that it holds. The queue pairs that use it must never have more requests:
    /// a queue that overflows is lost.
    pub depth: u32,
    /// Where it announces completions once it is armed, and the key by which
    /// [`CompletionChannel::wait`] tells it from others.
    pub channel: Option<(&'a CompletionChannel, u64)>,
    /// The interrupt that announces them, from 0 on.
    pub vector: u32,
}

impl CompletionQueueOptions<'_> {
    /// A queue for `depth` completions, to be polled.
    #[must_use]
    pub fn polled(depth: u32) -> CompletionQueueOptions<'static> {
        CompletionQueueOptions {
            depth,
            channel: None,
            vector: 0,
        }
    }
}

impl Context {
    /// Creates a completion queue.
    ///
    /// # Errors
    /// When it is longer than the device's `max_cqe`, for instance, or the channel is another device's.
    pub fn create_completion_queue(
        &self,
        options: CompletionQueueOptions<'_>,
    ) -> Result<CompletionQueue, VerbsError> {
        let CompletionQueueOptions {
            depth,
            channel,
            vector,
        } = options;
        if channel.is_some_and(|(channel, _)| !self.is(channel.context())) {
            let attributes = "a completion channel of another context";
            return Err(VerbsError::new(
                "ibv_create_cq",
                self.name(),
                attributes,
                EINVAL,
            ));
        }
        let number = |value: u32| c_int::try_from(value).unwrap_or(c_int::MAX);
        let (to, key) = channel.map_or((ptr::null_mut(), 0), |(channel, key)| {
            (channel.0.channel.as_ptr(), key)
        });
        // The library gives the key back, and never follows it as an address.
        let key = ptr::without_provenance_mut(key as usize);
        // SAFETY: the context is open, and the channel, if any, alive.
        let queue = unsafe {
            (self.library().create_cq)(self.as_ptr(), number(depth), key, to, number(vector))
        };
        let queue = Handle::new(queue).map_err(|why| {
            let attributes = format!("{depth} completions, vector {vector}");
            VerbsError::io("ibv_create_cq", self.name(), attributes, &why)
        })?;
        Ok(CompletionQueue(Arc::new(LiveQueue {
            queue,
            context: self.clone(),
            _channel: channel.map(|(channel, _)| Arc::clone(&channel.0)),
        })))
    }
}

impl Drop for LiveQueue {
    fn drop(&mut self) {
        // SAFETY: the queue pairs that use the queue own it, so there are none.
        unsafe { (self.context.library().destroy_cq)(self.queue.as_ptr()) };
    }
}

impl CompletionQueue {
    /// Takes the completions that are there, at most as many as `room` has places; does not wait.
    ///
    /// # Errors
    /// When the device fails. What failed of a request is in its completion.
    ///
    /// # Cost
    /// A call through the provider's table, and on most devices a lock of the queue; no system call.
    #[inline]
    pub fn poll<'a>(&self, room: &'a mut [Completion]) -> Result<&'a [Completion], VerbsError> {
        let LiveQueue { queue, context, .. } = &*self.0;
        let Some(poll) = context.ops().poll_cq else {
            return Err(self.failed("ibv_poll_cq", ENOSYS));
        };
        let most = c_int::try_from(room.len()).unwrap_or(c_int::MAX);
        // SAFETY: the queue is alive, and there is room for `most` completions, each laid out as the library's.
        let count = unsafe { poll(queue.as_ptr(), most, room.as_mut_ptr().cast()) };
        match usize::try_from(count) {
            Ok(count) => Ok(&room[..count]),
            Err(_) => Err(self.failed("ibv_poll_cq", count)),
        }
    }

    /// Makes the queue longer, or shorter, for at least `depth` completions. Those that it has stay.
    ///
    /// # Errors
    /// When the device cannot (soft-iWARP), has none so long, or more completions are there.
    ///
    /// # Cost
    /// A system call.
    pub fn resize(&self, depth: u32) -> Result<(), VerbsError> {
        let LiveQueue { queue, context, .. } = &*self.0;
        let count = c_int::try_from(depth).unwrap_or(c_int::MAX);
        // SAFETY: the queue is alive; providers lock it against a poll of another thread.
        let errno = unsafe { (context.library().resize_cq)(queue.as_ptr(), count) };
        match errno {
            0 => Ok(()),
            errno => {
                let attributes = format!("{depth} completions");
                let of = format!("{self:?}");
                Err(VerbsError::new("ibv_resize_cq", of, attributes, errno))
            }
        }
    }

    /// Asks for one event on its channel when the next completion comes. Poll once more after it: what is there
    /// already gives no event.
    ///
    /// # Errors
    /// When the device fails.
    pub fn arm(&self) -> Result<(), VerbsError> {
        self.request_notification(false)
    }

    /// As [`CompletionQueue::arm`], for the next failure or receive whose sender asked for an event
    /// ([`SendFlags::SOLICITED`](crate::SendFlags::SOLICITED)).
    ///
    /// # Errors
    /// When the device fails.
    pub fn arm_solicited(&self) -> Result<(), VerbsError> {
        self.request_notification(true)
    }

    fn request_notification(&self, solicited_only: bool) -> Result<(), VerbsError> {
        let LiveQueue { queue, context, .. } = &*self.0;
        let errno = match context.ops().req_notify_cq {
            None => ENOSYS,
            // SAFETY: the queue is alive.
            Some(arm) => unsafe { arm(queue.as_ptr(), c_int::from(solicited_only)) },
        };
        match errno {
            0 => Ok(()),
            errno => Err(self.failed("ibv_req_notify_cq", errno)),
        }
    }

    pub(in super::super) fn context(&self) -> &Context {
        &self.0.context
    }

    pub(in super::super) fn as_ptr(&self) -> *mut ibv_cq {
        self.0.queue.as_ptr()
    }

    #[cold]
    fn failed(&self, call: &'static str, errno: c_int) -> VerbsError {
        VerbsError::new(call, format!("{self:?}"), "", errno)
    }
}

impl fmt::Debug for CompletionQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a completion queue of {}", self.0.context.name())
    }
}
