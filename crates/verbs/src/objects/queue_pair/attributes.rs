//! What a queue pair is given when it is made and at each transition, by the names of ibv_create_qp(3) and
//! ibv_modify_qp(3).

use super::super::address::AddressVector;
use super::super::port::Mtu;
use super::super::region::Access;
use crate::ffi::ibv_qp_cap;
use std::fmt;

/// How much the queues of a queue pair hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueCapacity {
    /// Requests in the send queue.
    pub max_send_wr: u32,
    /// Requests in the receive queue.
    pub max_recv_wr: u32,
    /// Segments of a request in the send queue.
    pub max_send_sge: u32,
    /// Segments of a request in the receive queue.
    pub max_recv_sge: u32,
    /// Bytes of [`Payload::Inline`](super::Payload::Inline).
    pub max_inline_data: u32,
}

impl QueueCapacity {
    /// Room for this many requests of one segment in either queue; nothing is sent inline.
    #[must_use]
    pub fn new(max_send_wr: u32, max_recv_wr: u32) -> QueueCapacity {
        QueueCapacity {
            max_send_wr,
            max_recv_wr,
            max_send_sge: 1,
            max_recv_sge: 1,
            max_inline_data: 0,
        }
    }

    pub(super) fn to_c(self) -> ibv_qp_cap {
        ibv_qp_cap {
            max_send_wr: self.max_send_wr,
            max_recv_wr: self.max_recv_wr,
            max_send_sge: self.max_send_sge,
            max_recv_sge: self.max_recv_sge,
            max_inline_data: self.max_inline_data,
        }
    }

    pub(super) fn from_c(capacity: &ibv_qp_cap) -> QueueCapacity {
        QueueCapacity {
            max_send_wr: capacity.max_send_wr,
            max_recv_wr: capacity.max_recv_wr,
            max_send_sge: capacity.max_send_sge,
            max_recv_sge: capacity.max_recv_sge,
            max_inline_data: capacity.max_inline_data,
        }
    }
}

impl fmt::Display for QueueCapacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let QueueCapacity {
            max_send_wr,
            max_recv_wr,
            max_send_sge,
            max_recv_sge,
            max_inline_data,
        } = self;
        write!(
            f,
            "{max_send_wr} sends of {max_send_sge} segments, {max_recv_wr} receives of {max_recv_sge} segments, \
             {max_inline_data} B inline"
        )
    }
}

/// What a queue pair is given on its way from RESET to INIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InitAttributes {
    /// The port that it uses, from 1 on.
    pub port: u8,
    /// The index of its partition key; 0 but in partitioned InfiniBand subnets.
    pub pkey_index: u16,
    /// What its peer may do to regions that allow it: `REMOTE_READ` and `REMOTE_WRITE`.
    pub access: Access,
}

impl InitAttributes {
    /// On this port, without access for the peer.
    #[must_use]
    pub fn new(port: u8) -> InitAttributes {
        InitAttributes {
            port,
            pkey_index: 0,
            access: Access::empty(),
        }
    }
}

impl fmt::Display for InitAttributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InitAttributes {
            port,
            pkey_index,
            access,
        } = self;
        write!(f, "port {port}, pkey index {pkey_index}, access {access:?}")
    }
}

/// What a queue pair of datagrams is given on its way from RESET to INIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatagramAttributes {
    /// The port that it uses, from 1 on.
    pub port: u8,
    /// The index of its partition key; 0 but in partitioned InfiniBand subnets.
    pub pkey_index: u16,
    /// The key that senders must name. Only privileged processes send to keys of 2^31 and more.
    pub qkey: u32,
}

impl fmt::Display for DatagramAttributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DatagramAttributes {
            port,
            pkey_index,
            qkey,
        } = self;
        write!(f, "port {port}, pkey index {pkey_index}, qkey {qkey:#x}")
    }
}

/// What a queue pair is given on its way from INIT to RTR: the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveAttributes {
    /// How packets reach the peer's port.
    pub address: AddressVector,
    /// The number of the peer's queue pair.
    pub dest_qp_num: u32,
    /// The sequence number of the peer's first packet, its `sq_psn`: 24 bits.
    pub rq_psn: u32,
    /// The longest packet on the path: at most the smaller `active_mtu` of both ports.
    pub path_mtu: Mtu,
    /// How many reads of the peer are served at a time.
    pub max_dest_rd_atomic: u8,
    /// For how long the peer is sent away when no receive is posted: 12 is 0.64 ms, 1 the shortest time
    /// and 0 the longest, 655 ms.
    pub min_rnr_timer: u8,
}

impl ReceiveAttributes {
    /// The `min_rnr_timer` of a receive queue that hardly ever runs short: 0.64 ms.
    pub(crate) const RNR_TIMER: u8 = 12;

    /// The peer by address and number; it reads one after the other, and is sent away for 0.64 ms.
    #[must_use]
    pub fn new(address: AddressVector, dest_qp_num: u32, rq_psn: u32, path_mtu: Mtu) -> Self {
        ReceiveAttributes {
            address,
            dest_qp_num,
            rq_psn,
            path_mtu,
            max_dest_rd_atomic: 1,
            min_rnr_timer: Self::RNR_TIMER,
        }
    }
}

impl fmt::Display for ReceiveAttributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReceiveAttributes {
            address,
            dest_qp_num,
            rq_psn,
            path_mtu,
            max_dest_rd_atomic,
            min_rnr_timer,
        } = self;
        write!(
            f,
            "{address}, to queue pair {dest_qp_num}, rq_psn {rq_psn}, path_mtu {path_mtu:?}, max_dest_rd_atomic \
             {max_dest_rd_atomic}, min_rnr_timer {min_rnr_timer}"
        )
    }
}

/// What a queue pair is given on its way from RTR to RTS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendAttributes {
    /// The sequence number of its first packet, the peer's `rq_psn`: 24 bits.
    pub sq_psn: u32,
    /// How long to wait for an answer before a retry: 4.096 us times 2 to this power; 0 is for ever.
    pub timeout: u8,
    /// How often to try again without an answer, 0 to 7. Soft-RoCE takes 7 for ever.
    pub retry_cnt: u8,
    /// How often to try again when the peer has no receive posted, 0 to 6; 7 is for ever.
    pub rnr_retry: u8,
    /// How many reads are in flight at a time.
    pub max_rd_atomic: u8,
}

impl SendAttributes {
    /// The usual `rnr_retry`.
    pub(crate) const RNR_RETRY: u8 = 6;

    /// Six retries, 1.1 s after each other; six when no receive is posted; one read at a time.
    #[must_use]
    pub fn new(sq_psn: u32) -> SendAttributes {
        SendAttributes {
            sq_psn,
            timeout: 18,
            retry_cnt: 6,
            rnr_retry: Self::RNR_RETRY,
            max_rd_atomic: 1,
        }
    }
}

impl fmt::Display for SendAttributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SendAttributes {
            sq_psn,
            timeout,
            retry_cnt,
            rnr_retry,
            max_rd_atomic,
        } = self;
        write!(
            f,
            "sq_psn {sq_psn}, timeout {timeout}, retry_cnt {retry_cnt}, rnr_retry {rnr_retry}, max_rd_atomic \
             {max_rd_atomic}"
        )
    }
}
