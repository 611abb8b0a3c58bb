//! Queue pairs. Their states and transport services are types.

mod attributes;
mod by_rdmacm;
mod datagram;
mod extended;
mod post;
mod states;

pub use attributes::{
    DatagramAttributes, InitAttributes, QueueCapacity, ReceiveAttributes, SendAttributes,
};
pub use datagram::{Destination, ROUTING_HEADER};
pub(crate) use extended::WeakInitiator;
pub use post::{Payload, SendFlags};
pub use states::{
    Accepting, Init, QueuePairState, ReadyToReceive, ReadyToSend, ReliableConnection,
    ReliableService, Reset, TransportService, UnreliableDatagram, XrcInitiator, XrcTarget,
};

use super::completion::CompletionQueue;
use super::context::Context;
use super::domain::ProtectionDomain;
use super::handle::Handle;
use super::shared_queue::SharedReceiveQueue;
use super::xrc::XrcDomain;
use crate::error::{EINVAL, VerbsError};
use crate::ffi::{ibv_qp, ibv_qp_init_attr};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// A queue of sends and a queue of receives, in state `S`: one end of a reliable connection, or of datagrams.
///
/// It is made in [`Reset`], takes receives from [`Init`] on, and sends from [`ReadyToSend`] on:
///
/// ```no_run
/// # use oxmpi_verbs::{QueuePair, Reset, Init, InitAttributes, MemoryRegion, VerbsError};
/// # fn f(pair: QueuePair<Reset>, init: InitAttributes, region: MemoryRegion) -> Result<(), Box<dyn std::error::Error>> {
/// let pair: QueuePair<Init> = pair.init(init)?;
/// pair.post_receive(1, &[region.segment(0..64)])?;
/// # Ok(())
/// # }
/// ```
///
/// In another state that does not compile:
///
/// ```compile_fail,E0599
/// # use oxmpi_verbs::{QueuePair, Reset, Init, InitAttributes, MemoryRegion, VerbsError};
/// # fn f(pair: QueuePair<Reset>, init: InitAttributes, region: MemoryRegion) -> Result<(), Box<dyn std::error::Error>> {
/// pair.post_receive(1, &[region.segment(0..64)])?;
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # use oxmpi_verbs::{QueuePair, ReadyToReceive, Payload, SendFlags, PostError};
/// # fn f(pair: QueuePair<ReadyToReceive>) -> Result<(), PostError> {
/// pair.post_send(1, Payload::Inline(b"too early"), None, SendFlags::SIGNALED)
/// # }
/// ```
///
/// A transition that fails destroys the queue pair: make another one.
#[must_use]
pub struct QueuePair<S: QueuePairState, T: TransportService = ReliableConnection> {
    live: Arc<LivePair>,
    /// The shared receive queue of the peer that requests are for, if it is an initiator's.
    remote_queue: u32,
    kind: PhantomData<(S, T)>,
}

/// The object of the library, in whatever state.
struct LivePair {
    pair: Handle<ibv_qp>,
    number: u32,
    capacity: QueueCapacity,
    context: Context,
    /// Requests to several peers share it.
    is_initiator: bool,
    /// This process has put it in error.
    has_ended: AtomicBool,
    // Dropped after the queue pair.
    _parents: Parents,
}

/// A queue pair that somebody else keeps.
#[derive(Debug)]
pub(super) struct WeakPair(Weak<LivePair>);

impl WeakPair {
    /// The queue pair, unless nobody has it any more, or it was put in error.
    pub(super) fn upgrade<T: TransportService>(&self) -> Option<QueuePair<ReadyToSend, T>> {
        let live = self.0.upgrade()?;
        (!live.has_ended.load(Ordering::Relaxed)).then_some(QueuePair {
            live,
            remote_queue: 0,
            kind: PhantomData,
        })
    }
}

/// What a queue pair was made from.
enum Parents {
    Domain {
        _domain: ProtectionDomain,
        /// It writes completions to them.
        _queues: [CompletionQueue; 2],
        /// It takes their receives.
        _shared: Option<SharedReceiveQueue>,
    },
    Extended {
        _domain: XrcDomain,
    },
}

impl ProtectionDomain {
    /// Creates a queue pair of a reliable connection, whose sends complete on `sends` and receives on `receives`.
    ///
    /// # Errors
    /// When the device cannot give so large a capacity, or a queue was made from another [`Context`].
    ///
    /// [`Context`]: super::Context
    pub fn create_queue_pair(
        &self,
        sends: &CompletionQueue,
        receives: &CompletionQueue,
        capacity: QueueCapacity,
    ) -> Result<QueuePair<Reset>, VerbsError> {
        self.create_pair([sends, receives], None, capacity)
    }

    /// As [`create_queue_pair`](Self::create_queue_pair), for a queue pair that takes the receives of `shared`: it has
    /// no receive queue of its own, so `max_recv_wr` and `max_recv_sge` count as 0.
    ///
    /// # Errors
    /// As [`create_queue_pair`](Self::create_queue_pair).
    pub fn create_queue_pair_on(
        &self,
        shared: &SharedReceiveQueue,
        sends: &CompletionQueue,
        receives: &CompletionQueue,
        capacity: QueueCapacity,
    ) -> Result<QueuePair<Reset>, VerbsError> {
        self.create_pair([sends, receives], Some(shared), capacity)
    }

