//! A running job: one thread, one loop over everything that can happen.
//!
//! ```text
//!            a rank fails, aborts, breaks the protocol; a second signal to end
//!   Running ------------------------------------------------------------> Ending
//!      |                                  SIGTERM, after GRACE SIGKILL       |
//!      | all ranks have ended                                                |
//!      +----------------------------> cleaned up <---------------------------+
//! ```
//!
//! The thread that calls [`run`] starts the ranks: they are killed when it ends.

use std::fmt;
use std::io::{self, Stderr, Stdout};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use oxmpi::settings::JOB_VARIABLE;
use oxmpi_os::guard::Guard;
use oxmpi_os::pipe::{self, PollFd, PollFlags};
use oxmpi_os::process::{self, End};
use oxmpi_os::signal::{self, Signal, Signals};
use oxmpi_wire::pmi::{Event, Server};

use super::input::{self, Typed};
use super::output::{Progress, Sink};
use super::plan::Plan;
use super::rank::{Rank, Stdin};
use super::verdict::Failure;

/// What ranks get between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(150);

/// Signals that are passed on to the ranks.
const FORWARDED: [Signal; 8] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::USR1,
    Signal::USR2,
    Signal::TSTP,
    Signal::CONT,
];

/// Those of them that mean the end; the second one is not left to the ranks.
const ENDING: [Signal; 4] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];

/// Why a job did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotStarted {
    /// Something that every job needs.
    #[error("cannot start a job: {0}")]
    Setup(#[from] io::Error),
    /// A rank's program.
    #[error("cannot start rank {rank}: program `{program}`: {}", explained(source))]
    Program {
        /// The first rank that did not start.
        rank: u32,
        /// Its program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
}

fn explained(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "not found (looked in PATH if it has no slash)".into(),
        io::ErrorKind::PermissionDenied => "not executable for this user".into(),
        _ => error.to_string(),
    }
}

impl NotStarted {
    /// The exit code: as a shell gives it for a program that is missing or cannot be executed.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Program { source, .. } if source.kind() == io::ErrorKind::NotFound => 127,
            Self::Program { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => 126,
            _ => 1,
        }
    }
}

/// Starts all ranks of `plan`, serves them, and gives the exit code when all have ended.
///
/// # Errors
/// When a rank cannot be started; those that were are ended again.
pub(crate) fn run(plan: &Plan) -> Result<u8, NotStarted> {
    process::become_subreaper()?;
    let wanted: Vec<Signal> = FORWARDED
        .into_iter()
        .filter(|signal| !signal::is_ignored(*signal))
        .collect();
    let mut job = Job {
        plan,
        signals: Signals::collect(&wanted)?,
        guard: Guard::start(&format!("{JOB_VARIABLE}={}", plan.key))?,
        server: server(plan),
        ranks: Vec::with_capacity(plan.seats.len()),
        typed: None,
        stdout: Sink::new(io::stdout()),
        stderr: Sink::new(io::stderr()),
        asked_to_end: None,
        ending: None,
        failures: Vec::new(),
        code: 0,
    };
    let started = job.start();
    if started.is_ok() {
        job.serve()?;
    }
    let code = job.clean_up()?;
    started.map(|()| code)
}

fn server(plan: &Plan) -> Server {
    let appnums: Vec<u32> = plan
        .seats
        .iter()
        .map(|seat| u32::try_from(seat.program).unwrap_or(u32::MAX))
        .collect();
    let mut server = Server::new(&format!("kvs_{}", plan.key), &appnums);
    // One node, number 0, which holds all ranks.
    server.preset(
        "PMI_process_mapping",
        &format!("(vector,(0,1,{}))", plan.seats.len()),
    );
    server
}

struct Job<'p> {
    plan: &'p Plan,
    signals: Signals,
    guard: Guard,
    server: Server,
    /// In the order of ranks.
    ranks: Vec<Rank>,
    typed: Option<Typed>,
    stdout: Sink<Stdout>,
    stderr: Sink<Stderr>,
    asked_to_end: Option<Signal>,
    ending: Option<Ending>,
    /// What went wrong in this pass of the loop.
    failures: Vec<(usize, Failure)>,
    code: u8,
}

/// The job is being ended.
#[derive(Clone, Copy)]
enum Ending {
    /// Ranks were asked; they are killed at this time.
    Asked(Instant),
    /// Ranks were killed.
    Killed,
}

/// What may have something to say, in the order in which it is heard: requests and output of a
/// rank before its end.
#[derive(Clone, Copy)]
enum Speaker {
    Signals,
    Typed,
    Stdout,
    Stderr,
    Pmi(usize),
    RankStdout(usize),
    RankStderr(usize),
    RankEnd(usize),
}

