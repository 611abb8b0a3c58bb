//! A running job: one thread, one loop over everything that can happen.
//!
//! ```text
//!            a rank fails, aborts, breaks the protocol; a second signal to end
//!   Running ------------------------------------------------------------> Ending
//!      |                      (settling,) SIGTERM, after TERM_TIMEOUT SIGKILL       |
//!      | all ranks have ended                                                |
//!      +----------------------------> cleaned up <---------------------------+
//! ```
//!
//! The thread that calls [`run`] starts the ranks: they are killed when it ends.

mod ending;
mod events;
mod start;

use std::io::{self, Stderr, Stdout};

use oxmpi::settings::JOB_VARIABLE;
use oxmpi_os::guard::Guard;
use oxmpi_os::process::{self, End};
use oxmpi_os::signal::{self, Signal, Signals};
use oxmpi_wire::pmi::{Event, Server, mapping};

use super::failure::RankFailure;
use super::input::TerminalInput;
use super::output::{OutputStream, StreamState};
use super::plan::JobPlan;
use super::rank::RankProcess;
use super::virtual_hosts::VirtualHosts;
use ending::{Ending, FORWARDED};
use events::EventSource;
pub(crate) use start::StartError;

/// Starts all ranks of `plan`, serves them, and gives the exit code when all have ended.
///
/// # Errors
/// When a rank cannot be started; those that were are ended again.
pub(crate) fn run(plan: &JobPlan) -> Result<u8, StartError> {
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
        ranks: Vec::with_capacity(plan.ranks.len()),
        terminal: None,
        stdout: OutputStream::new(io::stdout()),
        stderr: OutputStream::new(io::stderr()),
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

fn server(plan: &JobPlan) -> Server {
    let appnums: Vec<u32> = plan
        .ranks
        .iter()
        .map(|rank_plan| u32::try_from(rank_plan.program).unwrap_or(u32::MAX))
        .collect();
    let mut server = Server::new(&format!("kvs_{}", plan.key), &appnums);
    let one_node = || format!("(vector,(0,1,{}))", plan.ranks.len());
    let nodes = plan
        .virtual_hosts
        .as_ref()
        .map_or_else(one_node, VirtualHosts::mapping);
    server.preset(mapping::KEY, &nodes);
    server
}

struct Job<'p> {
    plan: &'p JobPlan,
    signals: Signals,
    guard: Guard,
    server: Server,
    /// In the order of ranks.
    ranks: Vec<RankProcess>,
    terminal: Option<TerminalInput>,
    stdout: OutputStream<Stdout>,
    stderr: OutputStream<Stderr>,
    asked_to_end: Option<Signal>,
    ending: Option<Ending>,
    /// What went wrong and was not judged yet.
    failures: Vec<(usize, RankFailure)>,
    code: u8,
}

impl Job<'_> {
    /// Serves until every rank has ended.
    fn serve(&mut self) -> io::Result<()> {
        while self.is_running() {
            for source in self.wait()? {
                self.handle(source)?;
            }
            self.check_failures();
            self.kill_overdue();
        }
        Ok(())
    }

    fn is_running(&self) -> bool {
        self.ranks.iter().any(|rank| rank.end().is_none())
    }

    fn handle(&mut self, source: EventSource) -> io::Result<()> {
        match source {
            EventSource::Signals => {
                while let Some(signal) = self.signals.next()? {
                    match signal {
                        Signal::CHILD => self.reap_orphans(),
                        signal => self.forward_signal(signal),
                    }
                }
            }
            EventSource::Terminal => {
                if self
                    .terminal
                    .as_mut()
                    .is_some_and(|terminal| !terminal.forward())
                {
                    self.terminal = None;
                }
            }
            EventSource::Stdout => self.stdout.flush(),
            EventSource::Stderr => self.stderr.flush(),
            EventSource::Pmi(rank) => self.serve_pmi(rank),
            EventSource::RankStdout(rank) => self.forward_stdout(rank),
            EventSource::RankStderr(rank) => self.forward_stderr(rank),
            EventSource::RankEnd(rank) => {
                // It may have written between the poll and its end.
                self.serve_pmi(rank);
                self.forward_stdout(rank);
                self.forward_stderr(rank);
                if let Some(end) = self.ranks[rank].poll_end() {
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
            .is_some_and(|source| source.forward(&mut self.stdout) == StreamState::Ended)
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
            .is_some_and(|source| source.forward(&mut self.stderr) == StreamState::Ended)
        {
            *source = None;
        }
        self.stderr.flush();
        if self.stderr.is_broken() {
            self.ranks.iter_mut().for_each(|rank| rank.stderr = None);
        }
    }

    /// Serves the requests that a rank has made.
    fn serve_pmi(&mut self, rank: usize) {
        let number = self.plan.ranks[rank].rank;
        let mut buffer = [0; 4096];
        self.ranks[rank].flush_pmi();
        while !self.ranks[rank].has_pending_replies() {
            let Some(heard) = self.ranks[rank].read_pmi(&mut buffer) else {
                break;
            };
            self.server.feed(number, heard);
            self.handle_pmi_events();
        }
    }

    /// Does what the PMI server asks for.
    fn handle_pmi_events(&mut self) {
        while let Some(event) = self.server.poll() {
            match event {
                Event::Write { rank, line } => self.ranks[rank as usize].write_pmi(&line),
                Event::Abort { rank, code } => {
                    self.failures
                        .push((rank as usize, RankFailure::Aborted(code)));
                }
                Event::Fault { rank, fault } => {
                    self.failures
                        .push((rank as usize, RankFailure::ProtocolError(fault.to_string())));
                }
                _ => {}
            }
        }
    }

    fn ended(&mut self, rank: usize, end: End) {
        let number = self.plan.ranks[rank].rank;
        let standing = self.server.standing(number);
        match RankFailure::of(end, standing) {
            Some(failure) => self.failures.push((rank, failure)),
            None => {
                self.server.gone(number);
                self.handle_pmi_events();
            }
        }
    }

    /// Forgets orphans of ranks that have ended: as their parent, nobody else can.
    fn reap_orphans(&self) {
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
