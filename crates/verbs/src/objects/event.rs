//! Asynchronous events: what happens to a device or its objects without a request.

use super::context::Context;
use super::descriptor::next_event;
use crate::error::VerbsError;
use crate::ffi::{
    IBV_EVENT_CLIENT_REREGISTER, IBV_EVENT_CQ_ERR, IBV_EVENT_DEVICE_FATAL, IBV_EVENT_GID_CHANGE,
    IBV_EVENT_PATH_MIG_ERR, IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR, IBV_EVENT_QP_ACCESS_ERR,
    IBV_EVENT_QP_FATAL, IBV_EVENT_QP_LAST_WQE_REACHED, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_SM_CHANGE,
    IBV_EVENT_SRQ_ERR, IBV_EVENT_SRQ_LIMIT_REACHED, ibv_async_event,
};
use std::fmt;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::time::Instant;

/// Something that happened without a request.
///
/// Source: ibv_get_async_event(3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsyncEvent {
    /// What happened, a number of `enum ibv_event_type`.
    pub kind: u32,
    /// What it happened to.
    pub source: EventSource,
}

/// What an event happened to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventSource {
    /// The device.
    Device,
    /// The port of this number.
    Port(u8),
    /// The queue pair of this number.
    QueuePair(u32),
    /// The completion queue that was made with this key.
    CompletionQueue(u64),
    /// The shared receive queue that was made with this key.
    SharedReceiveQueue(u64),
}

impl AsyncEvent {
    /// Whether a shared receive queue has fewer receives than it was armed with.
    #[must_use]
    pub fn is_limit_reached(&self) -> bool {
        self.kind == IBV_EVENT_SRQ_LIMIT_REACHED
    }

    /// Whether a port has its link again.
    #[must_use]
    pub fn is_link_up(&self) -> bool {
        self.kind == IBV_EVENT_PORT_ACTIVE
    }

    /// Whether a port has lost its link.
    #[must_use]
    pub fn is_link_down(&self) -> bool {
        self.kind == IBV_EVENT_PORT_ERR
    }

    /// Whether a queue pair in error has given back all receives that it took from a shared queue.
    #[must_use]
    pub fn is_last_receive(&self) -> bool {
        self.kind == IBV_EVENT_QP_LAST_WQE_REACHED
    }

    /// Whether the source has failed: it completes nothing any more, or what it has completed is lost.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        [
            IBV_EVENT_CQ_ERR,
            IBV_EVENT_QP_FATAL,
            IBV_EVENT_QP_REQ_ERR,
            IBV_EVENT_QP_ACCESS_ERR,
            IBV_EVENT_DEVICE_FATAL,
            IBV_EVENT_SRQ_ERR,
        ]
        .contains(&self.kind)
    }

    /// What the library says.
    ///
    /// # Safety
    /// The event was returned by the library, and is not acknowledged yet.
    unsafe fn of(event: &ibv_async_event) -> AsyncEvent {
        // SAFETY: by the table of ibv_get_async_event(3), the event's type says which member is valid; the object
        // lives until the event is acknowledged.
        let source = unsafe { source(event) };
        let kind = event.event_type;
        AsyncEvent { kind, source }
    }
}

/// The object of an event.
///
/// # Safety
/// As [`AsyncEvent::of`].
unsafe fn source(event: &ibv_async_event) -> EventSource {
    match event.event_type {
        IBV_EVENT_CQ_ERR => {
            // SAFETY: the event of a completion queue, by the caller's word.
            let queue = unsafe { event.element.cq };
            // SAFETY: the queue is alive, by the caller's word.
            let key = unsafe { (*queue).cq_context };
            EventSource::CompletionQueue(key.addr() as u64)
        }
        IBV_EVENT_QP_FATAL..=IBV_EVENT_PATH_MIG_ERR | IBV_EVENT_QP_LAST_WQE_REACHED => {
            // SAFETY: the event of a queue pair, by the caller's word.
            let pair = unsafe { event.element.qp };
            // SAFETY: the queue pair is alive, by the caller's word.
            EventSource::QueuePair(unsafe { (*pair).qp_num })
        }
        IBV_EVENT_SRQ_ERR | IBV_EVENT_SRQ_LIMIT_REACHED => {
            // SAFETY: the event of a shared receive queue, by the caller's word.
            let queue = unsafe { event.element.srq };
            // SAFETY: the queue is alive, by the caller's word.
            let key = unsafe { (*queue).srq_context };
            EventSource::SharedReceiveQueue(key.addr() as u64)
        }
        IBV_EVENT_PORT_ACTIVE..=IBV_EVENT_SM_CHANGE
        | IBV_EVENT_CLIENT_REREGISTER
        | IBV_EVENT_GID_CHANGE => {
            // SAFETY: the event of a port, by the caller's word.
            let number = unsafe { event.element.port_num };
            EventSource::Port(u8::try_from(number).unwrap_or(0))
        }
        _ => EventSource::Device,
    }
}