impl Job<'_> {
    fn start(&mut self) -> Result<(), NotStarted> {
        for seat in &self.plan.seats {
            let stdin = match seat.rank {
                0 if input::is_typed() => Stdin::Pipe,
                0 => Stdin::Ours,
                _ => Stdin::Nothing,
            };
            let started = Rank::start(self.plan, seat, self.guard.group(), stdin);
            let (rank, pipe) = started.map_err(|source| NotStarted::Program {
                rank: seat.rank,
                program: self.plan.program_of(seat),
                source,
            })?;
            if let Some(line) = self.plan.binding(seat, rank.pid()) {
                self.stderr.line(&line);
            }
            self.ranks.push(rank);
            if let Some(pipe) = pipe {
                self.typed = Some(Typed::new(pipe)?);
            }
        }
        Ok(())
    }

    /// Serves until every rank has ended.
    fn serve(&mut self) -> io::Result<()> {
        while self.ranks.iter().any(|rank| rank.end().is_none()) {
            for speaker in self.wait()? {
                self.hear(speaker)?;
            }
            self.judge();
            if let Some(Ending::Asked(until)) = self.ending
                && Instant::now() >= until
            {
                self.kill();
            }
        }
        Ok(())
    }

    /// Waits until somebody has something to say.
    fn wait(&self) -> io::Result<Vec<Speaker>> {
        let listened = self.listened();
        let mut fds: Vec<PollFd<'_>> = listened
            .iter()
            .map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags))
            .collect();
        let patience = match self.ending {
            Some(Ending::Asked(until)) => Some(until.saturating_duration_since(Instant::now())),
            _ => None,
        };
        pipe::poll(&mut fds, patience)?;
        let spoke = fds.iter().map(|fd| !fd.revents().is_empty());
        Ok(listened
            .iter()
            .zip(spoke)
            .filter(|(_, spoke)| *spoke)
            .map(|((who, ..), _)| *who)
            .collect())
    }

    /// Everybody who may have something to say now.
    fn listened(&self) -> Vec<(Speaker, BorrowedFd<'_>, PollFlags)> {
        let mut all = vec![(Speaker::Signals, self.signals.as_fd(), PollFlags::IN)];
        if let Some(typed) = &self.typed {
            all.push(if typed.is_waiting() {
                (Speaker::Typed, typed.to.as_fd(), PollFlags::OUT)
            } else {
                (Speaker::Typed, typed.from.as_fd(), PollFlags::IN)
            });
        }
        if self.stdout.is_waiting() {
            all.push((Speaker::Stdout, self.stdout.as_fd(), PollFlags::OUT));
        }
        if self.stderr.is_waiting() {
            all.push((Speaker::Stderr, self.stderr.as_fd(), PollFlags::OUT));
        }
        for (i, rank) in self.ranks.iter().enumerate() {
            if let Some(pmi) = rank.pmi() {
                let flags = if rank.is_behind() {
                    PollFlags::OUT
                } else {
                    PollFlags::IN
                };
                all.push((Speaker::Pmi(i), pmi.as_fd(), flags));
            }
            if let Some(source) = rank.stdout.as_ref().filter(|_| !self.stdout.is_crowded()) {
                all.push((Speaker::RankStdout(i), source.as_fd(), PollFlags::IN));
            }
            if let Some(source) = rank.stderr.as_ref().filter(|_| !self.stderr.is_crowded()) {
                all.push((Speaker::RankStderr(i), source.as_fd(), PollFlags::IN));
            }
            if rank.end().is_none() {
                all.push((Speaker::RankEnd(i), rank.as_fd(), PollFlags::IN));
            }
        }
        all
    }

    fn hear(&mut self, speaker: Speaker) -> io::Result<()> {
        match speaker {
            Speaker::Signals => {
                while let Some(signal) = self.signals.next()? {
                    self.pass_on(signal);
                }
            }
            Speaker::Typed => {
                if self.typed.as_mut().is_some_and(|typed| !typed.pass()) {
                    self.typed = None;
                }
            }
            Speaker::Stdout => self.stdout.flush(),
            Speaker::Stderr => self.stderr.flush(),
            Speaker::Pmi(rank) => self.converse(rank),
            Speaker::RankStdout(rank) => self.forward_stdout(rank),
            Speaker::RankStderr(rank) => self.forward_stderr(rank),
            Speaker::RankEnd(rank) => {
                // It may have written between the poll and its end.
                self.converse(rank);
                self.forward_stdout(rank);
                self.forward_stderr(rank);
                if let Some(end) = self.ranks[rank].look() {
                    self.ended(rank, end);
                }
            }
        }
        Ok(())
    }

    fn forward_stdout(&mut self, rank: usize) {
        let source = &mut self.ranks[rank].stdout;
        if source
            .as_mut()
            .is_some_and(|source| source.forward(&mut self.stdout) == Progress::Ended)
        {
            *source = None;
        }
        self.stdout.flush();
        if self.stdout.is_broken() {
            // Nobody reads: a rank that writes on gets SIGPIPE, as it would without us.
            self.ranks.iter_mut().for_each(|rank| rank.stdout = None);
        }
    }

    fn forward_stderr(&mut self, rank: usize) {
        let source = &mut self.ranks[rank].stderr;
        if source
            .as_mut()
            .is_some_and(|source| source.forward(&mut self.stderr) == Progress::Ended)
        {
            *source = None;
        }
        self.stderr.flush();
        if self.stderr.is_broken() {
            self.ranks.iter_mut().for_each(|rank| rank.stderr = None);
        }
    }

    /// Serves the requests that a rank has made.
    fn converse(&mut self, rank: usize) {
        let number = self.plan.seats[rank].rank;
        let mut buffer = [0; 4096];
        self.ranks[rank].answer_more();
        while !self.ranks[rank].is_behind() {
            let Some(heard) = self.ranks[rank].hear(&mut buffer) else {
                break;
            };
            self.server.feed(number, heard);
            self.act();
        }
    }

    /// Does what the PMI server asks for.
    fn act(&mut self) {
        while let Some(event) = self.server.poll() {
            match event {
                Event::Write { rank, line } => self.ranks[rank as usize].answer(&line),
                Event::Abort { rank, code } => {
                    self.failures.push((rank as usize, Failure::Aborted(code)));
                }
                Event::Fault { rank, fault } => {
                    self.failures
                        .push((rank as usize, Failure::Unserved(fault.to_string())));
                }
                _ => {}
            }
        }
    }

    fn ended(&mut self, rank: usize, end: End) {
        let number = self.plan.seats[rank].rank;
        let standing = self.server.standing(number);
        match Failure::of(end, standing) {
            Some(failure) => self.failures.push((rank, failure)),
            None => {
                self.server.gone(number);
                self.act();
            }
        }
    }

    /// Ends the job if something went wrong in this pass. What ranks do while they are being ended
    /// is no failure.
    fn judge(&mut self) {
        let mut failures = std::mem::take(&mut self.failures);
        failures.sort_by_key(|(_, failure)| failure.precedence());
        let Some((rank, failure)) = failures.first().filter(|_| self.ending.is_none()) else {
            return;
        };
        self.code = failure.code();
        let text = self.sentence(*rank, failure);
        self.stderr.say(&text);
        process::signal_group(self.guard.group(), Signal::TERM);
        // A rank that is stopped does not see the first.
        process::signal_group(self.guard.group(), Signal::CONT);
        self.ending = Some(Ending::Asked(Instant::now() + GRACE));
    }

    fn sentence(&self, rank: usize, failure: &Failure) -> String {
        let seat = &self.plan.seats[rank];
        if let (Some(asked), Failure::Killed(signal)) = (self.asked_to_end, failure)
            && asked.as_raw() == *signal
        {
            let name = signal::name(*signal).unwrap_or_default();
            return format!("the job was ended by SIG{name}");
        }
        let running = |(other, state): &(usize, &Rank)| *other != rank && state.end().is_none();
        let others = self.ranks.iter().enumerate().filter(running).count();
        let rest = match others {
            0 => String::new(),
            1 => "; the other rank is being ended".into(),
            more => format!("; the {more} other ranks are being ended"),
        };
        let place = Place {
            plan: self.plan,
            rank: seat.rank,
            pid: self.ranks[rank].pid(),
        };
        format!("{place} {failure}{rest}")
    }

    fn pass_on(&mut self, signal: Signal) {
        if ENDING.contains(&signal) && self.asked_to_end.replace(signal).is_some() {
            self.code = Failure::Killed(signal.as_raw()).code();
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

    /// Ends what ranks have left behind, and passes on the last output.
    fn clean_up(self) -> io::Result<u8> {
        let Self {
            guard,
            signals,
            ranks,
            mut stdout,
            mut stderr,
            code,
            ..
        } = self;
        drop(guard);
        process::end_children()?;
        // From here on a signal ends this process at once: the reader of our output may be slow.
        drop(signals);
        for rank in ranks {
            rank.stdout
                .into_iter()
                .for_each(|mut source| source.finish(&mut stdout));
            rank.stderr
                .into_iter()
                .for_each(|mut source| source.finish(&mut stderr));
        }
        stdout.flush_all();
        stderr.flush_all();
        Ok(code)
    }
}

/// Names a rank: number, host, process and program.
struct Place<'p> {
    plan: &'p Plan,
    rank: u32,
    pid: i32,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, rank, pid } = self;
        let program = plan.program_of(&plan.seats[*rank as usize]);
        write!(
            f,
            "rank {rank} on {} (pid {pid}, program `{program}`)",
            plan.host
        )
    }
}
