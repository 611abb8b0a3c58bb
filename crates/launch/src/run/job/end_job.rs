//! Carries out what [`Ending`](super::ending::Ending) decides, and says what happens.

use std::fmt;
use std::time::Instant;

use oxmpi_os::process::{self, ProcessEnd};
use oxmpi_os::signal::{self, ReceivedSignal, Signal};
use oxmpi_topo::CpuSet;
use oxmpi_wire::pmi::RankState;

use super::Job;
use super::ending::{EndRequest, EndStep, KillReason, REPEAT};
use crate::run::failure::RankFailure;
use crate::run::pinning::TimeLimit;
use crate::run::plan::JobPlan;
use crate::run::rank::RankProcess;

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

/// The forwarded signals that end a job.
const ENDING: [Signal; 4] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];

impl Job<'_> {
    /// Reports the first failure and ends the job. Ranks that are being ended cannot fail.
    pub(super) fn check_failures(&mut self) {
        let asked = self.ending.request();
        // The signal that ranks were asked to end by explains less than any other failure of its precedence.
        let is_asked = |failure: &RankFailure| is_killed_by(failure, asked);
        let failures = self.failures.iter();
        let first = failures.min_by_key(|(_, failure)| (failure.precedence(), is_asked(failure)));
        let Some((rank, failure)) = first.cloned() else {
            return;
        };
        let is_exit = matches!(failure, RankFailure::Exited(_));
        let all_ended = !self.is_running();
        if !self.ending.failed(is_exit, all_ended, Instant::now()) {
            return;
        }
        match asked {
            Some(request @ EndRequest::TimeLimit) => self.code = request.code(),
            _ => self.code = failure.code(),
        }
        match asked {
            Some(EndRequest::TimeLimit) if is_asked(&failure) => {}
            Some(request) if is_asked(&failure) => {
                let name = signal_name(request.signal());
                self.output.message(&format!("the job was ended by {name}"));
            }
            _ => self.output.message(&self.failure_message(rank, &failure)),
        }
        if asked.is_none() {
            self.send(Signal::TERM);
        }
    }

    /// Ends the job if its output cannot be written.
    pub(super) fn check_output(&mut self) {
        let Some(code) = self.output.report_failures() else {
            return;
        };
        if self.code == 0 {
            self.code = code;
        }
        if self.ending.failed(false, false, Instant::now()) {
            self.send(Signal::TERM);
        }
    }

    /// Does what is due by now.
    pub(super) fn check_time(&mut self) {
        if let Some(step) = self.ending.due(Instant::now()) {
            self.end(step);
        }
    }

    pub(super) fn forward_signal(&mut self, received: ReceivedSignal) {
        let signal = received.signal;
        if ENDING.contains(&signal) {
            if let Some(step) = self.ending.signalled(received, Instant::now()) {
                self.end(step);
            }
            return;
        }
        process::signal_group(self.guard.group(), signal);
        if signal == Signal::TSTP {
            signal::stop_self();
        }
    }

    fn end(&mut self, step: EndStep) {
        match step {
            EndStep::Ask(request) => {
                if request == EndRequest::TimeLimit {
                    self.code = request.code();
                    self.report_time_limit();
                }
                self.output.message(&self.request_message(request));
                self.send(request.signal());
            }
            EndStep::Kill(reason) => {
                let request = match reason {
                    KillReason::Overdue(request) | KillReason::SecondSignal(request, _) => request,
                    KillReason::RankFailed => return self.send(Signal::KILL),
                };
                self.code = request.code();
                self.report_failure_after(request);
                self.output.message(&self.kill_message(request, reason));
                self.send(Signal::KILL);
            }
        }
    }

    /// Reports the first failure that is not the end which ranks were asked for, such as a crash while a rank saves.
    fn report_failure_after(&mut self, request: EndRequest) {
        let failures = self.failures.iter();
        let others = failures.filter(|(_, failure)| !is_killed_by(failure, Some(request)));
        if let Some((rank, failure)) = others.min_by_key(|(_, failure)| failure.precedence()) {
            let message = self.failure_message(*rank, failure);
            self.output.message(&message);
        }
    }

    /// Sends a signal to the ranks. A stopped rank handles it after SIGCONT.
    fn send(&self, signal: Signal) {
        process::signal_group(self.guard.group(), signal);
        process::signal_group(self.guard.group(), Signal::CONT);
    }

    fn failure_message(&self, rank: usize, failure: &RankFailure) -> String {
        let rank_plan = &self.plan.ranks[rank];
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

    /// What the ranks get, and what they have time for.
    fn request_message(&self, request: EndRequest) -> String {
        let name = signal_name(request.signal());
        let again = match request {
            EndRequest::Signal(received)
                if received.from_kernel && received.signal == Signal::INT =>
            {
                "another Ctrl-C kills them at once".to_owned()
            }
            _ => format!("another signal, {REPEAT:?} or more after this one, kills them at once"),
        };
        let timeout = self.plan.kill_timeout;
        format!(
            "{name} is forwarded to the ranks; those that run after {timeout:?} are killed (setting `kill_timeout`); {again}"
        )
    }

    fn kill_message(&self, request: EndRequest, reason: KillReason) -> String {
        let left = ranks_of(self.numbers(|rank| self.ranks[rank].end().is_none()));
        match reason {
            KillReason::SecondSignal(_, signal) => {
                format!(
                    "{} after {}: {left} did not end and {} killed",
                    signal_name(signal),
                    named(request),
                    left.verb()
                )
            }
            _ => format!(
                "{left} did not end within {:?} of {} and {} killed",
                self.plan.kill_timeout,
                named(request),
                left.verb()
            ),
        }
    }

    /// Names the ranks and their states when the time is over.
    fn report_time_limit(&mut self) {
        let Some(TimeLimit { duration, origin }) = &self.plan.time_limit else {
            return;
        };
        let mut states: Vec<(String, Vec<usize>)> = Vec::new();
        for (rank, process) in self.ranks.iter().enumerate() {
            let state = self.state_of(rank, process);
            match states.iter_mut().find(|(known, _)| *known == state) {
                Some((_, ranks)) => ranks.push(rank),
                None => states.push((state, vec![rank])),
            }
        }
        self.output.message(&format!(
            "the job did not end within {duration:?} ({origin}):"
        ));
        for (state, ranks) in states {
            self.output
                .message(&format!("  {}: {state}", ranks_of(ranks.into_iter())));
        }
    }

    fn state_of(&self, rank: usize, process: &RankProcess) -> String {
        match process.end() {
            Some(ProcessEnd::Exited(code)) => return format!("ended with exit code {code}"),
            Some(ProcessEnd::Killed(signal)) => return format!("killed by signal {signal}"),
            None => {}
        }
        let part = match self.server.rank_state(rank as u32) {
            RankState::Outside => "before init or after finalize",
            RankState::Joined => "between init and finalize",
            RankState::Waiting => "in a barrier of the process manager (init or finalize)",
            RankState::Gone => "ended",
        };
        match process::state(process.pid()) {
            Some(state) => format!("{state}, {part}"),
            None => part.to_owned(),
        }
    }

    fn numbers(&self, which: impl Fn(usize) -> bool) -> impl Iterator<Item = usize> {
        (0..self.ranks.len()).filter(move |rank| which(*rank))
    }
}

/// Whether the signal of this request has killed the rank.
fn is_killed_by(failure: &RankFailure, request: Option<EndRequest>) -> bool {
    request.is_some_and(|request| *failure == RankFailure::Killed(request.signal().as_raw()))
}

fn signal_name(signal: Signal) -> String {
    format!("SIG{}", signal::name(signal.as_raw()).unwrap_or_default())
}

/// A request as the second half of a sentence.
fn named(request: EndRequest) -> String {
    match request {
        EndRequest::Signal(received) => signal_name(received.signal),
        EndRequest::TimeLimit => "SIGTERM at the end of its time".into(),
    }
}

/// Ranks as subject of a sentence: `rank 3`, `ranks 0-3,8`.
struct RankList {
    /// A set of numbers, whatever they count, prints as `0-3,8`.
    numbers: CpuSet,
}

fn ranks_of(numbers: impl Iterator<Item = usize>) -> RankList {
    RankList {
        numbers: numbers.collect(),
    }
}

impl RankList {
    fn verb(&self) -> &'static str {
        if self.numbers.len() == 1 { "is" } else { "are" }
    }
}

impl fmt::Display for RankList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.numbers.len() == 1 { "" } else { "s" };
        write!(f, "rank{plural} {}", self.numbers)
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
