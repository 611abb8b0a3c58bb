//! The states of a queue pair, and the transitions of a reliable connection between them.
//!
//! ```text
//! Reset --init--> Init --ready_to_receive--> ReadyToReceive --ready_to_send--> ReadyToSend
//! ```
//!
//! Source: ibv_modify_qp(3), whose table for a reliable connection names the attributes of each transition.

use super::attributes::{InitAttributes, ReceiveAttributes, SendAttributes};
use super::{LivePair, QueuePair};
use crate::error::VerbsError;
use crate::ffi::{
    IBV_QP_ACCESS_FLAGS, IBV_QP_AV, IBV_QP_DEST_QPN, IBV_QP_MAX_DEST_RD_ATOMIC,
    IBV_QP_MAX_QP_RD_ATOMIC, IBV_QP_MIN_RNR_TIMER, IBV_QP_PATH_MTU, IBV_QP_PKEY_INDEX, IBV_QP_PORT,
    IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY, IBV_QP_RQ_PSN, IBV_QP_SQ_PSN, IBV_QP_STATE, IBV_QP_TIMEOUT,
    IBV_QPS_ERR, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_RC, IBV_QPT_UD, IBV_QPT_XRC_RECV,
    IBV_QPT_XRC_SEND, ibv_qp_attr,
};
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

mod sealed {
    pub trait Sealed {}
}

/// The type of a transport service.
pub trait TransportService: sealed::Sealed {
    /// Its number in `enum ibv_qp_type`.
    const QP_TYPE: u32;
}

/// Two queue pairs are connected; each message arrives once and in order, or both ends learn that it did not.
#[derive(Debug)]
pub enum ReliableConnection {}

impl sealed::Sealed for ReliableConnection {}
impl TransportService for ReliableConnection {
    const QP_TYPE: u32 = IBV_QPT_RC;
}

/// A queue pair sends to any other one; messages may be lost.
#[derive(Debug)]
pub enum UnreliableDatagram {}

impl sealed::Sealed for UnreliableDatagram {}
impl TransportService for UnreliableDatagram {
    const QP_TYPE: u32 = IBV_QPT_UD;
}

/// One end of reliable connections with the processes of a node ([`XrcDomain`](crate::XrcDomain)), which sends.
#[derive(Debug)]
pub enum XrcInitiator {}

impl sealed::Sealed for XrcInitiator {}
impl TransportService for XrcInitiator {
    const QP_TYPE: u32 = IBV_QPT_XRC_SEND;
}

/// The other end, which receives for all processes of its node.
#[derive(Debug)]
pub enum XrcTarget {}

impl sealed::Sealed for XrcTarget {}
impl TransportService for XrcTarget {
    const QP_TYPE: u32 = IBV_QPT_XRC_RECV;
}

/// The type of a transport service whose queue pairs are connected with one another.
///
/// Its transitions have these attributes beside those that all have.
pub trait ReliableService: TransportService {
    /// What it needs to serve requests, on its way from INIT to RTR.
    const SERVING: u32;
    /// What it needs to send requests, on its way from RTR to RTS.
    const SENDING: u32;
}

/// Attributes of who serves requests.
const SERVING: u32 = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

/// Attributes of who sends requests.
const SENDING: u32 = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

impl ReliableService for ReliableConnection {
    const SERVING: u32 = SERVING;
    const SENDING: u32 = SENDING;
}

impl ReliableService for XrcInitiator {
    const SERVING: u32 = 0;
    const SENDING: u32 = SENDING;
}

impl ReliableService for XrcTarget {
    const SERVING: u32 = SERVING;
    const SENDING: u32 = 0;
}

/// The type of a state.
pub trait QueuePairState: sealed::Sealed {
    /// Its name in messages, as ibv_modify_qp(3) writes it.
    const NAME: &'static str;
}

/// A state in which receives may be posted.
pub trait Accepting: QueuePairState {}

