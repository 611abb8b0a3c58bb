//! `oxmpi pin`: shows where ranks and threads would run, on this or another machine.
//!
//! Data flows from the command line (`options`) and the settings (`environment`) to the query (`query`), and from its
//! answer to text (`text`, `compare`), a picture (`picture`) or JSON (`json`) at the destination.
//! `batch` answers many queries.

mod batch;
mod compare;
mod environment;
mod json;
mod location;
mod options;
mod picture;
mod query;
mod text;

use std::ffi::OsString;
use std::process::ExitCode;

use oxmpi_topo::Machine;
use oxmpi_topo::linux::Root;

use crate::diagnostics::{self, CommandError, VERSION};
use crate::{destination, topo};
use options::{Options, PinFormat, PinRequest};

/// Runs `oxmpi pin` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    diagnostics::exit_code(match options::parse(&arguments) {
        Ok(PinRequest::Help) => return diagnostics::print(options::OPTIONS.help()),
        Ok(PinRequest::Version) => return diagnostics::print(VERSION),
        Ok(PinRequest::Batch(path)) => batch::run(&path).map_err(CommandError::Io),
        Ok(PinRequest::Show(options)) => show(&options),
        Err(why) => Err(CommandError::Usage(why)),
    })
}

/// Answers one query.
fn show(options: &Options) -> Result<(), CommandError> {
    let machine = read(options).map_err(CommandError::Io)?;
    let mut query = options.query.clone();
    if options.machine.is_none() && query.mask.is_none() {
        query.mask = Some(topo::processors().map_err(CommandError::Io)?);
    }
    options.notes.iter().for_each(diagnostics::error);
    let text = match (&options.compare, options.format) {
        (Some(sets), _) => compare::text(&machine, &query, sets).map_err(CommandError::Usage)?,
        (None, PinFormat::Json) => {
            let answer = query.answer(&machine);
            let line = json::line(&answer);
            if let Err(why) = answer {
                destination::write(&line, &options.target).map_err(CommandError::Io)?;
                return Err(CommandError::Usage(why));
            }
            line
        }
        (None, format) => {
            let answer = query.answer(&machine).map_err(CommandError::Usage)?;
            match format {
                PinFormat::Svg => picture::svg(&machine, &answer, &options.title()),
                _ => text::page(&machine, &answer, options.explain),
            }
        }
    };
    destination::write(&text, &options.target).map_err(CommandError::Io)
}

fn read(options: &Options) -> Result<Machine, String> {
    let machine = match &options.machine {
        None => topo::read(&Root::live())?,
        Some(input) => Machine::from_input(input).map_err(|why| why.to_string())?,
    };
    for note in machine.notes() {
        diagnostics::error(format_args!("{}: {note}", options.name()));
    }
    Ok(machine)
}
