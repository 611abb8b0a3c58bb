//! Shared receive queues: receives that whichever queue pair gets a message takes.

use super::completion::CompletionQueue;
use super::context::Context;
use super::domain::ProtectionDomain;
use super::handle::Handle;
use super::receive::{self, Receiver};
use super::region::Segment;
use super::xrc::XrcDomain;
use crate::error::{EINVAL, EOPNOTSUPP, PostError, VerbsError};
use crate::ffi::{
    IBV_SRQ_INIT_ATTR_CQ, IBV_SRQ_INIT_ATTR_PD, IBV_SRQ_INIT_ATTR_TYPE, IBV_SRQ_INIT_ATTR_XRCD,
    IBV_SRQ_LIMIT, IBV_SRQT_XRC, ibv_srq, ibv_srq_attr, ibv_srq_init_attr, ibv_srq_init_attr_ex,
};
use std::fmt;
use std::ptr;
use std::sync::Arc;

/// A shared receive queue. Clones are the same one.
#[derive(Clone)]
pub struct SharedReceiveQueue(Arc<SharedQueue>);

struct SharedQueue {
    queue: Handle<ibv_srq>,
    max_sge: u32,
    domain: ProtectionDomain,
    /// Of a queue of an XRC domain: its number, and what it was made from beside the protection domain.
    xrc: Option<(u32, XrcDomain, CompletionQueue)>,
}

impl ProtectionDomain {
    /// Creates a shared receive queue of `max_wr` receives at least, each of `max_sge` segments at most. Its events
    /// ([`Context::next_event`]) have this key.
    ///
    /// # Errors
    /// When the device has no shared receive queues, or none so long.
    pub fn create_shared_receive_queue(
        &self,
        max_wr: u32,
        max_sge: u32,
        key: u64,
    ) -> Result<SharedReceiveQueue, VerbsError> {
        let mut attributes = ibv_srq_init_attr {
            // The library gives the key back, and never follows it as an address.
            srq_context: ptr::without_provenance_mut(key as usize),
            attr: ibv_srq_attr {
                max_wr,
                max_sge,
                srq_limit: 0,
            },
        };
        // SAFETY: the domain is alive; the call writes what was granted to the attributes.
        let queue =
            unsafe { (self.context().library().create_srq)(self.as_ptr(), &raw mut attributes) };
        let queue = Handle::new(queue).map_err(|why| {
            let attributes = format!("{max_wr} receives of {max_sge} segments");
            VerbsError::io("ibv_create_srq", self.describe(), attributes, &why)
        })?;
        Ok(SharedReceiveQueue(Arc::new(SharedQueue {
            queue,
            max_sge: attributes.attr.max_sge,
            domain: self.clone(),
            xrc: None,
        })))
    }

    /// As [`create_shared_receive_queue`](Self::create_shared_receive_queue), for the messages of initiators to targets of an
    /// XRC domain. They complete on `completions`, and reads and writes that name the queue reach the memory of this
    /// protection domain.
    ///
    /// # Errors
    /// As there; when the device has no XRC, or the three are of different [`Context`]s.
    pub fn create_xrc_receive_queue(
        &self,
        xrc_domain: &XrcDomain,
        completions: &CompletionQueue,
        [max_wr, max_sge]: [u32; 2],
        key: u64,
    ) -> Result<SharedReceiveQueue, VerbsError> {
        const CALL: &str = "ibv_create_srq_ex";
        let context = self.context();
        let fail =
            |errno, attributes: &str| VerbsError::new(CALL, self.describe(), attributes, errno);
        if ![xrc_domain.context(), completions.context()]
            .map(|of| of.is(context))
            .iter()
            .all(|is| *is)
        {
            return Err(fail(EINVAL, "a domain or a queue of another context"));
        }
        let functions = context
            .extended()
            .and_then(|extended| extended.create_srq_ex.zip(extended.get_srq_num));
        let (create, number_of) = functions.ok_or_else(|| fail(EOPNOTSUPP, ""))?;
        let mut attributes = ibv_srq_init_attr_ex {
            // As of other shared queues.
            srq_context: ptr::without_provenance_mut(key as usize),
            attr: ibv_srq_attr {
                max_wr,
                max_sge,
                srq_limit: 0,
            },
            comp_mask: IBV_SRQ_INIT_ATTR_TYPE
                | IBV_SRQ_INIT_ATTR_PD
                | IBV_SRQ_INIT_ATTR_XRCD
                | IBV_SRQ_INIT_ATTR_CQ,
            srq_type: IBV_SRQT_XRC,
            pd: self.as_ptr(),
            xrcd: xrc_domain.as_ptr(),
            cq: completions.as_ptr(),
            tm_cap: [0; 2],
        };
        // SAFETY: the context is open, and the domains and the queue are of it; the call writes what was granted to the
        // attributes.
        let queue = unsafe { create(context.as_ptr(), &raw mut attributes) };
        let queue = Handle::new(queue).map_err(|why| {
            let attributes = format!("{max_wr} receives of {max_sge} segments");
            VerbsError::io(CALL, self.describe(), attributes, &why)
        })?;
        let mut shared = SharedQueue {
            queue,
            max_sge: attributes.attr.max_sge,
            domain: self.clone(),
            xrc: None,
        };
        let mut number = 0;
        // SAFETY: the queue is alive, and there is room for its number.
        match unsafe { number_of(shared.queue.as_ptr(), &raw mut number) } {
            0 => {
                shared.xrc = Some((number, xrc_domain.clone(), completions.clone()));
                Ok(SharedReceiveQueue(Arc::new(shared)))
            }
            errno => {
                let queue = format!("{shared:?}");
                Err(VerbsError::new("ibv_get_srq_num", queue, "", errno))
            }
        }
    }
}

