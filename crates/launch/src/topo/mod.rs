//! `oxmpi topo`: this machine, or any that is described, as text, picture or data.
//!
//! Data goes one way: what was typed (`options`), the machine that it names (`source` for this one), the part
//! of it that is wanted (`part`), its form (`format`), and where that goes (`crate::target`).

mod format;
mod help;
mod options;
mod part;
mod record;
mod source;

use std::ffi::OsString;
use std::process::ExitCode;

use oxmpi_topo::Machine;

use crate::complain::{self, Failure, VERSION};
use crate::target;
use options::{Options, Subject, Wish};
pub(crate) use source::processors;

/// Runs `oxmpi topo` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    complain::finish(match options::parse(arguments) {
        Ok(Wish::Help) => return complain::answer(help::TEXT),
        Ok(Wish::Version) => return complain::answer(VERSION),
        Ok(Wish::Record(directory)) => record::write(&directory).map_err(Failure::Data),
        Ok(Wish::Show(options)) => show(&options).map_err(Failure::Data),
        Err(why) => Err(Failure::Usage(why)),
    })
}

/// Shows a machine.
fn show(options: &Options) -> Result<(), String> {
    let machine = match &options.subject {
        Subject::This(choice) => choice.read()?,
        Subject::Input(input) => Machine::from_input(input).map_err(|why| why.to_string())?,
    };
    for note in machine.notes() {
        complain::error(format_args!("{}: {note}", options.subject.name()));
    }
    let part = part::of(&machine, options)?;
    let text = options.format.print(&part, options)?;
    target::put(&text, &options.target)
}
