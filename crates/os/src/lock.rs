//! [`Lock`]: a lock of threads around a value that a panic leaves consistent.
//!
//! `std::sync::Mutex` asks at both ends whether its thread panics, which is a quarter of what a short message costs; a
//! value that is consistent at every point where code may panic gains nothing from the answer.
//!
//! Source: U. Drepper, "Futexes are tricky", 2011, section 5 (the second mutex).

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::futex;

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and threads may sleep until it is free.
const AWAITED: u32 = 2;

/// Looks at a lock that another thread holds before this one sleeps: most are held for less than a microsecond.
const LOOKS: u32 = 100;

/// A sleep that nobody ends is begun anew after this time.
const SLEEP: Duration = Duration::from_secs(3600);

/// A value that one thread at a time may use. It is not poisoned by a panic.
#[derive(Debug)]
pub struct Lock<T> {
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: a guard lends the value to one thread at a time, which may be any, as the value is `Send`.
unsafe impl<T: Send> Sync for Lock<T> {}

/// A locked value. The lock is free again when this is dropped, by the same thread.
#[derive(Debug)]
pub struct LockGuard<'a, T> {
    lock: &'a Lock<T>,
    /// It stays on its thread.
    thread: PhantomData<*const ()>,
}

impl<T> Lock<T> {
    /// A free lock.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            state: AtomicU32::new(FREE),
            value: UnsafeCell::new(value),
        }
    }

    /// Locks, unless a thread holds the lock.
    ///
    /// # Cost
    /// One atomic compare-exchange; one atomic swap when the guard is dropped.
    #[inline(always)]
    pub fn try_lock(&self) -> Option<LockGuard<'_, T>> {
        self.state
            .compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
            .then(|| self.guard())
    }

    /// Locks; sleeps while another thread holds the lock. A thread that holds it already sleeps for ever.
    #[inline]
    pub fn lock(&self) -> LockGuard<'_, T> {
        match self.try_lock() {
            Some(guard) => guard,
            None => self.lock_held(),
        }
    }

    #[cold]
    #[inline(never)]
    fn lock_held(&self) -> LockGuard<'_, T> {
        for _ in 0..LOOKS {
            std::hint::spin_loop();
            if self.state.load(Ordering::Relaxed) == FREE
                && let Some(guard) = self.try_lock()
            {
                return guard;
            }
        }
        // Others may sleep, too, of whom this thread knows nothing, so it leaves the lock as one that is awaited.
        while self.state.swap(AWAITED, Ordering::Acquire) != FREE {
            // Whatever ends the sleep: the loop looks again.
            let _ = futex::wait(&self.state, AWAITED, SLEEP);
        }
        self.guard()
    }

    /// For callers that have just locked.
    #[inline(always)]
    const fn guard(&self) -> LockGuard<'_, T> {
        LockGuard {
            lock: self,
            thread: PhantomData,
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        // The word is this process's own, so the call does not fail.
        let _ = futex::wake(&self.state);
    }
}

impl<T> Drop for LockGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.lock.state.swap(FREE, Ordering::Release) == AWAITED {
            self.lock.wake();
        }
    }
}

impl<T> Deref for LockGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this thread has locked, and unlocks when the guard is dropped.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for LockGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.lock.value.get() }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use super::*;

    #[test]
    fn one_thread_at_a_time_has_the_value() {
        let lock = Lock::new([0u64; 2]);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let mut pair = lock.lock();
                        pair[0] += 1;
                        let first = pair[0];
                        pair[1] += 1;
                        assert_eq!(pair[1], first);
                    }
                });
            }
        });
        assert_eq!(*lock.lock(), [80_000; 2]);
        assert_eq!(lock.state.load(Ordering::Relaxed), FREE);
    }

    #[test]
    fn a_sleeper_is_woken() {
        let lock = Lock::new(0);
        thread::scope(|scope| {
            let guard = lock.lock();
            assert!(lock.try_lock().is_none());
            let sleeper = scope.spawn(|| *lock.lock() += 1);
            while lock.state.load(Ordering::Relaxed) != AWAITED {
                thread::yield_now();
            }
            drop(guard);
            sleeper.join().expect("it ends");
        });
        assert_eq!(*lock.lock(), 1);
    }

    #[test]
    fn a_panic_leaves_the_lock_free() {
        let lock = Lock::new(1);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _guard = lock.lock();
            panic!("as intended");
        }));
        assert!(panic.is_err());
        assert_eq!(lock.try_lock().map(|value| *value), Some(1));
    }
}
