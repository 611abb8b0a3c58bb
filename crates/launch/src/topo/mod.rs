//! `oxmpi topo`: shows this or another machine as text, picture or data.
//!
//! Data flows from the command line (`options`) to the machine (`source` for this one), the selected part (`part`), its
//! form (`format`, `render`) and the destination (`crate::destination`).

mod format;
mod options;
mod part;
mod record;
mod render;
mod source;

use std::ffi::OsString;
use std::process::ExitCode;

use oxmpi_topo::Machine;

use crate::destination;
use crate::diagnostics::{self, CommandError, VERSION};
use options::{MachineInput, Options, TopoRequest};
pub(crate) use source::{processors, read};

/// Runs `oxmpi topo` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    diagnostics::exit_code(match options::parse(&arguments) {
        Ok(TopoRequest::Help) => return diagnostics::print(options::OPTIONS.help()),
        Ok(TopoRequest::Version) => return diagnostics::print(VERSION),
        Ok(TopoRequest::Record(directory)) => record::write(&directory).map_err(CommandError::Io),
        Ok(TopoRequest::Show(options)) => show(&options).map_err(CommandError::Io),
        Err(why) => Err(CommandError::Usage(why)),
    })
}

/// Shows a machine.
fn show(options: &Options) -> Result<(), String> {
    let machine = match &options.input {
        MachineInput::This(choice) => choice.read()?,
        MachineInput::Input(input) => Machine::from_input(input).map_err(|why| why.to_string())?,
    };
    for note in machine.notes() {
        diagnostics::error(format_args!("{}: {note}", options.input.name()));
    }
    let part = part::of(&machine, options)?;
    let text = render::print(&part, options)?;
    destination::write(&text, &options.target)
}
