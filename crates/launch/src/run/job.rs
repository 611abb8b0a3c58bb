//! A running job: one thread, one loop over everything that can happen.
//!
//! ```text
//!            a rank fails, aborts, breaks the protocol; a second signal to end
//!   Running ------------------------------------------------------------> Ending
//!      |                      (settling,) SIGTERM, after GRACE SIGKILL       |
//!      | all ranks have ended                                                |
//!      +----------------------------> cleaned up <---------------------------+
//! ```
//!
//! The thread that calls [`run`] starts the ranks: they are killed when it ends.

mod ending;
mod listen;
mod start;

use std::io::{self, Stderr, Stdout};

use oxmpi::settings::JOB_VARIABLE;
use oxmpi_os::guard::Guard;
use oxmpi_os::process::{self, End};
use oxmpi_os::signal::{self, Signal, Signals};
use oxmpi_wire::pmi::{Event, Server, mapping};

use super::input::Typed;
use super::output::{Progress, Sink};
use super::plan::Plan;
use super::rank::Rank;
use super::verdict::Failure;
use super::wrap::Wrap;
use ending::{Ending, FORWARDED};
use listen::Speaker;
pub(crate) use start::NotStarted;

/// Starts all ranks of `plan`, serves them, and gives the exit code when all have ended.
///
/// # Errors
/// When a rank cannot be started; those that were are ended again.
pub(crate) fn run(plan: &Plan) -> Result<u8, NotStarted> {
    process::become_subreaper()?;
    let heeded = FORWARDED
        .into_iter()
        .filter(|signal| !signal::is_ignored(*signal));
    let wanted: Vec<Signal> = heeded.chain([Signal::CHILD]).collect();
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
    let one_node = || format!("(vector,(0,1,{}))", plan.seats.len());
    let nodes = plan.wrap.as_ref().map_or_else(one_node, Wrap::mapping);
    server.preset(mapping::KEY, &nodes);
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
    /// What went wrong and was not judged yet.
    failures: Vec<(usize, Failure)>,
    code: u8,
}

impl Job<'_> {
    /// Serves until every rank has ended.
    fn serve(&mut self) -> io::Result<()> {
        while self.is_running() {
            for speaker in self.wait()? {
                self.hear(speaker)?;
            }
            self.judge();
            self.insist();
        }
        Ok(())
    }

    fn is_running(&self) -> bool {
        self.ranks.iter().any(|rank| rank.end().is_none())
    }

    fn hear(&mut self, speaker: Speaker) -> io::Result<()> {
        match speaker {
            Speaker::Signals => {
                while let Some(signal) = self.signals.next()? {
                    match signal {
                        Signal::CHILD => self.forget_adopted(),
                        signal => self.pass_on(signal),
                    }
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

    /// Forgets orphans of ranks that have ended: as their parent, nobody else can.
    fn forget_adopted(&self) {
        let ours =
            |pid| pid == self.guard.group() || self.ranks.iter().any(|rank| rank.pid() == pid);
        process::forget_ended(|pid| !ours(pid));
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
