//! Whether a helper thread carries on communication for this process, and how calls wake it.
//!
//! The thread itself is in [`helper`](super::helper). Off, nothing here is used but one flag, which calls load that leave a long
//! message or a collective under way.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oxmpi_os::futex;
use oxmpi_shm::ring::{MappedWords, SleepPlace, WorkSignal};

use super::links::LinksSleeper;

/// Whether there is a helper that endpoints are offered to.
static ON: AtomicBool = AtomicBool::new(false);

/// The word of the signal by which calls announce that they offer an endpoint.
static SIGNAL: AtomicU64 = AtomicU64::new(0);

/// Where the helper sleeps while it waits for messages.
static DOORBELL: Mutex<Option<LinksSleeper>> = Mutex::new(None);

/// The longest wait of the helper while nothing is under way: for good.
const FOR_GOOD: Duration = Duration::from_secs(u32::MAX as u64);

/// Whether a helper makes progress on endpoints that calls offer.
///
/// # Cost
/// One plain load.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Says whether there is a helper from now on.
pub(crate) fn set_on(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

fn signal() -> WorkSignal<MappedWords<'static>> {
    let word = NonNull::from(&SIGNAL).cast();
    // SAFETY: an aligned static word, whose accesses are atomic.
    WorkSignal::new(unsafe { MappedWords::new(word, 1) })
}

/// The lower half of the signal, a futex, which the kernel finds and compares by its address.
fn futex_word() -> &'static AtomicU32 {
    // SAFETY: the first half of an aligned static word, which nothing but atomics accesses.
    unsafe { AtomicU32::from_ptr(SIGNAL.as_ptr().cast()) }
}

fn doorbell() -> MutexGuard<'static, Option<LinksSleeper>> {
    DOORBELL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Announces work to the helper, and wakes it if it sleeps.
///
/// # Cost
/// A compare-and-swap; a system call where the helper sleeps.
pub(crate) fn announce() {
    match signal().announce() {
        None => {}
        // A failed wake leaves the work to the calls of the program.
        Some(SleepPlace::Signal) => drop(futex::wake(futex_word())),
        Some(SleepPlace::Doorbell) => {
            if let Some(sleeper) = &*doorbell() {
                sleeper.wake();
            }
        }
    }
}

/// What has been announced so far. Only the helper calls this and what follows.
pub(crate) fn announced() -> u64 {
    signal().wake()
}

/// Sleeps until something is announced after `seen`.
pub(crate) fn sleep(seen: u64) {
    if let Some(asleep) = signal().sleep(seen, SleepPlace::Signal) {
        // However the wait ends, the helper looks again.
        let _ = futex::wait(futex_word(), asleep as u32, FOR_GOOD);
    }
}

/// Notes that the helper is about to sleep by `sleeper`. False: something was announced after `seen`.
pub(crate) fn begin_sleep(seen: u64, sleeper: &LinksSleeper) -> bool {
    *doorbell() = Some(sleeper.clone());
    signal().sleep(seen, SleepPlace::Doorbell).is_some()
}
