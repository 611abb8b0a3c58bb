//! `oxmpi run`: starts the ranks of a job on this machine and stays until all have ended.
//!
//! ```text
//! options  what the user typed
//! hosts    other machines: which process manager to use
//! plan     which rank runs which program where
//!   pinning  settings and this machine, for `oxmpi-pin`
//! job      the event loop: ranks, PMI, output, signals, the end
//!   rank     one rank: its process, its PMI stream, its output
//!   input    standard input, when it is a terminal
//!   output   whole lines to our own streams
//!   verdict  how a rank ended, and the sentence for it
//! ```

mod hosts;
mod input;
mod job;
mod options;
mod output;
mod pinning;
mod plan;
mod rank;
mod verdict;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::complain::{self, USAGE, VERSION};

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
        complain::answer(options::flags::help());
        return ExitCode::SUCCESS;
    }
    if options.version {
        complain::answer(VERSION);
        return ExitCode::SUCCESS;
    }
    let host = oxmpi_os::host::name();
    if let Err(why) = hosts::check(&options.hosts, &host, &command_line(&options)) {
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
    if options.display_map {
        complain::answer(plan.map());
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
