//! Posting work requests.
//!
//! A request names memory by segments of regions or holds its bytes inline, so memory that is not registered is
//! never left to a device. A region that is dropped meanwhile is deregistered first, and the request ends in an
//! error.

use super::super::receive::{self, Receiver, posted, refused, too_long};
use super::super::region::{RemoteAddress, Segment};
use super::{Accepting, LivePair, QueuePair, ReadyToSend, TransportService};
use crate::error::{ENOSYS, PostError};
use crate::ffi::{
    IBV_SEND_FENCE, IBV_SEND_INLINE, IBV_SEND_SIGNALED, IBV_SEND_SOLICITED, IBV_WR_RDMA_READ,
    IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, ibv_qp,
    ibv_rdma, ibv_send_wr, ibv_send_wr_wr, ibv_sge,
};
use std::ffi::c_int;
use std::ptr;

bitflags::bitflags! {
    /// How a request of the send queue is done.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct SendFlags: u32 {
        /// It gives a completion also if it succeeds. Others free their places in the queue only when a later one
        /// with this flag completes.
        const SIGNALED = IBV_SEND_SIGNALED;
        /// Its receive wakes a peer that waits by [`arm_solicited`](crate::CompletionQueue::arm_solicited).
        const SOLICITED = IBV_SEND_SOLICITED;
        /// It starts when the reads before it have ended.
        const FENCE = IBV_SEND_FENCE;
    }
}

/// The bytes of a send or a write.
#[derive(Clone, Copy)]
pub enum Payload<'a> {
    /// Parts of regions, one after the other, which the device reads until the request completes.
    Segments(&'a [Segment<'a>]),
    /// At most [`max_inline_data`](crate::QueueCapacity::max_inline_data) bytes, which the post copies.
    Inline(&'a [u8]),
}

/// What a request does, beside its bytes.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) opcode: u32,
    pub(super) immediate: u32,
    pub(super) wr: ibv_send_wr_wr,
}

/// The union of a request that reads or writes remote memory.
#[inline]
fn at(remote: RemoteAddress) -> ibv_send_wr_wr {
    let rdma = ibv_rdma {
        remote_addr: remote.address,
        rkey: remote.rkey,
    };
    ibv_send_wr_wr { rdma }
}

impl<S: Accepting, T: TransportService> QueuePair<S, T> {
    /// Posts a receive: the next message goes to `segments`, one after the other, and its completion has `id`.
    ///
    /// # Errors
    /// [`PostError::Full`] when the queue holds no more; it holds `max_recv_wr` at least.
    ///
    /// # Cost
    /// A call through the provider's table; most devices need no system call.
    #[inline]
    pub fn post_receive(&self, id: u64, segments: &[Segment<'_>]) -> Result<(), PostError> {
        // SAFETY: the queue pair is alive.
        unsafe { receive::post(&*self.live, self.live.pair.as_ptr(), id, segments) }
    }

    /// As [`post_receive`](Self::post_receive), for several receives of a segment each.
    ///
    /// # Errors
    /// As of one. Receives before the one that failed are posted.
    ///
    /// # Cost
    /// One call for 16 of them.
    #[inline]
    pub fn post_receives<'a>(
        &self,
        receives: impl IntoIterator<Item = (u64, Segment<'a>)>,
    ) -> Result<(), PostError> {
        // SAFETY: the queue pair is alive.
        unsafe { receive::post_each(&*self.live, self.live.pair.as_ptr(), receives) }
    }
}

impl Receiver for LivePair {
    type Queue = ibv_qp;
    const CALL: &'static str = "ibv_post_recv";

    fn post(&self) -> receive::Post<ibv_qp> {
        // A queue pair without a receive queue takes none.
        let post = self.context.ops().post_recv;
        post.filter(|_| self.capacity.max_recv_wr > 0)
    }

    fn max_sge(&self) -> u32 {
        self.capacity.max_recv_sge
    }
}

impl QueuePair<ReadyToSend> {
    /// Sends a message, and with it a number of its own if there is an `immediate`.
    ///
    /// # Errors
    /// [`PostError::Full`] when the queue holds no more; it holds `max_send_wr` at least.
    ///
    /// # Cost
    /// A call through the provider's table; most devices need no system call.
    #[inline(always)]
    pub fn post_send(
        &self,
        id: u64,
        payload: Payload<'_>,
        immediate: Option<u32>,
        flags: SendFlags,
    ) -> Result<(), PostError> {
        let operation = Operation {
            opcode: immediate.map_or(IBV_WR_SEND, |_| IBV_WR_SEND_WITH_IMM),
            immediate: immediate.unwrap_or(0),
            wr: ibv_send_wr_wr { room: [0; 4] },
        };
        self.post(id, operation, payload, flags)
    }

