//! `oxmpi explain`: explains the path of a message by size and peer, the algorithm of a collective (`collective`),
//! the choice of transports (`transports`), registered memory (`memory`), and accesses to windows (`window`).
//!
//! No job is started and nothing is measured: the tables come from the functions that a job calls, with the costs and
//! settings of this process.

mod collective;
mod mailbox_memory;
mod memory;
mod peers;
mod progress;
mod rdma_device;
mod show;
#[cfg(test)]
mod tests;
mod transports;
mod window;

use std::ffi::OsString;
use std::process::ExitCode;

use oxmpi_settings::Values;

use crate::diagnostics::{self, CommandError};
use crate::options::*;
use crate::process_settings;

#[rustfmt::skip]
const OPTIONS: OptionTable<PathOptions> = OptionTable {
    command: "oxmpi explain",
    intro: "\
Usage: oxmpi explain [-n RANKS] [--json]
       oxmpi explain COLLECTIVE SIZE -n RANKS [OPTION...]
       oxmpi explain transports [--json]
       oxmpi explain memory [-n RANKS]
       oxmpi explain window [-n RANKS] [--ranks RANKS] [--json]
       oxmpi explain progress [--json]

The second form explains which algorithm serves a collective; `oxmpi explain allreduce --help` describes it.
The third form lists every transport and network device of this host, whether it is used, and why. The fourth
foretells the memory that a rank registers with an RDMA device, the fifth how ranks access windows; the last
says who must be in a call for something to end. The first form:

Prints which path a message takes, by size, to each kind of peer: this rank itself, a rank of the same node, a
rank of another node. For each path it prints why the path ends: the path reaches no further, the next path
costs less, or a setting ends it. No job is started.

  E0  eager, in one cache line or mailbox: the send completes at once; the receiver polls one place
  E1  eager, through buffers: the send completes at once; sender and receiver copy
  R0  rendezvous by get: the receiver matches the envelope and reads the bytes in one piece
  R1  rendezvous by put: the receiver sends its address, and the sender writes the bytes in chunks

These settings move the ends of paths: short_limit, eager_limit, get_limit, rendezvous, put_chunk, and
network_...; `oxmpi settings NAME` describes each. Try a value before a job uses it:

  OXMPI_EAGER_LIMIT=2K oxmpi explain
",
    groups: &[OptionGroup { title: "Options", rows: &[
        value(&["n", "np"], &["RANKS"], "size of the job; also prints the memory that network mailboxes take of each rank",
            |o, v| v.set(&mut o.ranks, ranks)),
        flag(&["json"], "print JSON (docs/formats.md)", |o| o.json = true),
        help(),
    ] }],    ..OptionTable::GNU
};

/// The command line of the first form.
#[derive(Default)]
struct PathOptions {
    ranks: Option<u64>,
    json: bool,
}

/// Everything that the first form prints.
struct PathsExplained {
    peers: Vec<peers::PeerPaths>,
    mailboxes: Option<mailbox_memory::MailboxMemory>,
}

/// Runs `oxmpi explain` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    match run(&arguments) {
        Ok(text) => diagnostics::print(text),
        Err(why) => diagnostics::exit_code(Err(CommandError::Usage(why))),
    }
}

/// The text to print.
fn run(arguments: &[OsString]) -> Result<String, String> {
    match arguments {
        [word, rest @ ..] if word == "transports" => {
            return transports::run(rest, values);
        }
        [word, rest @ ..] if word == "memory" => {
            return memory::run(rest, values);
        }
        [word, rest @ ..] if word == "progress" => {
            return progress::run(rest, values);
        }
        [word, rest @ ..] if word == "window" => {
            return window::run(rest, values);
        }
        [word, ..] if collective::is_collective(word) => {
            diagnostics::collective(&word.to_string_lossy())
                .map_err(|why| OPTIONS.with_help(why))?;
            let help = format!("oxmpi explain {} --help", word.display());
            let explained = values().and_then(|values| collective::run(arguments, &values));
            return explained.map_err(|why| diagnostics::with_help(why, &help));
        }
        _ => {}
    }
    let mut options = PathOptions::default();
    if OPTIONS.read(arguments, &mut options)? != Parsed::Run(&[]) {
        return Ok(OPTIONS.help());
    }
    let values = values()?;
    let explained = PathsExplained {
        peers: peers::all(&values, options.ranks),
        mailboxes: options
            .ranks
            .map(|ranks| mailbox_memory::mailboxes(&values, ranks)),
    };
    Ok(if options.json {
        show::json(&explained)
    } else {
        show::text(&explained)
    })
}

/// The settings of this process; prints their warnings.
fn values() -> Result<Values, String> {
    let values = process_settings::values()?;
    values.warnings.iter().for_each(diagnostics::error);
    Ok(values)
}

fn ranks(text: &str) -> Result<u64, &'static str> {
    match text.parse() {
        Ok(ranks @ 1..=0xffff_ffff) => Ok(ranks),
        _ => Err("a job has from 1 to 4294967295 ranks"),
    }
}
