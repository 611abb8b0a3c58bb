//! Queue pairs of unreliable datagrams: one sends to many, messages of one packet that may be lost.

use super::super::address_handle::AddressHandle;
use super::super::receive::refused;
use super::attributes::DatagramAttributes;
use super::post::{Operation, Payload, SendFlags};
use super::states::{Init, ReadyToReceive, ReadyToSend, Reset};
use super::{QueuePair, UnreliableDatagram};
use crate::error::{EINVAL, PostError, VerbsError};
use crate::ffi::{
    IBV_QP_PKEY_INDEX, IBV_QP_PORT, IBV_QP_QKEY, IBV_QP_SQ_PSN, IBV_QPS_INIT, IBV_QPS_RTR,
    IBV_QPS_RTS, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, ibv_send_wr_wr, ibv_ud,
};

/// Bytes before each datagram in its receive: the routing header, or nothing that means something.
pub const ROUTING_HEADER: usize = 40;

/// The queue pair that gets a datagram.
#[derive(Debug, Clone, Copy)]
pub struct Destination<'a> {
    /// How packets reach its port; of the context that the sending queue pair is of.
    pub handle: &'a AddressHandle,
    /// Its number.
    pub number: u32,
    /// Its key; one that differs makes it drop the datagram.
    pub qkey: u32,
}

impl QueuePair<Reset, UnreliableDatagram> {
    /// Gives it a port and a key.
    ///
    /// # Errors
    /// When the device has no such port or partition key.
    pub fn init(
        self,
        attributes: DatagramAttributes,
    ) -> Result<QueuePair<Init, UnreliableDatagram>, VerbsError> {
        let mask = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
        self.modify(IBV_QPS_INIT, mask, attributes, |attr| {
            attr.pkey_index = attributes.pkey_index;
            attr.port_num = attributes.port;
            attr.qkey = attributes.qkey;
        })
    }
}

impl QueuePair<Init, UnreliableDatagram> {
    /// Lets it receive.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn ready_to_receive(
        self,
    ) -> Result<QueuePair<ReadyToReceive, UnreliableDatagram>, VerbsError> {
        self.modify(IBV_QPS_RTR, 0, "no attributes", |_| {})
    }
}

impl QueuePair<ReadyToReceive, UnreliableDatagram> {
    /// Lets it send; its first packet has sequence number `sq_psn`.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn ready_to_send(
        self,
        sq_psn: u32,
    ) -> Result<QueuePair<ReadyToSend, UnreliableDatagram>, VerbsError> {
        let shown = format!("sq_psn {sq_psn}");
        self.modify(IBV_QPS_RTS, IBV_QP_SQ_PSN, shown, |attr| {
            attr.sq_psn = sq_psn
        })
    }
}

impl QueuePair<ReadyToSend, UnreliableDatagram> {
    /// Sends a message of at most `active_mtu` bytes, and with it a number of its own if there is an `immediate`. The
    /// receive that it takes has [`ROUTING_HEADER`] bytes before it.
    ///
    /// # Errors
    /// [`PostError::Full`] when the queue holds no more; it holds `max_send_wr` at least.
    ///
    /// # Cost
    /// A call through the provider's table; most devices need no system call.
    #[inline]
    pub fn post_send(
        &self,
        id: u64,
        payload: Payload<'_>,
        to: Destination<'_>,
        immediate: Option<u32>,
        flags: SendFlags,
    ) -> Result<(), PostError> {
        if !self.live.context.is(to.handle.context()) {
            let attributes = "an address handle of another context";
            return Err(refused("ibv_post_send", &*self.live, attributes, EINVAL));
        }
        let ud = ibv_ud {
            ah: to.handle.as_ptr(),
            remote_qpn: to.number,
            remote_qkey: to.qkey,
        };
        let operation = Operation {
            opcode: immediate.map_or(IBV_WR_SEND, |_| IBV_WR_SEND_WITH_IMM),
            immediate: immediate.unwrap_or(0),
            wr: ibv_send_wr_wr { ud },
        };
        self.post(id, operation, payload, flags)
    }
}
