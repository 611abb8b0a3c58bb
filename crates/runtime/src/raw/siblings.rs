//! The other lanes of a thread, which a blocking call drives too.
//!
//! A rank that waits on one lane may owe a peer progress on another, such as the rest of a message
//! it has sent there. Every thread drives its own lanes and all shared ones.
//!
//! A thread with one lane, in a process without shared ones, pays two plain loads when it has
//! nothing to do. With more of them it takes no memory and no lock but the lanes' own: each thread
//! has a copy of the list of shared lanes, which it renews when one is made.

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::rc::{self, Rc};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{self, Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::access::sealed::Reach;
use super::access::{Own, Shared};
use super::cell::LaneCell;
use super::collective;
use super::lane::Lane;
use crate::error::{Error, Result};

/// A lane that its thread knows for as long as it lives.
pub(super) struct OwnLane {
    pub(super) lane: LaneCell,
    _known: Known,
}

/// A lane that all threads know for as long as it lives.
pub(super) struct SharedLane {
    pub(super) lane: Mutex<Lane>,
    _known: KnownToAll,
}

thread_local! {
    static OWN: RefCell<Vec<rc::Weak<OwnLane>>> = const { RefCell::new(Vec::new()) };

    /// Lanes of this thread.
    static OWN_COUNT: Cell<usize> = const { Cell::new(0) };

    /// This thread's copy of the list of shared lanes.
    static COPY: RefCell<ListCopy> = const {
        RefCell::new(ListCopy {
            made: 0,
            lanes: Vec::new(),
        })
    };
}

static SHARED: Mutex<Vec<sync::Weak<SharedLane>>> = Mutex::new(Vec::new());

/// Shared lanes there are.
static SHARED_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Shared lanes made so far: a copy of the list that was made at another number is old.
static MADE: AtomicUsize = AtomicUsize::new(0);

struct ListCopy {
    made: usize,
    lanes: Vec<sync::Weak<SharedLane>>,
}

/// Counts a lane of its thread.
struct Known;

impl Drop for Known {
    fn drop(&mut self) {
        // When the thread's variables are gone, nobody asks for the number any more.
        let _ = OWN_COUNT.try_with(|count| count.set(count.get() - 1));
    }
}

/// Counts a shared lane.
struct KnownToAll;

impl Drop for KnownToAll {
    fn drop(&mut self) {
        SHARED_COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

impl OwnLane {
    pub(super) fn new(lane: LaneCell) -> Rc<Self> {
        OWN_COUNT.set(OWN_COUNT.get() + 1);
        let lane = Rc::new(Self {
            lane,
            _known: Known,
        });
        OWN.with_borrow_mut(|lanes| {
            lanes.retain(|lane| lane.strong_count() > 0);
            lanes.push(Rc::downgrade(&lane));
        });
        lane
    }
}

impl SharedLane {
    pub(super) fn new(lane: Lane) -> Arc<Self> {
        SHARED_COUNT.fetch_add(1, Ordering::Relaxed);
        let lane = Arc::new(Self {
            lane: Mutex::new(lane),
            _known: KnownToAll,
        });
        let mut lanes = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.retain(|lane| lane.strong_count() > 0);
        lanes.push(Arc::downgrade(&lane));
        MADE.fetch_add(1, Ordering::Relaxed);
        drop(lanes);
        lane
    }
}

/// Whether this thread has another lane to drive than the one it waits on.
///
/// # Cost
/// Two plain loads.
#[inline]
pub(super) fn any() -> bool {
    OWN_COUNT.get() > 1 || SHARED_COUNT.load(Ordering::Relaxed) != 0
}

/// Makes progress on every lane of this thread, and on every shared one, that is not in use right
/// now.
#[cold]
pub(super) fn drive() {
    // At the thread's end its variables are gone before the last of its lanes may be.
    let own = OWN.try_with(|lanes| {
        let lanes = lanes.borrow();
        let lanes = lanes.iter().filter_map(rc::Weak::upgrade);
        let open = |lane: &Rc<OwnLane>| lane.lane.try_borrow().is_some_and(|mut lane| lane.go_on());
        lanes.filter(open).collect::<Vec<_>>()
    });
    let shared = COPY.try_with(|copy| {
        // In use: a lane whose last owner is the walk below drives the others as it leaves.
        let mut copy = copy.try_borrow_mut().ok()?;
        copy.renew();
        let lanes = copy.lanes.iter().filter_map(sync::Weak::upgrade);
        let open = |lane: &Arc<SharedLane>| lane.lane.try_lock().is_ok_and(|mut lane| lane.go_on());
        Some(lanes.filter(open).collect::<Vec<_>>())
    });
    // What runs here may be an operation of the user's, which may make lanes and wait: no list is
    // held. The vectors take memory only where there is a collective.
    for lane in own.into_iter().flatten() {
        collective::drive(&Own(lane));
    }
    for lane in shared.into_iter().flatten().flatten() {
        collective::drive(&Shared(lane));
    }
}

impl ListCopy {
    fn renew(&mut self) {
        if self.made != MADE.load(Ordering::Relaxed) {
            let lanes = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            self.made = MADE.load(Ordering::Relaxed);
            self.lanes.clone_from(&lanes);
        }
    }
}

/// Does `work`, which waits by system calls, on a thread of its own, and drives this one's lanes meanwhile. What
/// a call has sent may wait in a lane for a connection to be made, say, also after that call; and the rank it
/// is for may have to take it before it does what `work` waits for.
///
/// # Errors
/// That of `work`; or the system gives no thread.
pub(super) fn beside<R: Send>(work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    /// How long the lanes are left alone at most.
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

/// Leaves every shared lane: the world has ended.
pub(super) fn leave() {
    let lanes = SHARED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    for lane in lanes.iter().filter_map(sync::Weak::upgrade) {
        Shared(lane).leave();
    }
}