    /// As [`create_queue_pair`](Self::create_queue_pair), for datagrams.
    ///
    /// # Errors
    /// As [`create_queue_pair`](Self::create_queue_pair).
    pub fn create_datagram_pair(
        &self,
        sends: &CompletionQueue,
        receives: &CompletionQueue,
        capacity: QueueCapacity,
    ) -> Result<QueuePair<Reset, UnreliableDatagram>, VerbsError> {
        self.create_pair([sends, receives], None, capacity)
    }

    pub(super) fn create_pair<T: TransportService>(
        &self,
        [sends, receives]: [&CompletionQueue; 2],
        shared: Option<&SharedReceiveQueue>,
        mut capacity: QueueCapacity,
    ) -> Result<QueuePair<Reset, T>, VerbsError> {
        const CALL: &str = "ibv_create_qp";
        let mut contexts = [sends.context(), receives.context()]
            .into_iter()
            .chain(shared.map(SharedReceiveQueue::context));
        if !contexts.all(|context| self.context().is(context)) {
            let attributes = "a queue of another context";
            return Err(VerbsError::new(CALL, self.describe(), attributes, EINVAL));
        }
        if shared.is_some() {
            capacity.max_recv_wr = 0;
            capacity.max_recv_sge = 0;
        }
        let mut attributes = ibv_qp_init_attr {
            qp_context: ptr::null_mut(),
            send_cq: sends.as_ptr(),
            recv_cq: receives.as_ptr(),
            srq: shared.map_or(ptr::null_mut(), SharedReceiveQueue::as_ptr),
            cap: capacity.to_c(),
            qp_type: T::QP_TYPE,
            sq_sig_all: 0,
        };
        // SAFETY: the domain and the queues are alive, and of one context; the call writes what was granted to the
        // attributes.
        let pair =
            unsafe { (self.context().library().create_qp)(self.as_ptr(), &raw mut attributes) };
        let pair = Handle::new(pair)
            .map_err(|why| VerbsError::io(CALL, self.describe(), capacity.to_string(), &why))?;
        let mut granted = QueueCapacity::from_c(&attributes.cap);
        if shared.is_some() {
            // Some providers leave there what they were given.
            granted.max_recv_wr = 0;
            granted.max_recv_sge = 0;
        }
        // SAFETY: the queue pair is alive, and its number never changes.
        let number = unsafe { (*pair.as_ptr()).qp_num };
        Ok(QueuePair {
            live: Arc::new(LivePair {
                pair,
                number,
                capacity: granted,
                context: self.context().clone(),
                is_initiator: T::QP_TYPE == XrcInitiator::QP_TYPE,
                has_ended: AtomicBool::new(false),
                _parents: Parents::Domain {
                    _domain: self.clone(),
                    _queues: [sends.clone(), receives.clone()],
                    _shared: shared.cloned(),
                },
            }),
            remote_queue: 0,
            kind: PhantomData,
        })
    }
}

impl<S: QueuePairState> QueuePair<S, XrcTarget> {
    /// That of an object of an XRC domain.
    ///
    /// # Safety
    /// The object is alive, in state `S`, and nobody else destroys it.
    pub(super) unsafe fn of_xrc_domain(pair: Handle<ibv_qp>, domain: &XrcDomain) -> Self {
        // SAFETY: the queue pair is alive by the caller's word, and its number never changes.
        let number = unsafe { (*pair.as_ptr()).qp_num };
        let live = LivePair {
            pair,
            number,
            capacity: QueueCapacity {
                max_send_sge: 0,
                max_recv_sge: 0,
                ..QueueCapacity::new(0, 0)
            },
            context: domain.context().clone(),
            is_initiator: false,
            has_ended: AtomicBool::new(false),
            _parents: Parents::Extended {
                _domain: domain.clone(),
            },
        };
        Self {
            live: Arc::new(live),
            remote_queue: 0,
            kind: PhantomData,
        }
    }
}

impl<S: QueuePairState, T: TransportService> QueuePair<S, T> {
    /// Its number, by which the peer addresses it.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.live.number
    }

    /// Whether it is the initiator of connections with several peers: what ends it ends all of them.
    pub(crate) fn is_initiator(&self) -> bool {
        self.live.is_initiator
    }

    /// Whether its device speaks iWARP.
    pub(crate) fn is_iwarp(&self) -> bool {
        self.live.context.is_iwarp()
    }

    pub(super) fn to_weak(&self) -> WeakPair {
        WeakPair(Arc::downgrade(&self.live))
    }

    /// The same object for requests to another shared receive queue.
    pub(super) fn with_remote_queue<N: QueuePairState, U: TransportService>(
        &self,
        remote_queue: u32,
    ) -> QueuePair<N, U> {
        QueuePair {
            live: Arc::clone(&self.live),
            remote_queue,
            kind: PhantomData,
        }
    }

    /// What the device granted: at least what was asked for, but for `max_inline_data`, which may be less.
    #[must_use]
    pub fn capacity(&self) -> QueueCapacity {
        self.live.capacity
    }
}

impl Drop for LivePair {
    fn drop(&mut self) {
        // SAFETY: the queue pair is alive, and nobody else has it.
        unsafe { (self.context.library().destroy_qp)(self.pair.as_ptr()) };
    }
}

impl fmt::Debug for LivePair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "queue pair {} of {}", self.number, self.context.name())
    }
}

impl<S: QueuePairState, T: TransportService> fmt::Debug for QueuePair<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} in {}", self.live, S::NAME)
    }
}
