//! How a communicator owns its endpoint: for one thread ([`Single`]), for several behind a lock ([`Multi`]), for a
//! process whose calls come one after another ([`Serialized`]), or as a process chooses when it starts
//! ([`ProcessEndpoint`]).
//!
//! The lists of all endpoints that a thread drives while it waits are here too. Each thread has a copy of the
//! list of shared endpoints, which it renews when one is made: so driving them takes no lock but their own.

mod endpoint_cell;
mod endpoint_latch;
mod multi;
mod process;
mod serialized;
mod single;
mod unlocked;
mod words;

use std::cell::RefCell;
use std::rc::{self, Rc};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{self, Arc, Mutex, PoisonError};

pub use self::endpoint_cell::EndpointCell;
pub(crate) use self::endpoint_latch::{EndpointLatch, latches};
pub use self::multi::Multi;
use self::multi::MultiEndpoint;
pub use self::process::ProcessEndpoint;
pub use self::serialized::Serialized;
pub use self::single::Single;
use self::single::SingleEndpoint;
use super::collective;
use super::threading::sealed::EndpointAccess;

thread_local! {
    /// Endpoints that this thread alone uses.
    static SINGLE: RefCell<Vec<rc::Weak<SingleEndpoint>>> = const { RefCell::new(Vec::new()) };

    /// This thread's copy of [`MULTI`].
    static MULTI_COPY: RefCell<MultiCopy> = const {
        RefCell::new(MultiCopy {
            made: 0,
            endpoints: Vec::new(),
        })
    };
}

/// Endpoints that threads share.
static MULTI: Mutex<Vec<sync::Weak<MultiEndpoint>>> = Mutex::new(Vec::new());

/// Shared endpoints made so far: a copy of the list that was made at another number is old.
static MULTI_MADE: AtomicUsize = AtomicUsize::new(0);

struct MultiCopy {
    made: usize,
    endpoints: Vec<sync::Weak<MultiEndpoint>>,
}

impl MultiCopy {
    fn renew(&mut self) {
        if self.made != MULTI_MADE.load(Ordering::Relaxed) {
            let endpoints = MULTI.lock().unwrap_or_else(PoisonError::into_inner);
            self.made = MULTI_MADE.load(Ordering::Relaxed);
            self.endpoints.clone_from(&endpoints);
        }
    }
}

/// Lists an endpoint among those of this thread.
fn list_single(endpoint: &Rc<SingleEndpoint>) {
    SINGLE.with_borrow_mut(|endpoints| {
        endpoints.retain(|endpoint| endpoint.strong_count() > 0);
        endpoints.push(Rc::downgrade(endpoint));
    });
}

/// Lists an endpoint among those of all threads.
fn list_multi(endpoint: &Arc<MultiEndpoint>) {
    let mut endpoints = MULTI.lock().unwrap_or_else(PoisonError::into_inner);
    endpoints.retain(|endpoint| endpoint.strong_count() > 0);
    endpoints.push(Arc::downgrade(endpoint));
    MULTI_MADE.fetch_add(1, Ordering::Relaxed);
}

/// Makes progress on every endpoint of this thread, and on every shared one, that is not in use.
fn drive() {
    // At the thread's end its variables are gone before the last of its endpoints may be.
    let single = SINGLE.try_with(|endpoints| {
        let endpoints = endpoints.borrow();
        let endpoints = endpoints.iter().filter_map(rc::Weak::upgrade);
        let has_collectives = |one: &Rc<SingleEndpoint>| {
            let endpoint = one.endpoint.try_borrow();
            endpoint.is_some_and(|mut endpoint| endpoint.make_progress())
        };
        endpoints.filter(has_collectives).collect::<Vec<_>>()
    });
    let multi = MULTI_COPY.try_with(|copy| {
        // In use: an endpoint whose last owner is the walk below drives the others as it leaves.
        let mut copy = copy.try_borrow_mut().ok()?;
        copy.renew();
        let endpoints = copy.endpoints.iter().filter_map(sync::Weak::upgrade);
        let has_collectives = |one: &Arc<MultiEndpoint>| {
            let endpoint = one.endpoint.try_lock();
            endpoint.is_some_and(|mut endpoint| endpoint.make_progress())
        };
        Some(endpoints.filter(has_collectives).collect::<Vec<_>>())
    });
    // What runs here may be an operation of the user's, which may make endpoints and wait: no list is
    // held. The vectors take memory only where there is a collective.
    for endpoint in single.into_iter().flatten() {
        collective::drive(&Single(endpoint));
    }
    for endpoint in multi.into_iter().flatten().flatten() {
        collective::drive(&Multi(endpoint));
    }
}

/// Every shared endpoint.
pub(crate) fn shared_endpoints() -> Vec<Multi> {
    let endpoints = MULTI.lock().unwrap_or_else(PoisonError::into_inner);
    let endpoints = endpoints.iter().filter_map(sync::Weak::upgrade);
    endpoints.map(Multi).collect()
}

/// Leaves every shared endpoint: the world has ended.
pub(crate) fn leave_shared() {
    shared_endpoints().iter().for_each(Multi::leave);
}
