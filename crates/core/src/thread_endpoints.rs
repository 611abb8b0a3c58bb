//! Counts the endpoints that a blocking call of this thread drives, and drives them.
//!
//! A rank that waits on one endpoint may owe a peer progress on another, such as the rest of a message
//! it has sent there. Every thread drives its own endpoints and those that threads share; the list of them is
//! that of [`ownership`](super::ownership). A thread with one endpoint, in a process without shared ones, pays two
//! plain loads when it has nothing to do.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};

thread_local! {
    /// Endpoints that this thread alone uses.
    static SINGLE_COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Endpoints that threads share.
static MULTI_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Drives all endpoints of the calling thread; set when the first endpoint gets an owner.
static DRIVER: OnceLock<fn()> = OnceLock::new();

/// Counts an endpoint of one thread.
pub(super) struct SingleCount(());

impl SingleCount {
    pub(super) fn new(driver: fn()) -> Self {
        DRIVER.get_or_init(|| driver);
        SINGLE_COUNT.set(SINGLE_COUNT.get() + 1);
        Self(())
    }
}

impl Drop for SingleCount {
    fn drop(&mut self) {
        // When the thread's variables are gone, the count is not needed any more.
        let _ = SINGLE_COUNT.try_with(|count| count.set(count.get() - 1));
    }
}

/// Counts an endpoint that threads share.
pub(super) struct MultiCount(());

impl MultiCount {
    pub(super) fn new(driver: fn()) -> Self {
        DRIVER.get_or_init(|| driver);
        MULTI_COUNT.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for MultiCount {
    fn drop(&mut self) {
        MULTI_COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether this thread drives other endpoints than the one it waits on.
///
/// # Cost
/// Two plain loads.
#[inline]
pub(super) fn any() -> bool {
    SINGLE_COUNT.get() > 1 || MULTI_COUNT.load(Ordering::Relaxed) != 0
}

/// Makes progress on every endpoint of this thread, and on every shared one, that is not in use.
#[cold]
pub(super) fn drive() {
    if let Some(drive) = DRIVER.get() {
        drive();
    }
}

/// Runs `work`, which waits in system calls, on a thread of its own, and drives this thread's endpoints meanwhile.
/// A message that was sent before may still wait in an endpoint, for a connection say, and its receiver may need
/// it before it does what `work` waits for.
///
/// # Errors
/// That of `work`, or when the system gives no thread.
pub(super) fn while_driving<R: Send>(work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    /// The longest time between two polls of the endpoints.
    const POLL_INTERVAL: Duration = Duration::from_millis(1);
    thread::scope(|scope| {
        let (done, ended) = mpsc::sync_channel(1);
        let worker = thread::Builder::new()
            .name("oxmpi-wire-up".into())
            .spawn_scoped(scope, move || done.send(work()))
            .map_err(|why| {
                Error::start("starting a thread that connects to the other ranks", why)
            })?;
        loop {
            drive();
            match ended.recv_timeout(POLL_INTERVAL) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(_) => unreachable!("a worker sends its result before it ends"),
                },
            }
        }
    })
}
