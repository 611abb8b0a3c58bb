//! The end of a job: by the failure of a rank, or by a signal to the launcher.

use std::fmt;
use std::time::{Duration, Instant};

use oxmpi_os::process;
use oxmpi_os::signal::{self, Signal};

use super::Job;
use crate::run::failure::RankFailure;
use crate::run::plan::JobPlan;
use crate::run::rank::RankProcess;

/// How long an exit with an error waits for the failure of another rank that caused it. A rank that dies by a signal is
/// reported at once.
const SETTLING: Duration = Duration::from_millis(500);

/// Time between SIGTERM and SIGKILL.
const TERM_TIMEOUT: Duration = Duration::from_millis(150);

/// Signals that are forwarded to the ranks.
pub(super) const FORWARDED: [Signal; 8] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::USR1,
    Signal::USR2,
    Signal::TSTP,
    Signal::CONT,
];

/// The forwarded signals that end a job. At the second one the launcher kills the ranks.
const ENDING: [Signal; 4] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];

/// How far the end of the job is.
#[derive(Clone, Copy)]
pub(super) enum Ending {
    /// A rank exited with an error. Until this time the failure of another rank may show the cause.
    Settling(Instant),
    /// SIGTERM was sent; SIGKILL follows at this time.
    Terminating(Instant),
    /// SIGKILL was sent.
    Killed,
}

impl Ending {
    /// The state after the first exit with an error.
    fn begun(now: Instant) -> Self {
        Self::Settling(now + SETTLING)
    }

    /// Whether it is too early to report: a rank that exits because a peer failed may exit before the peer.
    fn settles(&self, now: Instant) -> bool {
        matches!(self, Self::Settling(until) if now < *until)
    }
}

impl Job<'_> {
    /// Reports the first failure and ends the job. Ranks that are being ended cannot fail.
    pub(super) fn check_failures(&mut self) {
        if let Some(Ending::Terminating(_) | Ending::Killed) = self.ending {
            return;
        }
        self.failures
            .sort_by_key(|(_, failure)| failure.precedence());
        let Some((rank, failure)) = self.failures.first().cloned() else {
            return;
        };
        if matches!(failure, RankFailure::Exited(_)) && self.is_running() && self.settles() {
            return;
        }
        self.code = failure.code();
        let text = self.failure_message(rank, &failure);
        self.output.message(&text);
        self.terminate();
    }

    /// Ends the job if its output cannot be written.
    pub(super) fn check_output(&mut self) {
        let Some(code) = self.output.report_failures() else {
            return;
        };
        if self.code == 0 {
            self.code = code;
        }
        if !matches!(self.ending, Some(Ending::Terminating(_) | Ending::Killed)) {
            self.terminate();
        }
    }

    fn terminate(&mut self) {
        process::signal_group(self.guard.group(), Signal::TERM);
        // A stopped rank handles SIGTERM after SIGCONT.
        process::signal_group(self.guard.group(), Signal::CONT);
        self.ending = Some(Ending::Terminating(Instant::now() + TERM_TIMEOUT));
    }

    fn settles(&mut self) -> bool {
        let now = Instant::now();
        (self.ending.get_or_insert(Ending::begun(now))).settles(now)
    }

    /// Kills ranks that did not end in time after SIGTERM.
    pub(super) fn kill_overdue(&mut self) {
        if let Some(Ending::Terminating(until)) = self.ending
            && Instant::now() >= until
        {
            self.kill();
        }
    }

    fn failure_message(&self, rank: usize, failure: &RankFailure) -> String {
        let rank_plan = &self.plan.ranks[rank];
        if let (Some(asked), RankFailure::Killed(signal)) = (self.asked_to_end, failure)
            && asked.as_raw() == *signal
        {
            let name = signal::name(*signal).unwrap_or_default();
            return format!("the job was ended by SIG{name}");
        }
        let running =
            |(other, state): &(usize, &RankProcess)| *other != rank && state.end().is_none();
        let others = self.ranks.iter().enumerate().filter(running).count();
        let rest = match others {
            0 => String::new(),
            1 => "; the other rank is being ended".into(),
            more => format!("; the {more} other ranks are being ended"),
        };
        let place = RankName {
            plan: self.plan,
            rank: rank_plan.rank,
            pid: self.ranks[rank].pid(),
        };
        format!("{place} {failure}{rest}")
    }

    pub(super) fn forward_signal(&mut self, signal: Signal) {
        if ENDING.contains(&signal) && self.asked_to_end.replace(signal).is_some() {
            self.code = RankFailure::Killed(signal.as_raw()).code();
            self.kill();
            return;
        }
        process::signal_group(self.guard.group(), signal);
        if signal == Signal::TSTP {
            signal::stop_self();
        }
    }

    fn kill(&mut self) {
        self.ending = Some(Ending::Killed);
        process::signal_group(self.guard.group(), Signal::KILL);
    }
}

/// A rank in an error: number, host, process id and program.
struct RankName<'p> {
    plan: &'p JobPlan,
    rank: u32,
    pid: i32,
}

impl fmt::Display for RankName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, rank, pid } = self;
        let program = plan.program_of(&plan.ranks[*rank as usize]);
        write!(
            f,
            "rank {rank} on {} (pid {pid}, program `{program}`)",
            plan.host
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_waits_for_its_cause() {
        let now = Instant::now();
        let ending = Ending::begun(now);
        assert!(ending.settles(now) && ending.settles(now + SETTLING / 2));
        assert!(!ending.settles(now + SETTLING));
        assert!(!Ending::Terminating(now + TERM_TIMEOUT).settles(now));
    }
}
