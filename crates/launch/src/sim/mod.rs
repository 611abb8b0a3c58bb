//! `oxmpi sim`: simulates collectives on other machines, and the wire-up of a job (`wireup`).
//!
//! Data flows from the command line (`options`, `algorithm_name`, `machine_model`) to the simulations (`experiment`) and
//! from there to the output (`progress`, `show`). `goal` writes a schedule instead of a result.

mod algorithm_name;
mod experiment;
mod goal;
pub(crate) mod machine_model;
mod options;
mod progress;
mod show;
mod wireup;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::destination::{self, Destination};
use crate::diagnostics::{self, CommandError, VERSION};
use options::{Options, SimRequest};

/// Runs `oxmpi sim` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    if let [word, rest @ ..] = arguments.as_slice()
        && word == "wireup"
    {
        return match wireup::run(rest) {
            Ok(text) => diagnostics::print(text),
            Err(why) => diagnostics::exit_code(Err(CommandError::Usage(why))),
        };
    }
    diagnostics::exit_code(match options::parse(&arguments) {
        Ok(SimRequest::Help) => return diagnostics::print(options::OPTIONS.help()),
        Ok(SimRequest::Version) => return diagnostics::print(VERSION),
        Ok(SimRequest::Run(options)) => run(&options),
        Err(why) => Err(CommandError::Usage(why)),
    })
}

fn run(options: &Options) -> Result<(), CommandError> {
    if let Some(path) = &options.goal {
        let text = goal::schedule(options).map_err(CommandError::Usage)?;
        let file = Destination::new(Some(path.clone()), options.force);
        return destination::write(&text, &file).map_err(CommandError::Io);
    }
    let rows = experiment::run(options)?;
    if let Some((path, sweep)) = options.svg.clone().zip(options.sweep) {
        let picture = show::svg(options, &rows, sweep);
        destination::write(&picture, &Destination::new(Some(path), options.force))
            .map_err(CommandError::Io)?;
    }
    let text = if options.json {
        show::json(options, &rows).map_err(CommandError::Io)?
    } else {
        show::text(options, &rows)
    };
    destination::write(&text, &Destination::Stdout).map_err(CommandError::Io)
}
