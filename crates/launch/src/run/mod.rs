//! `oxmpi run`: starts the ranks of a job on this machine and serves them until all have ended.
//!
//! ```text
//! options  the command line
//!   program_list  programs and their options from a file
//! hosts    names and slots; other machines: which process manager starts ranks there
//! plan     which rank runs which program where
//!   counts   how many ranks each program has
//!   pinning  settings and this machine, for `oxmpi-pin`
//!   openmp   variables for the OpenMP runtime of a rank
//! job      the event loop: ranks, PMI, output, signals, the end of the job
//!   rank     one rank: its process, its PMI stream
//!   input    standard input: which ranks read it, and when a terminal is read
//!   output   forwarding of output: lines, labels, files
//!   failure  how a rank failed, and the message
//! program_file  where the file of a program is, and which interpreter it needs
//! ```

mod counts;
mod failure;
mod hosts;
mod input;
mod job;
mod openmp;
mod options;
mod output;
pub(crate) mod pinning;
mod plan;
mod program_file;
mod program_list;
mod rank;
mod virtual_hosts;

use std::ffi::OsString;
use std::net::IpAddr;
use std::process::ExitCode;

use oxmpi_os::interface;

use crate::destination::{self, Destination};
use crate::diagnostics::{self, CommandError, EXIT_USAGE, VERSION};

/// Runs `oxmpi run` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    let options = match options::parse(&arguments) {
        Ok(options) => options,
        Err(why) => {
            diagnostics::error(why);
            return EXIT_USAGE.into();
        }
    };
    if options.help {
        return diagnostics::print(options::OPTIONS.help());
    }
    if options.version {
        return diagnostics::print(VERSION);
    }
    let host = oxmpi_os::host::name();
    let elsewhere = || {
        // Without a list of interfaces the names remain.
        let interfaces = interface::list().unwrap_or_default();
        let own: Vec<IpAddr> = interfaces.iter().map(|one| one.address).collect();
        hosts::require_local(&options.hosts, &host, &own, &command_line(&options))
    };
    if options.wrap.is_none()
        && let Err(why) = elsewhere()
    {
        diagnostics::error(why);
        return EXIT_USAGE.into();
    }
    let plan = match plan::JobPlan::new(&options, host) {
        Ok(plan) => plan,
        Err(why) => {
            diagnostics::error(why);
            return EXIT_USAGE.into();
        }
    };
    if options.display_map
        && let Err(why) = destination::write(&plan.map(), &Destination::Stdout)
    {
        return diagnostics::exit_code(Err(CommandError::Io(why)));
    }
    match job::run(&plan) {
        Ok(code) => code.into(),
        Err(failure) => {
            diagnostics::error(&failure);
            failure.code().into()
        }
    }
}

/// The programs as a command line for another process manager.
fn command_line(options: &options::Options) -> String {
    let part = |program: &options::Program| {
        let mut words: Vec<String> = Vec::new();
        words.extend(program.ranks.map(|ranks| format!("-n {ranks}")));
        words.push(program.command.to_string_lossy().into_owned());
        words.extend(
            program
                .arguments
                .iter()
                .map(|word| word.to_string_lossy().into_owned()),
        );
        words.join(" ")
    };
    options
        .programs
        .iter()
        .map(part)
        .collect::<Vec<_>>()
        .join(" : ")
}
