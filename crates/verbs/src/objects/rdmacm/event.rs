//! [`CmEvent`]: what happens to identifiers of rdmacm.

use super::super::descriptor::next_event;
use super::super::handle::Handle;
use super::channel::CmChannel;
use super::identifier::{CmIdentifier, CmKey};
use crate::error::VerbsError;
use crate::ffi::{
    RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_CONNECT_RESPONSE,
    RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_ROUTE_RESOLVED,
    RDMA_CM_EVENT_TIMEWAIT_EXIT, rdma_cm_event,
};
use std::fmt;
use std::os::fd::AsFd;
use std::ptr;
use std::time::Instant;

/// What has happened to an identifier.
///
/// Source: rdma_get_cm_event(3).
#[derive(Debug)]
pub struct CmEvent {
    /// The identifier; of a request the one that listens.
    pub key: CmKey,
    /// What has happened.
    pub kind: CmEventKind,
    /// What the peer has sent along: with zeros behind it on InfiniBand and RoCE.
    pub private_data: Vec<u8>,
}

/// A kind of event.
#[derive(Debug)]
pub enum CmEventKind {
    /// The peer's address is resolved: the route may be.
    AddressResolved,
    /// The route is resolved: the identifier may connect.
    RouteResolved,
    /// A peer wants to connect. The identifier that is dropped refuses.
    Request(CmIdentifier),
    /// The peer has accepted; this side completes the connection.
    Response,
    /// The connection is complete.
    Established,
    /// The peer has ended the connection.
    Disconnected,
    /// What was under way has failed.
    Failed(CmFailure),
    /// What means nothing here, a number of `enum rdma_cm_event_type`.
    Other(u32),
}

/// Why a connection is not made. Displays a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CmFailure {
    /// A number of `enum rdma_cm_event_type`.
    kind: u32,
    /// A negated errno, or the reason of a rejection.
    status: i32,
}

impl CmChannel {
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
            let status = unsafe { (self.library().get_cm_event)(self.as_ptr(), &raw mut event) };
            if status != 0 {
                return (status, None);
            }
            // SAFETY: the event comes from the library just now, and lives until it is acknowledged below.
            let contents = unsafe { &*event };
            // SAFETY: as above; the identifier of a request has no other owner.
            let taken = unsafe { CmEvent::of(contents, self) };
            // SAFETY: it is acknowledged here only, and its contents are copied.
            unsafe { (self.library().ack_cm_event)(event) };
            (0, Some(taken))
        };
        let call = "rdma_get_cm_event";
        Ok(next_event(self.as_fd(), deadline, call, self, take)?.flatten())
    }
}

impl CmEvent {
    /// What the library says.
    ///
    /// # Safety
    /// The event was returned by the library, is of an identifier of `channel`, and is not acknowledged yet. If it is a
    /// request, nobody else takes its identifier.
    unsafe fn of(event: &rdma_cm_event, channel: &CmChannel) -> Self {
        let kind = match event.event {
            RDMA_CM_EVENT_ADDR_RESOLVED => CmEventKind::AddressResolved,
            RDMA_CM_EVENT_ROUTE_RESOLVED => CmEventKind::RouteResolved,
            RDMA_CM_EVENT_CONNECT_REQUEST => match Handle::new(event.id) {
                Ok(identifier) => {
                    CmEventKind::Request(CmIdentifier::new(identifier, channel.clone()))
                }
                Err(_) => CmEventKind::Other(event.event),
            },
            RDMA_CM_EVENT_CONNECT_RESPONSE => CmEventKind::Response,
            RDMA_CM_EVENT_ESTABLISHED if event.status == 0 => CmEventKind::Established,
            RDMA_CM_EVENT_DISCONNECTED => CmEventKind::Disconnected,
            kind if EVENTS
                .get(kind as usize)
                .is_some_and(|(_, meaning)| !meaning.is_empty()) =>
            {
                let status = event.status;
                CmEventKind::Failed(CmFailure { kind, status })
            }
            kind => CmEventKind::Other(kind),
        };
        let owner = match event.event {
            RDMA_CM_EVENT_CONNECT_REQUEST => event.listen_id,
            _ => event.id,
        };
        let has_data =
            (RDMA_CM_EVENT_CONNECT_REQUEST..=RDMA_CM_EVENT_ESTABLISHED).contains(&event.event);
        // SAFETY: any bits are numbers; the library fills this member of these events.
        let parameters = unsafe { event.param.conn };
        let private_data = match parameters.private_data {
            data if has_data && !data.is_null() => {
                let len = parameters.private_data_len.into();
                // SAFETY: the library's bytes, which live until the event is acknowledged.
                unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) }.to_vec()
            }
            _ => Vec::new(),
        };
        Self {
            key: CmKey::of(owner),
            kind,
            private_data,
        }
    }
}

