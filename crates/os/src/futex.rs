//! Sleeps on a word in shared memory until another process or thread wakes the sleeper.
//!
//! Source: futex(2).

use std::io;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeReason {
    /// [`wake`] was called, or the wake-up is spurious: check again.
    Called,
    /// The word already had another value.
    Changed,
    /// The limit has passed.
    TimedOut,
}

/// Sleeps while `word` is `expected`, at most `limit`. Processes may share the word.
///
/// # Errors
/// The errors of futex(2) that [`WakeReason`] does not name; a signal counts as [`WakeReason::Called`].
pub fn wait(word: &AtomicU32, expected: u32, limit: Duration) -> io::Result<WakeReason> {
    let limit = limit.try_into().map_err(|_| Errno::INVAL)?;
    match futex::wait(word, futex::Flags::empty(), expected, Some(&limit)) {
        Ok(()) | Err(Errno::INTR) => Ok(WakeReason::Called),
        Err(Errno::AGAIN) => Ok(WakeReason::Changed),
        Err(Errno::TIMEDOUT) => Ok(WakeReason::TimedOut),
        Err(error) => Err(error.into()),
    }
}

/// Wakes every sleeper on `word`. Returns whether there was one.
///
/// # Errors
/// The error of futex(2).
pub fn wake(word: &AtomicU32) -> io::Result<bool> {
    Ok(futex::wake(word, futex::Flags::empty(), i32::MAX.cast_unsigned())? > 0)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn three_ends_of_a_wait() {
        let word = AtomicU32::new(1);
        let limit = Duration::from_millis(1);
        assert_eq!(wait(&word, 0, limit).unwrap(), WakeReason::Changed);
        assert_eq!(wait(&word, 1, limit).unwrap(), WakeReason::TimedOut);
        assert!(!wake(&word).unwrap());
        std::thread::scope(|s| {
            s.spawn(|| {
                while word.load(Ordering::Acquire) == 1 {
                    wait(&word, 1, Duration::from_secs(120)).unwrap();
                }
            });
            word.store(0, Ordering::Release);
            wake(&word).unwrap();
        });
    }
}
