//! [`Signals`]: receives signals through a descriptor (signalfd(2)) instead of handlers.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

pub use rustix::process::Signal;

/// A descriptor that receives signals. It blocks them in the calling thread and in threads that this thread
/// starts; dropping it restores the thread's mask.
///
/// A process that [`crate::process::spawn`] starts has no signal blocked.
#[derive(Debug)]
pub struct Signals {
    fd: OwnedFd,
    before: Mask,
}

/// A signal that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceivedSignal {
    /// Which signal.
    pub signal: Signal,
    /// Whether the kernel sent it, as it does for a key such as Ctrl-C, and not a process by kill(2).
    pub from_kernel: bool,
}

/// A signal set of the C library.
#[derive(Clone, Copy)]
struct Mask(libc::sigset_t);

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mask")
    }
}

impl Mask {
    fn of(signals: &[Signal]) -> Self {
        let mut set = MaybeUninit::uninit();
        // SAFETY: `sigemptyset` writes the whole set that the pointer names.
        unsafe { libc::sigemptyset(set.as_mut_ptr()) };
        // SAFETY: `sigemptyset` has initialised it in the line above.
        let mut set = unsafe { set.assume_init() };
        for signal in signals {
            // SAFETY: the set is initialised, and every `Signal` is a number that the system knows.
            unsafe { libc::sigaddset(&raw mut set, signal.as_raw()) };
        }
        Self(set)
    }

    fn full() -> Self {
        let mut set = Self::of(&[]);
        // SAFETY: the pointer names an initialised set.
        unsafe { libc::sigfillset(&raw mut set.0) };
        set
    }

    /// Changes the calling thread's mask by `how` and returns the previous mask (pthread_sigmask(3)).
    fn apply(self, how: i32) -> io::Result<Self> {
        let mut before = Self::of(&[]);
        // SAFETY: both pointers name initialised sets that outlive the call.
        match unsafe { libc::pthread_sigmask(how, &raw const self.0, &raw mut before.0) } {
            0 => Ok(before),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

/// All signals are blocked in the thread that made it, and in threads that this thread starts, until it is dropped.
#[derive(Debug)]
pub struct BlockedSignals {
    before: Mask,
}

impl BlockedSignals {
    /// Blocks all signals in the calling thread.
    ///
    /// # Errors
    /// The error of pthread_sigmask(3).
    pub fn all() -> io::Result<Self> {
        let before = Mask::full().apply(libc::SIG_SETMASK)?;
        Ok(Self { before })
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // The mask is one that the thread had.
        let _ = self.before.apply(libc::SIG_SETMASK);
    }
}

impl Signals {
    /// Blocks `signals` in the calling thread and directs them to a new descriptor.
    ///
    /// # Errors
    /// The error of signalfd(2).
    pub fn collect(signals: &[Signal]) -> io::Result<Self> {
        let mask = Mask::of(signals);
        let before = mask.apply(libc::SIG_BLOCK)?;
        // SAFETY: the pointer names an initialised set; -1 asks for a new descriptor.
        let fd = unsafe {
            libc::signalfd(
                -1,
                &raw const mask.0,
                libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
            )
        };
        if fd < 0 {
            let error = io::Error::last_os_error();
            before.apply(libc::SIG_SETMASK)?;
            return Err(error);
        }
        // SAFETY: `signalfd` has just made this descriptor, and no other value owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { fd, before })
    }

    /// Reads the next pending signal; `None` if there is none.
    ///
    /// # Errors
    /// The error of read(2).
    pub fn next(&self) -> io::Result<Option<ReceivedSignal>> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the kernel writes at most `size` bytes to the memory of `info`.
        let read = unsafe { libc::read(self.fd.as_raw_fd(), info.as_mut_ptr().cast(), size) };
        if read < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::WouldBlock {
                Ok(None)
            } else {
                Err(error)
            };
        }
        // SAFETY: all bytes are zero or written by the kernel, and any bytes are a valid record.
        let info = unsafe { info.assume_init() };
        let signal = Signal::from_named_raw(info.ssi_signo.cast_signed());
        Ok(signal.map(|signal| ReceivedSignal {
            signal,
            from_kernel: info.ssi_code == libc::SI_KERNEL,
        }))
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // pthread_sigmask accepts every mask that it has returned.
        let _ = self.before.apply(libc::SIG_SETMASK);
    }
}

/// Blocks every signal that can be blocked in the calling thread, so that no handler runs there.
pub fn block_all() {
    // pthread_sigmask accepts a full mask; the kernel never blocks SIGKILL and SIGSTOP.
    let _ = Mask::full().apply(libc::SIG_BLOCK);
}

/// Unblocks all signals in the calling thread.
///
/// Safe between fork and exec: it makes system calls only.
pub(crate) fn unblock_all() -> io::Result<()> {
    Mask::of(&[]).apply(libc::SIG_SETMASK).map(drop)
}

/// Whether this process ignores `signal`, as under `nohup`.
#[must_use]
pub fn is_ignored(signal: Signal) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a null new action changes nothing; the old one is written to the memory of `action`.
    let done = unsafe { libc::sigaction(signal.as_raw(), std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: all bytes are zero or written by the call, and zero bytes are a valid action.
    let action = unsafe { action.assume_init() };
    done == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Stops this process until it gets SIGCONT, as Ctrl-Z in a shell does.
pub fn stop_self() {
    // A process may always signal itself.
    let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::STOP);
}

/// The name of signal number `signal`, such as `KILL`; `None` for real-time signals.
#[must_use]
pub fn name(signal: i32) -> Option<&'static str> {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
        "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ];
    let at = usize::try_from(signal).ok()?.checked_sub(1)?;
    NAMES.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe::{PollFd, PollFlags, poll};

    #[test]
    fn a_collected_signal_is_read_and_does_not_kill() {
        let signals = Signals::collect(&[Signal::USR1]).expect("a signal descriptor");
        assert_eq!(signals.next().expect("readable"), None);
        // SAFETY: the calling thread gets the signal, and has blocked it.
        let sent = unsafe { libc::raise(libc::SIGUSR1) };
        assert_eq!(sent, 0);
        poll(&mut [PollFd::new(&signals, PollFlags::IN)], None).expect("poll");
        let expected = ReceivedSignal {
            signal: Signal::USR1,
            from_kernel: false,
        };
        assert_eq!(signals.next().expect("readable"), Some(expected));
        assert_eq!(signals.next().expect("readable"), None);
    }

    #[test]
    fn names_are_those_of_the_system() {
        assert_eq!(name(libc::SIGKILL), Some("KILL"));
        assert_eq!(name(libc::SIGTERM), Some("TERM"));
        assert_eq!(name(libc::SIGSYS), Some("SYS"));
        assert_eq!((name(0), name(64), name(-1)), (None, None, None));
    }
}