impl fmt::Display for CmFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, status } = *self;
        let (name, meaning) = EVENTS.get(kind as usize).copied().unwrap_or_default();
        write!(f, "{meaning} ({name}, ")?;
        match status {
            ..0 => write!(f, "{})", std::io::Error::from_raw_os_error(-status)),
            _ => write!(f, "reason {status})"),
        }
    }
}

/// `enum rdma_cm_event_type` in order, with the meanings of failures.
const EVENTS: [(&str, &str); RDMA_CM_EVENT_TIMEWAIT_EXIT as usize + 1] = [
    ("RDMA_CM_EVENT_ADDR_RESOLVED", ""),
    (
        "RDMA_CM_EVENT_ADDR_ERROR",
        "rdmacm finds no device that reaches the peer's address",
    ),
    ("RDMA_CM_EVENT_ROUTE_RESOLVED", ""),
    (
        "RDMA_CM_EVENT_ROUTE_ERROR",
        "rdmacm finds no route to the peer's address",
    ),
    ("RDMA_CM_EVENT_CONNECT_REQUEST", ""),
    ("RDMA_CM_EVENT_CONNECT_RESPONSE", ""),
    ("RDMA_CM_EVENT_CONNECT_ERROR", "the connection has failed"),
    (
        "RDMA_CM_EVENT_UNREACHABLE",
        "the peer does not answer, or is not reached",
    ),
    ("RDMA_CM_EVENT_REJECTED", "the peer refuses the connection"),
    (
        "RDMA_CM_EVENT_ESTABLISHED",
        "the connection was not completed",
    ),
    ("RDMA_CM_EVENT_DISCONNECTED", ""),
    ("RDMA_CM_EVENT_DEVICE_REMOVAL", "the device is removed"),
    ("RDMA_CM_EVENT_MULTICAST_JOIN", ""),
    ("RDMA_CM_EVENT_MULTICAST_ERROR", ""),
    ("RDMA_CM_EVENT_ADDR_CHANGE", ""),
    ("RDMA_CM_EVENT_TIMEWAIT_EXIT", ""),
];

#[cfg(test)]
mod tests {
    use super::{CmFailure, EVENTS};

    #[test]
    fn a_failure_is_named_with_its_reason() {
        let of = |kind, status| CmFailure { kind, status }.to_string();
        assert_eq!(
            of(8, 28),
            "the peer refuses the connection (RDMA_CM_EVENT_REJECTED, reason 28)"
        );
        assert_eq!(
            of(7, -110),
            "the peer does not answer, or is not reached (RDMA_CM_EVENT_UNREACHABLE, Connection timed out (os error 110))"
        );
    }

    /// `layouts.c` is compiled against the header.
    #[test]
    fn events_have_the_numbers_of_the_header() {
        let asserted = include_str!("../../ffi/layouts.c");
        for (number, (name, _)) in EVENTS.iter().enumerate() {
            let line = format!("\nVALUE({name}, {number});\n");
            assert!(asserted.contains(&line), "{line}");
        }
    }
}
