//! `oxmpi bench`: runs the Intel MPI Benchmarks in a job that it starts, or in the job in which it is started.
//!
//! ```text
//! command  the command line
//!   local_system  files and the cache, for the options
//! start    outside a job: starts this program again as the ranks of a job, as `oxmpi run` does
//! rank     inside a job: one rank, which runs the kernels of oxmpi-bench on the runtime
//!   timed_comm   the communicator as the kernels use it
//!   timed_window its windows
//!   timed_collective its started collectives
//!   environment  system, library and settings, for the report
//!   report       the output of rank 0: pinning, tables, JSON and CSV
//!     progress   the progress line
//! compare  `oxmpi bench report`: compares the results of runs
//! simulated  with --sim: the kernels' messages and collectives on a simulated machine
//! ```

mod command;
mod compare;
mod environment;
mod local_system;
mod progress;
mod rank;
mod report;
mod simulated;
mod timed_collective;
mod timed_comm;
mod timed_window;

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use oxmpi_bench::{Part, options};
use oxmpi_wire::pmi::StartMethod;

use crate::diagnostics::{self, EXIT_USAGE};
use crate::process_manager::with_start;
use crate::process_settings;
use crate::run::pinning;
use command::{BenchCommand, BenchRequest};
use local_system::LocalSystem;
use progress::ProgressStream;
use report::BenchReport;
use simulated::SimulatedJob;

/// The part of the benchmarks whose program has this name in the original; a link with the name is `oxmpi bench PART`.
pub(crate) fn original_part(name: &OsStr) -> Option<Part> {
    let mut parts = Part::ALL.into_iter();
    parts.find(|part| name == part.program())
}

/// Runs `oxmpi bench` with these arguments. The launcher puts the original's name first if the user called the
/// command by it, so that ranks report the command as typed.
pub(crate) fn main(mut arguments: Vec<OsString>) -> ExitCode {
    let first = arguments.first();
    match first.and_then(|word| original_part(word)) {
        Some(part) => original(part, arguments.split_off(1)),
        None if first.is_some_and(|word| word == "report") => compare::main(arguments.split_off(1)),
        None => called(None, arguments),
    }
}

/// Runs a link with the name of the original's program, such as `IMB-MPI1`, with these arguments.
pub(crate) fn original(part: Part, arguments: Vec<OsString>) -> ExitCode {
    called(Some(part), arguments)
}

/// Runs `oxmpi bench` or the program of `part`.
fn called(part: Option<Part>, arguments: Vec<OsString>) -> ExitCode {
    let is_silent = is_silent();
    let command = match BenchCommand::parse(part, &arguments, &LocalSystem) {
        Ok(BenchRequest::Run(command)) => command,
        Ok(BenchRequest::Help | BenchRequest::List(_)) if is_silent => return ExitCode::SUCCESS,
        Ok(BenchRequest::Help) => return diagnostics::print(command::help()),
        Ok(BenchRequest::List(part)) => return diagnostics::print(options::list(part)),
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
    if with_start(|found| !matches!(found, Ok(StartMethod::Singleton))) {
        return match rank::run(&command) {
            Ok(code) => code,
            Err(why) => {
                diagnostics::error(why);
                ExitCode::FAILURE
            }
        };
    }
    start(part, &command, arguments)
}

/// Whether this is a rank other than 0, whose errors rank 0 prints.
fn is_silent() -> bool {
    with_start(|found| match found {
        Ok(StartMethod::Descriptor { rank, .. } | StartMethod::Pmix { rank, .. }) => rank > 0,
        Ok(StartMethod::Port { id, .. }) => id > 0,
        _ => false,
    })
}

/// Runs the benchmarks on a simulated machine.
///
/// # Errors
/// A sentence that says what failed.
fn simulate(command: &BenchCommand, simulated: &SimulatedJob) -> Result<(), String> {
    let mut report = BenchReport::begin(command, Vec::new())?;
    simulated.run(&command.bench_run.plan, &mut report)?;
    report.finish()
}

/// Starts this program again as every rank of a job.
fn start(part: Option<Part>, command: &BenchCommand, arguments: Vec<OsString>) -> ExitCode {
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
    words.extend(part.map(|part| part.program().into()));
    // Ranks write into pipes and cannot see the terminal.
    if command.progress.is_none() {
        let place = ProgressStream::on_terminal().name();
        words.extend(["--progress".into(), place.into()]);
    }
    words.extend(arguments);
    crate::run::main(words)
}

/// Whether the user has set the placement of ranks. The launcher reports wrong settings.
fn is_placed() -> bool {
    process_settings::values().is_ok_and(|values| pinning::given(&values).next().is_some())
}