/// Defines the states.
macro_rules! states {
    ($($(#[$meta:meta])* $state:ident $name:literal $($accepting:ident)?;)*) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        pub enum $state {}
        impl sealed::Sealed for $state {}
        impl QueuePairState for $state {
            const NAME: &'static str = $name;
        }
        $(impl $accepting for $state {})?
    )*};
}

states! {
    /// Newly made.
    Reset "RESET";
    /// Belongs to a port; receives can be posted, and wait.
    Init "INIT" Accepting;
    /// Knows its peer, and receives.
    ReadyToReceive "RTR" Accepting;
    /// Receives and sends.
    ReadyToSend "RTS" Accepting;
}

impl<T: ReliableService> QueuePair<Reset, T> {
    /// Gives it a port.
    ///
    /// # Errors
    /// When the device has no such port or partition key.
    pub fn init(self, attributes: InitAttributes) -> Result<QueuePair<Init, T>, VerbsError> {
        let mask = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
        self.modify(IBV_QPS_INIT, mask, attributes, |attr| {
            attr.pkey_index = attributes.pkey_index;
            attr.port_num = attributes.port;
            attr.qp_access_flags = attributes.access.bits();
        })
    }
}

impl<T: ReliableService> QueuePair<Init, T> {
    /// Gives it its peer.
    ///
    /// # Errors
    /// When the device refuses an attribute, or finds no route to the peer's GID.
    pub fn ready_to_receive(
        self,
        attributes: ReceiveAttributes,
    ) -> Result<QueuePair<ReadyToReceive, T>, VerbsError> {
        let mask = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | T::SERVING;
        self.modify(IBV_QPS_RTR, mask, attributes, |attr| {
            attr.ah_attr = attributes.address.to_c();
            attr.path_mtu = attributes.path_mtu.to_c();
            attr.dest_qp_num = attributes.dest_qp_num;
            attr.rq_psn = attributes.rq_psn;
            attr.max_dest_rd_atomic = attributes.max_dest_rd_atomic;
            attr.min_rnr_timer = attributes.min_rnr_timer;
        })
    }
}

impl<T: ReliableService> QueuePair<ReadyToReceive, T> {
    /// Lets it send; a target sends answers only.
    ///
    /// # Errors
    /// When the device refuses an attribute.
    pub fn ready_to_send(
        self,
        attributes: SendAttributes,
    ) -> Result<QueuePair<ReadyToSend, T>, VerbsError> {
        let mask = IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | T::SENDING;
        self.modify(IBV_QPS_RTS, mask, attributes, |attr| {
            attr.sq_psn = attributes.sq_psn;
            attr.timeout = attributes.timeout;
            attr.retry_cnt = attributes.retry_cnt;
            attr.rnr_retry = attributes.rnr_retry;
            attr.max_rd_atomic = attributes.max_rd_atomic;
        })
    }
}

impl QueuePair<ReadyToSend> {
    /// Ends it: it sends and receives nothing more, and all its requests complete as flushed.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn set_error(&self) -> Result<(), VerbsError> {
        self.live.has_ended.store(true, Ordering::Relaxed);
        self.live.modify("RTS to ERR", IBV_QPS_ERR, 0, "", |_| {})
    }
}

impl<S: QueuePairState, T: TransportService> QueuePair<S, T> {
    /// The transition to `state`, whose attributes are named by `mask`, written by `fill` and shown as `shown`.
    pub(super) fn modify<N: QueuePairState>(
        self,
        state: u32,
        mask: u32,
        shown: impl fmt::Display,
        fill: impl FnOnce(&mut ibv_qp_attr),
    ) -> Result<QueuePair<N, T>, VerbsError> {
        let Self {
            live, remote_queue, ..
        } = self;
        let names = format_args!("{} to {}", S::NAME, N::NAME);
        live.modify(names, state, mask, shown, fill)?;
        Ok(QueuePair {
            live,
            remote_queue,
            kind: PhantomData,
        })
    }
}

impl LivePair {
    /// The transition of these `names`.
    fn modify(
        &self,
        names: impl fmt::Display,
        state: u32,
        mask: u32,
        shown: impl fmt::Display,
        fill: impl FnOnce(&mut ibv_qp_attr),
    ) -> Result<(), VerbsError> {
        // SAFETY: every attribute is a number, of which 0 is one.
        let mut attributes = unsafe { MaybeUninit::<ibv_qp_attr>::zeroed().assume_init() };
        attributes.qp_state = state;
        fill(&mut attributes);
        let mask = (IBV_QP_STATE | mask).cast_signed();
        let modify = self.context.library().modify_qp;
        // SAFETY: the queue pair is alive, and the call reads the attributes only.
        match unsafe { modify(self.pair.as_ptr(), &raw mut attributes, mask) } {
            0 => Ok(()),
            errno => {
                let attributes = format!("{names}: {shown}");
                let object = format!("{self:?}");
                Err(VerbsError::new("ibv_modify_qp", object, attributes, errno))
            }
        }
    }
}
