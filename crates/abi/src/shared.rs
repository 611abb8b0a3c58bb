//! State of the library that calls share, and the lock that MPI_THREAD_MULTIPLE asks for.

use std::any::Any;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;

/// What has to live as long as an operation: datatypes, arrays, functions.
pub(crate) type Held = Option<Arc<dyn Any + Send + Sync>>;

/// What holds both.
pub(crate) fn both(one: Held, other: Held) -> Held {
    match (one, other) {
        (Some(one), Some(other)) => Some(Arc::new((one, other))),
        (one, other) => one.or(other),
    }
}

/// Whether calls may come from several threads at once.
static CONCURRENT: AtomicBool = AtomicBool::new(false);

/// Says that calls come from several threads at once from now on (`MPI_THREAD_MULTIPLE`).
pub(crate) fn allow_concurrent_calls() {
    CONCURRENT.store(true, Ordering::Relaxed);
}

/// How many hold something. Calls change the number one after another, by the program's promise below
/// `MPI_THREAD_MULTIPLE`; at it atomically.
pub(crate) struct Holders(AtomicU32);

impl Holders {
    pub(crate) const fn one() -> Self {
        Self(AtomicU32::new(1))
    }

    /// One more.
    pub(crate) fn add(&self) {
        match CONCURRENT.load(Ordering::Relaxed) {
            true => drop(self.0.fetch_add(1, Ordering::Relaxed)),
            false => self
                .0
                .store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed),
        }
    }

    /// One less; whether none is left.
    pub(crate) fn remove(&self) -> bool {
        if CONCURRENT.load(Ordering::Relaxed) {
            return self.0.fetch_sub(1, Ordering::AcqRel) == 1;
        }
        let left = self.0.load(Ordering::Relaxed) - 1;
        self.0.store(left, Ordering::Relaxed);
        left == 0
    }
}

/// A value that calls reach one after another: by the program's promise below `MPI_THREAD_MULTIPLE`, else by a lock.
pub(crate) struct Shared<T> {
    value: UnsafeCell<T>,
    lock: Mutex<()>,
    always: bool,
}

// SAFETY: `with` lends the value to one call at a time. Values may be bound to no thread but by the endpoint in them,
// which the thread level of the program's choice covers.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// A value for calls at the thread level of the process.
    pub(crate) const fn new(value: T) -> Self {
        Self {
            value: UnsafeCell::new(value),
            lock: Mutex::new(()),
            always: false,
        }
    }

    /// A value for calls that any thread may make at any time.
    pub(crate) const fn always_locked(value: T) -> Self {
        Self {
            value: UnsafeCell::new(value),
            lock: Mutex::new(()),
            always: true,
        }
    }

    /// Runs `work` on the value, if no lock is to be taken. It calls no code of the program, nor this value.
    #[inline(always)]
    pub(crate) fn with_unlocked<R>(&self, work: impl FnOnce(&T) -> Option<R>) -> Option<R> {
        match self.always || CONCURRENT.load(Ordering::Relaxed) {
            true => None,
            // SAFETY: one call at a time comes here, by the program's promise; and `work` does not come back.
            false => work(unsafe { &*self.value.get() }),
        }
    }

    /// Runs `work` on the value. It calls no code of the program, nor this value.
    ///
    /// # Cost
    /// Two loads and a branch below `MPI_THREAD_MULTIPLE`.
    #[inline]
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let locked = self.always || CONCURRENT.load(Ordering::Relaxed);
        let _guard = locked.then(|| self.lock.lock());
        // SAFETY: one call at a time comes here, by the lock or by the program's promise; and `work` does not come back.
        work(unsafe { &mut *self.value.get() })
    }
}
