//! The command `oxmpi`: finds the subcommand and runs its `main(arguments) -> ExitCode`.
//!
//! Called under the name `mpirun` or `mpiexec` (a link to it), the command is `oxmpi run`; under the
//! name `IMB-MPI1`, `IMB-EXT`, `IMB-RMA` or `IMB-NBC`, `oxmpi bench`.

#![forbid(unsafe_code)]

mod bench;
mod columns;
mod destination;
mod diagnostics;
mod explain;
mod info;
mod machine;
mod node_sizes;
mod options;
mod pin;
mod process_manager;
mod process_settings;
mod run;
mod settings;
mod sim;
mod topo;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use diagnostics::{EXIT_USAGE, VERSION};

/// A subcommand: its name, one line of help, and its entry point.
struct Subcommand {
    name: &'static str,
    about: &'static str,
    main: fn(Vec<OsString>) -> ExitCode,
}

#[rustfmt::skip]
const COMMANDS: &[Subcommand] = &[
    Subcommand { name: "run", about: "start the ranks of a job on this machine", main: run::main },
    Subcommand { name: "bench", about: "run the Intel MPI Benchmarks: latency and bandwidth, with checked data", main: bench::main },
    Subcommand { name: "topo", about: "show this or another machine: as text, picture or data", main: topo::main },
    Subcommand { name: "pin", about: "show where ranks and threads would run, here or on another machine, and why", main: pin::main },
    Subcommand { name: "sim", about: "simulate collectives on up to a million ranks", main: sim::main },
    Subcommand { name: "explain", about: "explain the path of a message and the algorithm of a collective", main: explain::main },
    Subcommand { name: "settings", about: "print every setting, its value and where the value comes from; tune this machine", main: settings::main },
    Subcommand { name: "info", about: "print this machine and its transports, and why each is used or not", main: info::main },
];

fn main() -> ExitCode {
    diagnostics::with_lost_messages(command())
}

/// Runs the command that the name of this program and its arguments ask for.
fn command() -> ExitCode {
    let mut arguments = std::env::args_os();
    let called = arguments.next().unwrap_or_default();
    let rest: Vec<OsString> = arguments.collect();
    let name = Path::new(&called).file_name().unwrap_or_default();
    if name == "mpirun" || name == "mpiexec" {
        return run::main(rest);
    }
    if let Some(part) = bench::original_part(name) {
        return bench::original(part, rest);
    }
    let mut rest = rest.into_iter();
    let Some(name) = rest.next() else {
        diagnostics::print(help());
        return EXIT_USAGE.into();
    };
    let name = name.to_string_lossy().into_owned();
    match name.as_str() {
        "help" | "-h" | "--help" => match rest.next() {
            None => diagnostics::print(help()),
            Some(topic) => dispatch(&topic.to_string_lossy(), vec!["--help".into()]),
        },
        "-V" | "--version" => diagnostics::print(VERSION),
        _ => dispatch(&name, rest.collect()),
    }
}

fn dispatch(name: &str, arguments: Vec<OsString>) -> ExitCode {
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.main)(arguments),
        None => {
            let names = COMMANDS.iter().map(|command| command.name);
            diagnostics::error(diagnostics::unknown_name(
                "command",
                name,
                names,
                "oxmpi --help",
            ));
            EXIT_USAGE.into()
        }
    }
}

fn help() -> String {
    let mut text = String::from(
        "oxmpi: message passing for high-performance computing\n\n\
         Usage: oxmpi COMMAND [OPTIONS]\n\nCommands:\n",
    );
    for Subcommand { name, about, .. } in COMMANDS {
        text += &format!("  {name:<10} {about}\n");
    }
    text += "  help       print this text; `oxmpi help COMMAND` describes one command\n\n\
             A first job, two ranks of one program:\n\n  oxmpi run -n 2 ./a.out\n\n\
             Called under the name mpirun or mpiexec, oxmpi is `oxmpi run`; under IMB-MPI1, IMB-EXT, IMB-RMA\n\
             or IMB-NBC, `oxmpi bench`.\n";
    text
}
