//! The other endpoints of a thread, which a blocking call drives too.
//!
//! A rank that waits on one endpoint may owe a peer progress on another, such as the rest of a message
//! it has sent there. Every thread drives its own endpoints and all shared ones.
//!
//! A thread with one endpoint, in a process without shared ones, pays two plain loads when it has
//! nothing to do. With more of them it takes no memory and no lock but the endpoints' own: each thread
//! has a copy of the list of shared endpoints, which it renews when one is made.

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::rc::{self, Rc};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{self, Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::access::sealed::EndpointAccess;
use super::access::{Multi, Single};
use super::cell::EndpointCell;
use super::collective;
use super::endpoint::Endpoint;
use crate::error::{Error, Result};

/// An endpoint that its thread knows for as long as it lives.
pub(super) struct SingleEndpoint {
    pub(super) endpoint: EndpointCell,
    _known: Known,
}

/// An endpoint that all threads know for as long as it lives.
pub(super) struct MultiEndpoint {
    pub(super) endpoint: Mutex<Endpoint>,
    _known: KnownToAll,
}

thread_local! {
    static OWN: RefCell<Vec<rc::Weak<SingleEndpoint>>> = const { RefCell::new(Vec::new()) };

    /// Endpoints of this thread.
    static OWN_COUNT: Cell<usize> = const { Cell::new(0) };

    /// This thread's copy of the list of shared endpoints.
    static COPY: RefCell<ListCopy> = const {
        RefCell::new(ListCopy {
            made: 0,
            endpoints: Vec::new(),
        })
    };
}

static SHARED: Mutex<Vec<sync::Weak<MultiEndpoint>>> = Mutex::new(Vec::new());

/// Multi endpoints there are.
static SHARED_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Multi endpoints made so far: a copy of the list that was made at another number is old.
static MADE: AtomicUsize = AtomicUsize::new(0);

struct ListCopy {
    made: usize,
    endpoints: Vec<sync::Weak<MultiEndpoint>>,
}

/// Counts an endpoint of its thread.
struct Known;

impl Drop for Known {
    fn drop(&mut self) {
        // When the thread's variables are gone, nobody asks for the number any more.
        let _ = OWN_COUNT.try_with(|count| count.set(count.get() - 1));
    }
}

/// Counts a shared endpoint.
struct KnownToAll;

impl Drop for KnownToAll {
    fn drop(&mut self) {
        SHARED_COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SingleEndpoint {
    pub(super) fn new(endpoint: EndpointCell) -> Rc<Self> {
        OWN_COUNT.set(OWN_COUNT.get() + 1);
        let endpoint = Rc::new(Self {
            endpoint,
            _known: Known,
        });
        OWN.with_borrow_mut(|endpoints| {
            endpoints.retain(|endpoint| endpoint.strong_count() > 0);
            endpoints.push(Rc::downgrade(&endpoint));
        });
        endpoint
    }
}

impl MultiEndpoint {
    pub(super) fn new(endpoint: Endpoint) -> Arc<Self> {
        SHARED_COUNT.fetch_add(1, Ordering::Relaxed);
        let endpoint = Arc::new(Self {
            endpoint: Mutex::new(endpoint),
            _known: KnownToAll,
        });
        let mut endpoints = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        endpoints.retain(|endpoint| endpoint.strong_count() > 0);
        endpoints.push(Arc::downgrade(&endpoint));
        MADE.fetch_add(1, Ordering::Relaxed);
        drop(endpoints);
        endpoint
    }
}

/// Whether this thread has another endpoint to drive than the one it waits on.
///
/// # Cost
/// Two plain loads.
#[inline]
pub(super) fn any() -> bool {
    OWN_COUNT.get() > 1 || SHARED_COUNT.load(Ordering::Relaxed) != 0
}

/// Makes progress on every endpoint of this thread, and on every shared one, that is not in use right
/// now.
#[cold]
pub(super) fn drive() {
    // At the thread's end its variables are gone before the last of its endpoints may be.
    let own = OWN.try_with(|endpoints| {
        let endpoints = endpoints.borrow();
        let endpoints = endpoints.iter().filter_map(rc::Weak::upgrade);
        let open = |endpoint: &Rc<SingleEndpoint>| {
            endpoint
                .endpoint
                .try_borrow()
                .is_some_and(|mut endpoint| endpoint.make_progress())
        };
        endpoints.filter(open).collect::<Vec<_>>()
    });
    let shared = COPY.try_with(|copy| {
        // In use: an endpoint whose last owner is the walk below drives the others as it leaves.
        let mut copy = copy.try_borrow_mut().ok()?;
        copy.renew();
        let endpoints = copy.endpoints.iter().filter_map(sync::Weak::upgrade);
        let open = |endpoint: &Arc<MultiEndpoint>| {
            endpoint
                .endpoint
                .try_lock()
                .is_ok_and(|mut endpoint| endpoint.make_progress())
        };
        Some(endpoints.filter(open).collect::<Vec<_>>())
    });
    // What runs here may be an operation of the user's, which may make endpoints and wait: no list is
    // held. The vectors take memory only where there is a collective.
    for endpoint in own.into_iter().flatten() {
        collective::drive(&Single(endpoint));
    }
    for endpoint in shared.into_iter().flatten().flatten() {
        collective::drive(&Multi(endpoint));
    }
}

impl ListCopy {
    fn renew(&mut self) {
        if self.made != MADE.load(Ordering::Relaxed) {
            let endpoints = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            self.made = MADE.load(Ordering::Relaxed);
            self.endpoints.clone_from(&endpoints);
        }
    }
}

/// Does `work`, which waits by system calls, on a thread of its own, and drives this one's endpoints meanwhile. What
/// a call has sent may wait in an endpoint for a connection to be made, say, also after that call; and the rank it
/// is for may have to take it before it does what `work` waits for.
///
/// # Errors
/// That of `work`; or the system gives no thread.
pub(super) fn while_driving<R: Send>(work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    /// How long the endpoints are left alone at most.
    const TURN: Duration = Duration::from_millis(1);
    thread::scope(|scope| {
        let (done, ended) = mpsc::sync_channel(1);
        let worker = thread::Builder::new()
            .name("oxmpi-meet".into())
            .spawn_scoped(scope, move || done.send(work()))
            .map_err(|why| Error::start("starting a thread that meets the other ranks", why))?;
        loop {
            drive();
            match ended.recv_timeout(TURN) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(_) => unreachable!("a worker that ends well has said so"),
                },
            }
        }
    })
}

/// Leaves every shared endpoint: the world has ended.
pub(super) fn leave() {
    let endpoints = SHARED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    for endpoint in endpoints.iter().filter_map(sync::Weak::upgrade) {
        Multi(endpoint).leave();
    }
}
