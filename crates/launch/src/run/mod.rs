//! `oxmpi run`: starts the ranks of a job on this machine and stays until all have ended.
//!
//! ```text
//! options  what the user typed
//! hosts    other machines: which process manager to use
//! plan     which rank runs which program where
//!   pinning  settings and this machine, for `oxmpi-pin`
//!   openmp   what the OpenMP runtime of a rank needs besides
//! job      the event loop: ranks, PMI, output, signals, the end
//!   rank     one rank: its process, its PMI stream, its output
//!   input    standard input, when it is a terminal
//!   output   whole lines to our own streams
//!   verdict  how a rank ended, and the sentence for it
//! ```

mod hosts;
mod input;
mod job;
mod openmp;
mod options;
mod output;
pub(crate) mod pinning;
mod plan;
mod rank;
mod verdict;
mod wrap;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::complain::{self, Failure, USAGE, VERSION};
use crate::target::{self, Target};

/// Runs `oxmpi run` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    let options = match options::parse(&arguments) {
        Ok(options) => options,
        Err(why) => {
            complain::error(why);
            return USAGE.into();
        }
    };
    if options.help {
        return complain::answer(options::flags::help());
    }
    if options.version {
        return complain::answer(VERSION);
    }
    let host = oxmpi_os::host::name();
    let elsewhere = || hosts::check(&options.hosts, &host, &command_line(&options));
    if options.wrap.is_none()
        && let Err(why) = elsewhere()
    {
        complain::error(why);
        return USAGE.into();
    }
    let plan = match plan::Plan::new(&options, host) {
        Ok(plan) => plan,
        Err(why) => {
            complain::error(why);
            return USAGE.into();
        }
    };
    for warning in plan.warnings() {
        complain::error(warning);
    }
    if options.display_map
        && let Err(why) = target::put(&plan.map(), &Target::Output)
    {
        return complain::finish(Err(Failure::Data(why)));
    }
    match job::run(&plan) {
        Ok(code) => code.into(),
        Err(failure) => {
            complain::error(&failure);
            failure.code().into()
        }
    }
}

/// The programs as another process manager takes them.
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
