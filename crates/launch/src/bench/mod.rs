//! `oxmpi bench`: the Intel MPI Benchmarks on this machine, or in the job it is started in.
//!
//! ```text
//! command  what the user typed
//!   surroundings  the files and the cache that the options ask for
//! start    by hand: starts itself as the ranks of a job, as `oxmpi run` would
//! rank     in a job: one rank, which runs the kernels of oxmpi-bench over the runtime
//!   timed_comm    the runtime as the kernels see it
//!   environment  what the run is made with
//!   report       rank 0: pinning, tables, JSON and comma-separated values
//!     progress   how far the run is
//! page     `oxmpi bench report`: results of several runs held against each other
//! simulated  no job: the kernels' messages and collectives on a machine that is simulated
//! ```

mod command;
mod compare;
mod environment;
mod local_system;
mod progress;
mod rank;
mod report;
mod simulated;
mod timed_comm;

use std::ffi::OsString;
use std::process::ExitCode;

use oxmpi::settings::{Sources, TABLE, resolve};
use oxmpi_wire::pmi::Start;

use crate::diagnostics::{self, EXIT_USAGE};
use crate::process_manager::with_start;
use crate::run::pinning;
use command::{BenchCommand, BenchRequest};
use local_system::LocalSystem;
use progress::ProgressStream;
use report::BenchReport;
use simulated::SimulatedJob;

/// The name of the original program: called by it, this command is `oxmpi bench`.
pub(crate) const ORIGINAL: &str = "IMB-MPI1";

/// Runs `oxmpi bench` with these arguments. With the original's name as the first, it is as if called by
/// that: so ranks know what the user typed.
pub(crate) fn main(mut arguments: Vec<OsString>) -> ExitCode {
    match arguments.first().and_then(|word| word.to_str()) {
        Some("report") => compare::main(arguments.split_off(1)),
        Some(ORIGINAL) => original(arguments.split_off(1)),
        _ => called("oxmpi bench", arguments),
    }
}

/// Runs `IMB-MPI1` with these arguments.
pub(crate) fn original(arguments: Vec<OsString>) -> ExitCode {
    called(ORIGINAL, arguments)
}

fn called(name: &str, arguments: Vec<OsString>) -> ExitCode {
    let is_silent = is_silent();
    let command = match BenchCommand::parse(name, &arguments, &LocalSystem) {
        Ok(BenchRequest::Run(command)) => command,
        Ok(BenchRequest::Help | BenchRequest::List) if is_silent => return ExitCode::SUCCESS,
        Ok(BenchRequest::Help) => return diagnostics::print(command::help()),
        Ok(BenchRequest::List) => return diagnostics::print(oxmpi_bench::options::list()),
        Err(why) => {
            if !is_silent {
                diagnostics::error(why);
            }
            return EXIT_USAGE.into();
        }
    };
    if let Some(simulated) = &command.simulated {
        if is_silent {
            return ExitCode::SUCCESS;
        }
        return match simulate(&command, simulated) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                diagnostics::error(why);
                ExitCode::FAILURE
            }
        };
    }
    if with_start(|found| !matches!(found, Ok(Start::Singleton))) {
        return match rank::run(&command) {
            Ok(code) => code,
            Err(why) => {
                diagnostics::error(why);
                ExitCode::FAILURE
            }
        };
    }
    start(name, &command, arguments)
}

/// Whether another rank of the job answers for this one.
fn is_silent() -> bool {
    with_start(|found| match found {
        Ok(Start::Descriptor { rank, .. } | Start::Pmix { rank, .. }) => rank > 0,
        Ok(Start::Port { id, .. }) => id > 0,
        _ => false,
    })
}

/// Runs the benchmarks on a machine that is simulated.
///
/// # Errors
/// A sentence that says what failed.
fn simulate(command: &BenchCommand, simulated: &SimulatedJob) -> Result<(), String> {
    let mut report = BenchReport::begin(command, Vec::new())?;
    simulated.run(&command.order.plan, &mut report)?;
    report.finish()
}

/// Starts this program again as every rank of a job.
fn start(name: &str, command: &BenchCommand, arguments: Vec<OsString>) -> ExitCode {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(why) => {
            diagnostics::error(format_args!("cannot find this program's own file: {why}"));
            return ExitCode::FAILURE;
        }
    };
    let mut words: Vec<OsString> = vec!["-n".into(), command.ranks().to_string().into()];
    if command.ranks() > oxmpi_os::cpu::granted() {
        words.push("--oversubscribe".into());
    } else if !is_placed() {
        words.extend(["--bind-to".into(), "core".into()]);
    }
    words.extend([program.into(), "bench".into()]);
    if name == ORIGINAL {
        words.push(name.into());
    }
    // The ranks write into pipes, and cannot see where those end.
    if command.progress.is_none() {
        let place = ProgressStream::on_terminal().name();
        words.extend(["--progress".into(), place.into()]);
    }
    words.extend(arguments);
    crate::run::main(words)
}

/// Whether the user has settings of his own for where ranks run. What is wrong with them is for the launcher to say.
fn is_placed() -> bool {
    let values = Sources::of_process().and_then(|sources| resolve(TABLE, &sources));
    values.is_ok_and(|values| pinning::given(&values).next().is_some())
}
