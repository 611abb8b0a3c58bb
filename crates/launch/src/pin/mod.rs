//! `oxmpi pin`: where ranks and threads would run, here or on another machine.
//!
//! Data goes one way: what was typed (`options`) and what is set (`environment`), the question in both (`case`), the
//! answer as text (`text`, `compare`), picture (`picture`) or data (`json`), and where that goes (`crate::target`).
//! `batch` puts many questions.

mod batch;
mod case;
mod compare;
mod environment;
mod help;
mod json;
mod options;
mod picture;
mod text;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use oxmpi_topo::Machine;

use crate::complain::{self, Failure, VERSION};
use crate::{target, topo};
use options::{Format, Options, Wish};

/// Runs `oxmpi pin` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    complain::finish(match options::parse(arguments) {
        Ok(Wish::Help) => return complain::answer(help::TEXT),
        Ok(Wish::Version) => return complain::answer(VERSION),
        Ok(Wish::Batch(path)) => batch::run(&path).map_err(Failure::Data),
        Ok(Wish::Show(options)) => show(&options),
        Err(why) => Err(Failure::Usage(why)),
    })
}

/// Shows what settings do.
fn show(options: &Options) -> Result<(), Failure> {
    let machine = machine(options).map_err(Failure::Data)?;
    let mut case = options.case.clone();
    if options.machine.is_none() && case.mask.is_none() {
        case.mask = Some(topo::processors().map_err(Failure::Data)?);
    }
    options.notes.iter().for_each(complain::error);
    let text = match (&options.compare, options.format) {
        (Some(sets), _) => compare::text(&machine, &case, sets).map_err(Failure::Usage)?,
        (None, Format::Json) => {
            let answer = case.answer(&machine);
            let line = json::line(&answer);
            if let Err(why) = answer {
                target::put(&line, &options.target).map_err(Failure::Data)?;
                return Err(Failure::Usage(why));
            }
            line
        }
        (None, format) => {
            let answer = case.answer(&machine).map_err(Failure::Usage)?;
            match format {
                Format::Svg => picture::svg(&machine, &answer, &options.title()),
                _ => text::page(&machine, &answer, options.explain),
            }
        }
    };
    target::put(&text, &options.target).map_err(Failure::Data)
}

fn machine(options: &Options) -> Result<Machine, String> {
    let machine = match &options.machine {
        None => Machine::this().map_err(|why| why.to_string())?,
        Some(input) => Machine::from_input(input).map_err(|why| why.to_string())?,
    };
    for note in machine.notes() {
        complain::error(format_args!("{}: {note}", options.name()));
    }
    Ok(machine)
}
