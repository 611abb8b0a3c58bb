//! The event loop of a running job, in one thread: PMI requests, output, signals and the ends of ranks.
//!
//! ```text
//!            a rank fails, aborts or breaks the protocol; a signal; --timeout
//!   Running ------------------------------------------------------------> ending
//!      |                                  (`ending` has the states)          |
//!      | all ranks have ended                                                |
//!      +----------------------------> cleaned up <---------------------------+
//! ```
//!
//! The ranks are killed when the thread that calls [`run`] ends.

mod end_job;
mod ending;
mod events;
mod start;

use std::io;
use std::time::Instant;

use oxmpi_os::guard::GroupGuard;
use oxmpi_os::process::{self, ProcessEnd};
use oxmpi_os::signal::{self, Signal, Signals};
use oxmpi_settings::JOB_VARIABLE;
use oxmpi_wire::pmi::{Event, Server, mapping};

use super::failure::RankFailure;
use super::input::InputForwarder;
use super::output::JobOutput;
use super::plan::JobPlan;
use super::rank::RankProcess;
use super::virtual_hosts::VirtualHosts;
use end_job::FORWARDED;
use ending::Ending;
use events::EventSource;
pub(crate) use start::StartError;

/// Starts all ranks of `plan` and serves them until all have ended. Returns the exit code.
///
/// # Errors
/// If a rank cannot be started; the ranks before it are ended.
pub(crate) fn run(plan: &JobPlan) -> Result<u8, StartError> {
    process::become_subreaper()?;
    let heeded = FORWARDED
        .into_iter()
        .filter(|signal| !signal::is_ignored(*signal));
    let ranks = u32::try_from(plan.ranks.len()).unwrap_or(u32::MAX);
    let output = JobOutput::new(&plan.output, ranks, &plan.host)??;
    let wanted: Vec<Signal> = heeded.chain([Signal::CHILD]).collect();
    let mut job = Job {
        plan,
        signals: Signals::collect(&wanted)?,
        guard: GroupGuard::start(&format!("{JOB_VARIABLE}={}", plan.key))?,
        server: server(plan),
        ranks: Vec::with_capacity(plan.ranks.len()),
        input: None,
        output,
        ending: Ending::new(
            (plan.time_limit.as_ref()).and_then(|limit| Instant::now().checked_add(limit.duration)),
            plan.kill_timeout,
        ),
        failures: Vec::new(),
        code: 0,
    };
    for warning in plan.warnings() {
        job.output.message(warning);
    }
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
    guard: GroupGuard,
    server: Server,
    /// By rank.
    ranks: Vec<RankProcess>,
    /// Standard input that the launcher forwards.
    input: Option<InputForwarder>,
    output: JobOutput,
    ending: Ending,
    /// Failures since the last check, with their ranks.
    failures: Vec<(usize, RankFailure)>,
    code: u8,
}

impl Job<'_> {
    /// Handles events until every rank has ended.
    fn serve(&mut self) -> io::Result<()> {
        while self.is_running() {
            for source in self.wait()? {
                self.handle(source)?;
            }
            self.output.write_due();
            self.check_output();
            self.check_failures();
            self.check_time();
        }
        Ok(())
    }

    fn is_running(&self) -> bool {
        self.ranks.iter().any(|rank| rank.end().is_none())
    }

    fn handle(&mut self, source: EventSource) -> io::Result<()> {
        match source {
            EventSource::Signals => {
                while let Some(received) = self.signals.next()? {
                    match received.signal {
                        Signal::CHILD => self.reap_orphans(),
                        _ => self.forward_signal(received),
                    }
                }
            }
            EventSource::Input => {
                let now = Instant::now();
                self.input.take_if(|input| !input.forward(now));
            }
            EventSource::Output(source) => self.output.handle(source),
            EventSource::Pmi(rank) => self.serve_pmi(rank),
            EventSource::RankEnd(rank) => {
                // The rank may have written between the poll and its end.
                self.serve_pmi(rank);
                self.output.drain(rank);
                if let Some(end) = self.ranks[rank].poll_end() {
                    self.ended(rank, end);
                }
            }
        }
        Ok(())
    }

    /// Serves the PMI requests of a rank.
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

    /// Executes the events of the PMI server.
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

    fn ended(&mut self, rank: usize, end: ProcessEnd) {
        let number = self.plan.ranks[rank].rank;
        let pid = self.ranks[rank].pid();
        self.input.take_if(|input| !input.ended(pid));
        let standing = self.server.rank_state(number);
        match RankFailure::of(end, standing) {
            Some(failure) => self.failures.push((rank, failure)),
            None => {
                self.server.gone(number);
                self.handle_pmi_events();
            }
        }
    }

    /// Reaps orphans of ended ranks, which this process has adopted.
    fn reap_orphans(&self) {
        let ours =
            |pid| pid == self.guard.group() || self.ranks.iter().any(|rank| rank.pid() == pid);
        process::reap_ended(|pid| !ours(pid));
    }

    /// Ends processes that ranks have left behind, and forwards the last output.
    fn clean_up(self) -> io::Result<u8> {
        let Self {
            guard,
            signals,
            mut output,
            mut code,
            ..
        } = self;
        drop(guard);
        process::end_children()?;
        // From here on a signal ends this process, because the reader of the output may be slow.
        drop(signals);
        output.finish();
        if let Some(failed) = output.report_failures()
            && code == 0
        {
            code = failed;
        }
        output.flush_all();
        Ok(code)
    }
}
