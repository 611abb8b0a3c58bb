//! [`Ending`]: how a job ends, as a state machine without a clock and without system calls.
//!
//! ```text
//!             exit with an error                 0.5 s, or a failure that explains it
//!   Running ----------------------> Settling -----------------------------------------+
//!      |  \                            |                                              v
//!      |   \--------- another failure -|----------------------------------------> Failed
//!      |                               |                                              |
//!      | a signal, --timeout           |                                       150 ms |
//!      +-------------------------------+-> Requested ---------------------------> Killed
//!                                          kill_timeout, a second request
//! ```

use std::time::{Duration, Instant};

use oxmpi_os::signal::{ReceivedSignal, Signal};

/// How long an exit with an error waits for the failure of another rank that caused it. A rank that dies by a signal is
/// reported at once.
const SETTLING: Duration = Duration::from_millis(500);

/// Time between SIGTERM and SIGKILL after the failure of a rank.
const TERM_TIMEOUT: Duration = Duration::from_millis(150);

/// A signal that no key sends, sooner than this after the first one, belongs to the same request: `timeout` of GNU
/// coreutils signals its child and then its process group, and when a terminal closes, its shell sends SIGHUP before
/// the kernel does.
pub(super) const REPEAT: Duration = Duration::from_secs(1);

/// The end of a job. Times are passed in.
#[derive(Debug)]
pub(super) struct Ending {
    state: EndingState,
    /// When the time of `--timeout` is over.
    time_limit: Option<Instant>,
    kill_timeout: Duration,
}

#[derive(Debug, Clone, Copy)]
enum EndingState {
    Running,
    /// A rank exited with an error. Until this time the failure of another rank may show the cause.
    Settling(Instant),
    /// The ranks got a signal at this time, and may save their work.
    Requested(EndRequest, Instant),
    /// A rank failed, and the others got SIGTERM; SIGKILL follows at this time.
    Failed(Instant),
    /// SIGKILL was sent.
    Killed,
}

/// Why the ranks were asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndRequest {
    /// The launcher got this signal.
    Signal(ReceivedSignal),
    /// The time of `--timeout` is over.
    TimeLimit,
}

/// What the launcher does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndStep {
    /// Send the signal of this request to the ranks.
    Ask(EndRequest),
    /// Kill the ranks, for this reason.
    Kill(KillReason),
}

/// Why ranks are killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KillReason {
    /// They did not end in time after this request.
    Overdue(EndRequest),
    /// This signal came after the request.
    SecondSignal(EndRequest, Signal),
    /// They did not end in time after the failure of a rank.
    RankFailed,
}

impl EndRequest {
    /// The signal that the ranks get.
    pub(super) fn signal(self) -> Signal {
        match self {
            Self::Signal(received) => received.signal,
            Self::TimeLimit => Signal::TERM,
        }
    }

    /// The exit code of a job whose ranks do not decide it: 124 after a timeout, as of GNU `timeout`.
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Signal(received) => 128 + u8::try_from(received.signal.as_raw()).unwrap_or(0),
            Self::TimeLimit => 124,
        }
    }
}

impl Ending {
    /// A running job that may run until `time_limit`, and whose ranks have `kill_timeout` to end after a request.
    pub(super) fn new(time_limit: Option<Instant>, kill_timeout: Duration) -> Self {
        Self {
            state: EndingState::Running,
            time_limit,
            kill_timeout,
        }
    }

    /// The request that the ranks have got, until they are killed.
    pub(super) fn request(&self) -> Option<EndRequest> {
        match self.state {
            EndingState::Requested(request, _) => Some(request),
            _ => None,
        }
    }

    /// The launcher got a signal that ends jobs.
    pub(super) fn signalled(&mut self, received: ReceivedSignal, now: Instant) -> Option<EndStep> {
        match self.state {
            EndingState::Running | EndingState::Settling(_) => {
                Some(self.ask(EndRequest::Signal(received), now))
            }
            EndingState::Requested(request, at)
                if is_key(received) || now.saturating_duration_since(at) >= REPEAT =>
            {
                let reason = KillReason::SecondSignal(request, received.signal);
                Some(self.kill(reason))
            }
            EndingState::Requested(..) | EndingState::Failed(_) | EndingState::Killed => None,
        }
    }

    /// Some rank has failed, with an exit code only if `is_exit`; `all_ended`: no rank runs. True: the failure is to
    /// be reported now, and the others get SIGTERM.
    pub(super) fn failed(&mut self, is_exit: bool, all_ended: bool, now: Instant) -> bool {
        match self.state {
            EndingState::Failed(_) | EndingState::Killed => return false,
            // The ranks have the signal, and each its time.
            EndingState::Requested(..) if !all_ended => return false,
            EndingState::Running if is_exit && !all_ended => {
                self.state = EndingState::Settling(now + SETTLING);
                return false;
            }
            EndingState::Settling(until) if is_exit && !all_ended && now < until => return false,
            _ => {}
        }
        self.state = EndingState::Failed(now + TERM_TIMEOUT);
        true
    }

    /// What is due at `now`.
    pub(super) fn due(&mut self, now: Instant) -> Option<EndStep> {
        match self.state {
            EndingState::Running | EndingState::Settling(_) => {
                let is_over = self.time_limit.is_some_and(|limit| limit <= now);
                is_over.then(|| self.ask(EndRequest::TimeLimit, now))
            }
            EndingState::Requested(request, at) => {
                let is_over = now.saturating_duration_since(at) >= self.kill_timeout;
                is_over.then(|| self.kill(KillReason::Overdue(request)))
            }
            EndingState::Failed(until) => (until <= now).then(|| self.kill(KillReason::RankFailed)),
            EndingState::Killed => None,
        }
    }

    /// When [`Ending::due`] or [`Ending::failed`] is to be called again at the latest.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.state {
            EndingState::Running => self.time_limit,
            EndingState::Settling(until) => {
                Some(self.time_limit.map_or(until, |limit| limit.min(until)))
            }
            EndingState::Requested(_, at) => at.checked_add(self.kill_timeout),
            EndingState::Failed(until) => Some(until),
            EndingState::Killed => None,
        }
    }

    fn ask(&mut self, request: EndRequest, now: Instant) -> EndStep {
        self.state = EndingState::Requested(request, now);
        EndStep::Ask(request)
    }

    fn kill(&mut self, reason: KillReason) -> EndStep {
        self.state = EndingState::Killed;
        EndStep::Kill(reason)
    }
}

/// Whether a key of the terminal sent it: Ctrl-C or Ctrl-\. The kernel sends SIGHUP, too, when the terminal closes.
fn is_key(received: ReceivedSignal) -> bool {
    received.from_kernel && matches!(received.signal, Signal::INT | Signal::QUIT)
}

#[cfg(test)]
mod tests;
