//! The other lanes of a thread, which a blocking call drives too.
//!
//! A rank that waits on one lane may owe a peer progress on another, such as the rest of a message
//! it has sent there. Every thread drives its own lanes and all shared ones.

use std::cell::RefCell;
use std::rc::{self, Rc};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{self, Arc, Mutex, PoisonError};

use super::lane::Lane;

thread_local! {
    static OWN: RefCell<Vec<rc::Weak<RefCell<Lane>>>> = const { RefCell::new(Vec::new()) };
}

static SHARED: Mutex<Vec<sync::Weak<Mutex<Lane>>>> = Mutex::new(Vec::new());

/// Shared lanes there are. While there is none, a thread has nothing else to drive.
static COUNT: AtomicUsize = AtomicUsize::new(0);

pub(super) fn add_own(lane: &Rc<RefCell<Lane>>) {
    OWN.with_borrow_mut(|lanes| {
        lanes.retain(|lane| lane.strong_count() > 0);
        lanes.push(Rc::downgrade(lane));
    });
}

pub(super) fn add_shared(lane: &Arc<Mutex<Lane>>) {
    let mut lanes = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    lanes.retain(|lane| lane.strong_count() > 0);
    lanes.push(Arc::downgrade(lane));
    COUNT.store(lanes.len(), Ordering::Relaxed);
}

/// Whether there is more than one lane to drive.
///
/// # Cost
/// One plain load.
#[inline]
pub(super) fn any() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

/// Makes progress on every lane of this thread that is not in use right now.
#[cold]
pub(super) fn drive() {
    OWN.with_borrow(|lanes| {
        for lane in lanes.iter().filter_map(rc::Weak::upgrade) {
            if let Ok(mut lane) = lane.try_borrow_mut() {
                lane.go_on();
            }
        }
    });
    for lane in shared() {
        if let Ok(mut lane) = lane.try_lock() {
            lane.go_on();
        }
    }
}

/// Leaves every shared lane: the world has ended.
pub(super) fn leave() {
    for lane in shared() {
        lane.lock().unwrap_or_else(PoisonError::into_inner).leave();
    }
}

fn shared() -> Vec<Arc<Mutex<Lane>>> {
    let lanes = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    lanes.iter().filter_map(sync::Weak::upgrade).collect()
}
