//! `oxmpi explain`: which path a message takes, by its size and its peer, and why; which algorithm
//! serves a collective (`collective`); which transports are taken (`transports`).
//!
//! Nothing is started and nothing measured: what is printed is the table that a lane makes from
//! costs and settings when it is set up, made here from the same functions.

mod collective;
mod network;
mod peers;
mod show;
#[cfg(test)]
mod tests;
mod transports;

use std::ffi::OsString;
use std::process::ExitCode;

use lexopt::prelude::*;
use oxmpi::settings::{Sources, TABLE, Values, resolve};

use crate::complain::{self, USAGE};

const HELP: &str = "\
Usage: oxmpi explain [-n RANKS] [--json]
       oxmpi explain COLLECTIVE SIZE -n RANKS [OPTION...]
       oxmpi explain transports [--json]

The second form says which algorithm serves a collective; `oxmpi explain allreduce --help` says more. The third says of
each transport and network device of this host whether it is taken, and why. The first:

Prints which path a message takes, by its size, to each kind of peer: this rank itself, a rank of the
same node, a rank of another node. And why: a path ends where it reaches no further, where the next
one costs less, or where a setting says so. No job is started.

  E0  eager, in one line or mailbox: the send is done at once, the receiver looks in one place
  E1  eager, through buffers: the send is done at once, both sides copy
  R0  rendezvous: the receiver waits for the envelope and gets the bytes in one piece
  R1  rendezvous: the receiver says where, and the sender puts the bytes in chunks

Settings that move the ends: short_limit, eager_limit, get_limit, rendezvous, put_chunk, and those of
networks, network_...; `oxmpi settings NAME` explains each one. Try one before a job has it:

  OXMPI_EAGER_LIMIT=2K oxmpi explain

Options:
  -n RANKS       a job of so many ranks: also what mailboxes of a network take of each rank's memory
  --json         JSON, described in docs/formats.md
";

/// What the user typed.
#[derive(Default)]
struct Options {
    ranks: Option<u64>,
    json: bool,
    help: bool,
}

/// Everything that is printed.
struct Explained {
    peers: Vec<peers::Peers>,
    mailboxes: Option<network::Mailboxes>,
}

/// Runs `oxmpi explain` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    match run(arguments) {
        Ok(text) => {
            complain::answer(text);
            ExitCode::SUCCESS
        }
        Err(why) => {
            complain::error(why);
            USAGE.into()
        }
    }
}

/// What to print.
fn run(arguments: Vec<OsString>) -> Result<String, String> {
    if let Some(word) = arguments
        .first()
        .filter(|word| collective::is_collective(word))
    {
        let help = format!("oxmpi explain {} --help", word.display());
        let said = values().and_then(|values| collective::run(arguments, &values));
        return said.map_err(|why| complain::with_help(why, &help));
    }
    if arguments.first().is_some_and(|word| word == "transports") {
        let said = values().and_then(|values| transports::run(&arguments[1..], &values));
        return said.map_err(|why| complain::with_help(why, "oxmpi explain --help"));
    }
    let options =
        parse(arguments).map_err(|why| complain::with_help(why, "oxmpi explain --help"))?;
    if options.help {
        return Ok(HELP.into());
    }
    let values = values()?;
    let explained = Explained {
        peers: peers::all(&values, options.ranks),
        mailboxes: options
            .ranks
            .map(|ranks| network::mailboxes(&values, ranks)),
    };
    Ok(if options.json {
        show::json(&explained)
    } else {
        show::text(&explained)
    })
}

/// The settings of this process, after their warnings.
fn values() -> Result<Values, String> {
    let sources = Sources::of_process().map_err(|bad| bad.to_string())?;
    let values = resolve(TABLE, &sources).map_err(|bad| bad.to_string())?;
    values.warnings.iter().for_each(complain::error);
    Ok(values)
}

fn parse(arguments: Vec<OsString>) -> Result<Options, lexopt::Error> {
    let mut options = Options::default();
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('n') | Long("np") => {
                options.ranks = Some(parser.value()?.parse_with(ranks)?);
            }
            Long("json") => options.json = true,
            Long("help") | Short('h') => {
                options.help = true;
                break;
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

fn ranks(text: &str) -> Result<u64, &'static str> {
    match text.parse() {
        Ok(ranks @ 1..=0xffff_ffff) => Ok(ranks),
        _ => Err("a job has from 1 to 4294967295 ranks"),
    }
}