    /// Writes to the peer's memory. The peer notices only if there is an `immediate`, which takes one of its
    /// receives.
    ///
    /// # Errors
    /// As [`post_send`](Self::post_send).
    ///
    /// # Cost
    /// As [`post_send`](Self::post_send).
    #[inline]
    pub fn post_write(
        &self,
        id: u64,
        payload: Payload<'_>,
        to: RemoteAddress,
        immediate: Option<u32>,
        flags: SendFlags,
    ) -> Result<(), PostError> {
        let operation = Operation {
            opcode: immediate.map_or(IBV_WR_RDMA_WRITE, |_| IBV_WR_RDMA_WRITE_WITH_IMM),
            immediate: immediate.unwrap_or(0),
            wr: at(to),
        };
        self.post(id, operation, payload, flags)
    }

    /// Reads the peer's memory into `segments`, whose regions need [`LOCAL_WRITE`](crate::Access::LOCAL_WRITE).
    ///
    /// # Errors
    /// As [`post_send`](Self::post_send).
    ///
    /// # Cost
    /// As [`post_send`](Self::post_send).
    #[inline]
    pub fn post_read(
        &self,
        id: u64,
        segments: &[Segment<'_>],
        from: RemoteAddress,
        flags: SendFlags,
    ) -> Result<(), PostError> {
        let operation = Operation {
            opcode: IBV_WR_RDMA_READ,
            immediate: 0,
            wr: at(from),
        };
        self.post(id, operation, Payload::Segments(segments), flags)
    }
}

impl<T: TransportService> QueuePair<ReadyToSend, T> {
    #[inline(always)]
    pub(super) fn post(
        &self,
        id: u64,
        operation: Operation,
        payload: Payload<'_>,
        flags: SendFlags,
    ) -> Result<(), PostError> {
        let request = (id, self.remote_queue);
        self.live.post(request, operation, payload, flags)
    }
}

impl LivePair {
    /// Posts a request of this number for a shared receive queue of the peer, which only initiators need to name.
    #[inline(always)]
    fn post(
        &self,
        (id, remote_queue): (u64, u32),
        operation: Operation,
        payload: Payload<'_>,
        flags: SendFlags,
    ) -> Result<(), PostError> {
        const CALL: &str = "ibv_post_send";
        let Some(post) = self.context.ops().post_send else {
            return Err(refused(CALL, self, "", ENOSYS));
        };
        let mut inline = ibv_sge {
            addr: 0,
            length: 0,
            lkey: 0,
        };
        let (sg_list, num_sge, how) = match payload {
            Payload::Segments(segments) => {
                let granted = self.capacity.max_send_sge;
                if segments.len() > granted as usize {
                    return Err(too_long(CALL, self, segments.len(), "segments", granted));
                }
                (segments.as_ptr().cast_mut().cast(), segments.len(), 0)
            }
            Payload::Inline(bytes) => {
                let granted = self.capacity.max_inline_data;
                if bytes.len() > granted as usize {
                    return Err(too_long(CALL, self, bytes.len(), "bytes inline", granted));
                }
                inline.addr = bytes.as_ptr().expose_provenance() as u64;
                inline.length = bytes.len() as u32;
                (&raw mut inline, 1, IBV_SEND_INLINE)
            }
        };
        let mut request = ibv_send_wr {
            wr_id: id,
            next: ptr::null_mut(),
            sg_list,
            num_sge: num_sge as c_int,
            opcode: operation.opcode,
            send_flags: flags.bits() | how,
            imm_data: operation.immediate.to_be(),
            wr: operation.wr,
            qp_type: remote_queue,
            bind_mw: [0; 6],
        };
        let mut bad = ptr::null_mut();
        // SAFETY: the queue pair is alive; the request and its segments, laid out as the library's, are only read
        // during the call; each segment names registered memory, or the bytes that the call copies.
        let errno = unsafe { post(self.pair.as_ptr(), &raw mut request, &raw mut bad) };
        posted(CALL, self, errno)
    }
}
