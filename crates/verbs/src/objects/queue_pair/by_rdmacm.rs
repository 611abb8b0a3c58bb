//! The transitions of a queue pair that rdmacm connects.
//!
//! Source: rdma_init_qp_attr(3).

use super::super::rdmacm::CmIdentifier;
use super::{Init, QueuePair, ReadyToReceive, ReadyToSend};
use crate::error::VerbsError;
use crate::ffi::{IBV_QPS_RTR, IBV_QPS_RTS};
use std::marker::PhantomData;

impl QueuePair<Init> {
    /// Gives it the peer that `identifier` connects it with, on InfiniBand and RoCE. The service level is that of the
    /// route unless there is another one; `min_rnr_timer` is as of [`ReceiveAttributes`](super::ReceiveAttributes).
    ///
    /// # Errors
    /// When the identifier has no peer yet, or the device refuses an attribute.
    pub fn ready_to_receive_by(
        self,
        identifier: &CmIdentifier,
        service_level: Option<u8>,
        min_rnr_timer: u8,
    ) -> Result<QueuePair<ReadyToReceive>, VerbsError> {
        let (attributes, mask) = identifier.attributes(IBV_QPS_RTR)?;
        self.modify(
            IBV_QPS_RTR,
            mask,
            format_args!("by {identifier:?}"),
            |attr| {
                *attr = attributes;
                attr.min_rnr_timer = min_rnr_timer;
                attr.ah_attr.sl = service_level.unwrap_or(attr.ah_attr.sl);
            },
        )
    }

    /// It can send: on iWARP the kernel has moved it when the connection was accepted.
    ///
    /// There the side that has connected sends the first message, which may be a write of nothing.
    pub fn connected_by(self, _: &CmIdentifier) -> QueuePair<ReadyToSend> {
        QueuePair {
            live: self.live,
            remote_queue: 0,
            kind: PhantomData,
        }
    }
}

impl QueuePair<ReadyToReceive> {
    /// Lets it send; `timeout` and `retry_cnt` are as of [`SendAttributes`](super::SendAttributes).
    ///
    /// # Errors
    /// When the device refuses an attribute.
    pub fn ready_to_send_by(
        self,
        identifier: &CmIdentifier,
        timeout: u8,
        retry_cnt: u8,
    ) -> Result<QueuePair<ReadyToSend>, VerbsError> {
        let (attributes, mask) = identifier.attributes(IBV_QPS_RTS)?;
        self.modify(
            IBV_QPS_RTS,
            mask,
            format_args!("by {identifier:?}"),
            |attr| {
                *attr = attributes;
                attr.timeout = timeout;
                attr.retry_cnt = retry_cnt;
            },
        )
    }
}
