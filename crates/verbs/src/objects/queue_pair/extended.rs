//! Extended reliable connections (XRC): the processes of a node share the receiving ends of connections, so that a process
//! has one connection to a node rather than one to each process there.
//!
//! An initiator ([`XrcInitiator`]) sends. It is connected with a target ([`XrcTarget`]), which belongs to the XRC domain of the
//! other node. Each request names the shared receive queue whose process it is for: [`QueuePair::addressed_to`].
//!
//! Source: ibv_create_qp_ex(3), ibv_open_qp(3); InfiniBand Architecture Specification 1, annex A14.

use super::super::completion::CompletionQueue;
use super::super::domain::ProtectionDomain;
use super::super::handle::Handle;
use super::super::xrc::XrcDomain;
use super::attributes::QueueCapacity;
use super::states::{
    ReadyToReceive, ReadyToSend, ReliableConnection, Reset, XrcInitiator, XrcTarget,
};
use super::{QueuePair, WeakPair};
use crate::error::{EOPNOTSUPP, VerbsError};
use crate::ffi::{
    IBV_QP_INIT_ATTR_XRCD, IBV_QP_OPEN_ATTR_NUM, IBV_QP_OPEN_ATTR_TYPE, IBV_QP_OPEN_ATTR_XRCD,
    IBV_QPT_XRC_RECV, ibv_qp_init_attr_ex, ibv_qp_open_attr,
};
use std::mem::MaybeUninit;

impl XrcDomain {
    /// Makes the receiving end of a connection, for all processes that share the domain.
    ///
    /// # Errors
    /// When the device has no more queue pairs.
    pub fn create_target(&self) -> Result<QueuePair<Reset, XrcTarget>, VerbsError> {
        const CALL: &str = "ibv_create_qp_ex";
        let context = self.context();
        let create = context
            .extended()
            .and_then(|extended| extended.create_qp_ex);
        let create =
            create.ok_or_else(|| VerbsError::new(CALL, self.describe(), "", EOPNOTSUPP))?;
        // SAFETY: the attributes consist of numbers and pointers, of which zeros are valid.
        let mut attributes = unsafe { MaybeUninit::<ibv_qp_init_attr_ex>::zeroed().assume_init() };
        attributes.qp_type = IBV_QPT_XRC_RECV;
        attributes.comp_mask = IBV_QP_INIT_ATTR_XRCD;
        attributes.xrcd = self.as_ptr();
        // SAFETY: the context is open and the domain is of it; the call writes what was granted to the attributes.
        let pair = unsafe { create(context.as_ptr(), &raw mut attributes) };
        let pair =
            Handle::new(pair).map_err(|why| VerbsError::io(CALL, self.describe(), "", &why))?;
        // SAFETY: the queue pair was made just now, of the type that the result says.
        Ok(unsafe { QueuePair::of_xrc_domain(pair, self) })
    }

    /// Opens the target of this number, which another process has made in the domain. It stays as long as one of both
    /// has it.
    ///
    /// # Errors
    /// When the domain has no such target.
    pub fn open_target(
        &self,
        number: u32,
    ) -> Result<QueuePair<ReadyToReceive, XrcTarget>, VerbsError> {
        const CALL: &str = "ibv_open_qp";
        let context = self.context();
        let shown = || format!("queue pair {number}");
        let open = context.extended().and_then(|extended| extended.open_qp);
        let open =
            open.ok_or_else(|| VerbsError::new(CALL, self.describe(), shown(), EOPNOTSUPP))?;
        let mut attributes = ibv_qp_open_attr {
            comp_mask: IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
            qp_num: number,
            xrcd: self.as_ptr(),
            qp_context: std::ptr::null_mut(),
            qp_type: IBV_QPT_XRC_RECV,
        };
        // SAFETY: the context is open, the domain is of it, and the call reads the attributes only.
        let pair = unsafe { open(context.as_ptr(), &raw mut attributes) };
        let pair = Handle::new(pair)
            .map_err(|why| VerbsError::io(CALL, self.describe(), shown(), &why))?;
        // SAFETY: the queue pair was opened just now, and is of the type that the call was asked for.
        Ok(unsafe { QueuePair::of_xrc_domain(pair, self) })
    }
}

impl ProtectionDomain {
    /// Makes the sending end of a connection with a target. Its sends complete on `sends`; it receives nothing.
    ///
    /// # Errors
    /// As [`create_queue_pair`](Self::create_queue_pair).
    pub fn create_initiator(
        &self,
        sends: &CompletionQueue,
        capacity: QueueCapacity,
    ) -> Result<QueuePair<Reset, XrcInitiator>, VerbsError> {
        self.create_pair(
            [sends, sends],
            None,
            QueueCapacity {
                max_recv_wr: 0,
                max_recv_sge: 0,
                ..capacity
            },
        )
    }
}

/// An initiator, as long as somebody has a connection by it.
#[derive(Debug)]
pub(crate) struct WeakInitiator(WeakPair);

impl WeakInitiator {
    /// The initiator, if there is a connection by it, and none has failed.
    pub(crate) fn upgrade(&self) -> Option<QueuePair<ReadyToSend, XrcInitiator>> {
        self.0.upgrade()
    }
}

impl QueuePair<ReadyToSend, XrcInitiator> {
    /// The initiator without keeping it.
    pub(crate) fn downgrade(&self) -> WeakInitiator {
        WeakInitiator(self.to_weak())
    }

    /// The same queue pair for requests to one shared receive queue of the other node, by its
    /// [number](super::SharedReceiveQueue::xrc_number): a reliable connection with the process of that queue. Reads and writes
    /// reach the memory of the queue's protection domain.
    ///
    /// It lives as long as one of both does. An error of a request ends the connections with all processes of the node.
    pub fn addressed_to(&self, queue: u32) -> QueuePair<ReadyToSend, ReliableConnection> {
        self.with_remote_queue(queue)
    }
}