impl Context {
    /// The next event of the device or of an object made from this context; `None` at the deadline.
    ///
    /// The context is a descriptor, which is readable while there is an event.
    ///
    /// # Errors
    /// When the events cannot be read.
    pub fn next_event(&self, deadline: Instant) -> Result<Option<AsyncEvent>, VerbsError> {
        let library = self.library();
        let mut event = MaybeUninit::<ibv_async_event>::zeroed();
        let take = || {
            // SAFETY: the context is open, and there is room for the event.
            let errno = unsafe { (library.get_async_event)(self.as_ptr(), event.as_mut_ptr()) };
            if errno != 0 {
                return (errno, None);
            }
            // SAFETY: the call has filled the event.
            let mut event = unsafe { event.assume_init() };
            // SAFETY: it comes from the library.
            let shown = unsafe { AsyncEvent::of(&event) };
            // SAFETY: it comes from the library, and is acknowledged here only.
            unsafe { (library.ack_async_event)(&raw mut event) };
            (0, Some(shown))
        };
        let call = "ibv_get_async_event";
        Ok(next_event(self.as_fd(), deadline, call, self, take)?.flatten())
    }
}

impl fmt::Display for AsyncEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source {
            EventSource::Device => f.write_str("the device")?,
            EventSource::Port(number) => write!(f, "port {number}")?,
            EventSource::QueuePair(number) => write!(f, "queue pair {number}")?,
            EventSource::CompletionQueue(key) => write!(f, "the completion queue of key {key}")?,
            EventSource::SharedReceiveQueue(key) => {
                write!(f, "the shared receive queue of key {key}")?;
            }
        }
        let (name, meaning) = EVENTS
            .get(self.kind as usize)
            .copied()
            .unwrap_or(("IBV_EVENT_?", "an event that this version does not know"));
        write!(f, ": {meaning} ({name}, {})", self.kind)
    }
}

/// `enum ibv_event_type` in order, with the meanings of ibv_get_async_event(3).
const EVENTS: [(&str, &str); 19] = [
    ("IBV_EVENT_CQ_ERR", "it has overflowed"),
    (
        "IBV_EVENT_QP_FATAL",
        "it has failed, and so have its completions",
    ),
    ("IBV_EVENT_QP_REQ_ERR", "the peer has sent what is invalid"),
    (
        "IBV_EVENT_QP_ACCESS_ERR",
        "the peer may not do what it asked for",
    ),
    ("IBV_EVENT_COMM_EST", "the peer sends already"),
    ("IBV_EVENT_SQ_DRAINED", "its send queue is drained"),
    ("IBV_EVENT_PATH_MIG", "it has moved to its alternate path"),
    (
        "IBV_EVENT_PATH_MIG_ERR",
        "it could not move to its alternate path",
    ),
    ("IBV_EVENT_DEVICE_FATAL", "failed"),
    ("IBV_EVENT_PORT_ACTIVE", "carries messages now"),
    ("IBV_EVENT_PORT_ERR", "has lost its link"),
    ("IBV_EVENT_LID_CHANGE", "has another LID"),
    ("IBV_EVENT_PKEY_CHANGE", "has other partition keys"),
    ("IBV_EVENT_SM_CHANGE", "has another subnet manager"),
    ("IBV_EVENT_SRQ_ERR", "it has failed"),
    (
        "IBV_EVENT_SRQ_LIMIT_REACHED",
        "it has fewer receives than its limit",
    ),
    (
        "IBV_EVENT_QP_LAST_WQE_REACHED",
        "it takes no more from its shared receive queue",
    ),
    (
        "IBV_EVENT_CLIENT_REREGISTER",
        "the subnet manager asks for new subscriptions",
    ),
    ("IBV_EVENT_GID_CHANGE", "has other GIDs"),
];

#[cfg(test)]
mod tests {
    use super::{AsyncEvent, EVENTS, EventSource};

    #[test]
    fn an_event_names_what_happened_to_what() {
        let event = AsyncEvent {
            kind: 10,
            source: EventSource::Port(1),
        };
        assert_eq!(
            event.to_string(),
            "port 1: has lost its link (IBV_EVENT_PORT_ERR, 10)"
        );
        let event = AsyncEvent {
            kind: 77,
            source: EventSource::Device,
        };
        assert!(event.to_string().ends_with("(IBV_EVENT_?, 77)"), "{event}");
    }

    /// `layouts.c` is compiled against the header.
    #[test]
    fn events_have_the_numbers_of_the_header() {
        let asserted = include_str!("../ffi/layouts.c");
        for (number, (name, _)) in EVENTS.iter().enumerate() {
            let line = format!("\nVALUE({name}, {number});\n");
            assert!(asserted.contains(&line), "{line}");
        }
    }
}