impl Drop for SharedQueue {
    fn drop(&mut self) {
        // SAFETY: the queue pairs that use the queue own it, so there are none.
        unsafe { (self.domain.context().library().destroy_srq)(self.queue.as_ptr()) };
    }
}

impl SharedReceiveQueue {
    /// The number by which initiators address it, if it is of an XRC domain.
    #[must_use]
    pub fn xrc_number(&self) -> Option<u32> {
        self.0.xrc.as_ref().map(|(number, ..)| *number)
    }

    /// Posts a receive, as [`QueuePair::post_receive`](crate::QueuePair::post_receive) does. Its completion goes to
    /// the completion queue of the queue pair that takes it.
    ///
    /// # Errors
    /// [`PostError::Full`] when the queue holds no more; it holds `max_wr` at least.
    ///
    /// # Cost
    /// A call through the provider's table; most devices need no system call.
    #[inline]
    pub fn post_receive(&self, id: u64, segments: &[Segment<'_>]) -> Result<(), PostError> {
        // SAFETY: the queue is alive, and this is the function of its context for it.
        unsafe { receive::post(&*self.0, self.0.queue.as_ptr(), id, segments) }
    }

    /// Posts several receives, as [`QueuePair::post_receives`](crate::QueuePair::post_receives) does.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn post_receives<'a>(
        &self,
        receives: impl IntoIterator<Item = (u64, Segment<'a>)>,
    ) -> Result<(), PostError> {
        // SAFETY: as above.
        unsafe { receive::post_each(&*self.0, self.0.queue.as_ptr(), receives) }
    }

    /// Asks for one event ([`Context::next_event`]) as soon as the queue holds fewer than `limit` receives.
    ///
    /// # Errors
    /// When the limit is longer than the queue.
    pub fn arm_limit(&self, limit: u32) -> Result<(), VerbsError> {
        let SharedQueue { queue, domain, .. } = &*self.0;
        let mut attributes = ibv_srq_attr {
            max_wr: 0,
            max_sge: 0,
            srq_limit: limit,
        };
        let mask = IBV_SRQ_LIMIT.cast_signed();
        let modify = domain.context().library().modify_srq;
        // SAFETY: the queue is alive, and the call reads the attributes only.
        match unsafe { modify(queue.as_ptr(), &raw mut attributes, mask) } {
            0 => Ok(()),
            errno => {
                let attributes = format!("limit {limit}");
                Err(VerbsError::new(
                    "ibv_modify_srq",
                    format!("{:?}", self.0),
                    attributes,
                    errno,
                ))
            }
        }
    }

    pub(super) fn context(&self) -> &Context {
        self.0.domain.context()
    }

    pub(super) fn as_ptr(&self) -> *mut ibv_srq {
        self.0.queue.as_ptr()
    }
}

impl Receiver for SharedQueue {
    type Queue = ibv_srq;
    const CALL: &'static str = "ibv_post_srq_recv";

    fn post(&self) -> receive::Post<ibv_srq> {
        self.domain.context().ops().post_srq_recv
    }

    fn max_sge(&self) -> u32 {
        self.max_sge
    }
}

impl fmt::Debug for SharedQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a shared receive queue of {}",
            self.domain.context().name()
        )
    }
}

impl fmt::Debug for SharedReceiveQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
