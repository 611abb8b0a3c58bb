//! `oxmpi sim`: how long collectives take on machines that are not here, and how long a job takes until its ranks know
//! each other (`wireup`).
//!
//! Data goes one way: what was typed (`named`, `machine`, `options`), the simulations (`experiment`), and how their
//! results are shown (`show`, `plot`), or the schedule instead of a result (`goal`).

mod experiment;
mod goal;
mod help;
pub(crate) mod machine;
mod named;
mod options;
mod plot;
mod show;
mod wireup;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::complain::{self, Failure, VERSION};
use crate::target::{self, Target};
use options::{Options, Wish};

/// Runs `oxmpi sim` with these arguments.
pub(crate) fn main(mut arguments: Vec<OsString>) -> ExitCode {
    if arguments.first().is_some_and(|word| word == "wireup") {
        let table = wireup::run(arguments.split_off(1));
        return match table {
            Ok(text) => complain::answer(text),
            Err(why) => complain::finish(Err(Failure::Usage(complain::with_help(
                why,
                "oxmpi sim wireup --help",
            )))),
        };
    }
    complain::finish(match options::parse(arguments) {
        Ok(Wish::Help) => return complain::answer(help::TEXT),
        Ok(Wish::Version) => return complain::answer(VERSION),
        Ok(Wish::Run(options)) => run(&options),
        Err(why) => Err(Failure::Usage(why)),
    })
}

fn run(options: &Options) -> Result<(), Failure> {
    if let Some(path) = &options.goal {
        let text = goal::schedule(options).map_err(Failure::Usage)?;
        let file = Target::new(Some(path.clone()), options.force);
        return target::put(&text, &file).map_err(Failure::Data);
    }
    let rows = experiment::run(options).map_err(Failure::Usage)?;
    if let Some((path, sweep)) = options.svg.clone().zip(options.sweep) {
        let picture = show::svg(options, &rows, sweep);
        target::put(&picture, &Target::new(Some(path), options.force)).map_err(Failure::Data)?;
    }
    let text = if options.json {
        show::json(options, &rows).map_err(Failure::Data)?
    } else {
        show::text(options, &rows)
    };
    target::put(&text, &Target::Output).map_err(Failure::Data)
}
