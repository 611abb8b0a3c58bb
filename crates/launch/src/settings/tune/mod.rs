//! `oxmpi settings --tune`: measures this machine, and writes what its settings should be to a file.
//!
//! ```text
//! pairs    which two processors are near, and which are far
//! plan     what is measured: settings, values, lengths
//! job      one measurement: a job of two ranks with one value of one setting
//!   rank   what each of its ranks does
//! choose   from figures to values: pure
//! costs    the same for what a message costs: a fit
//! file     the settings file
//! show     the report, for people and as JSON
//! ```
//!
//! The ranks of a measurement are this program again, as in `oxmpi bench`: what is timed is what a
//! user's job would see, launcher, settings and all.

mod choose;
mod costs;
mod file;
mod job;
mod pairs;
mod plan;
mod rank;
mod show;

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use oxmpi::settings::Sources;
use oxmpi_coll::machine::Machine;

use crate::complain::Failure;
use crate::target::{self, Target};

pub(super) use plan::Timed;
pub(super) use rank::{Measure, measure};

/// What the user asked for.
pub(super) struct Tune {
    /// Where the settings go; the user's own file where none is named.
    pub(super) output: Option<PathBuf>,
    /// A file that is there may be replaced.
    pub(super) force: bool,
    /// How often everything is measured.
    pub(super) rounds: u32,
    /// The report as JSON.
    pub(super) json: bool,
    /// The machine by whose costs jobs choose algorithms if they are told no others.
    pub(super) machine: Machine,
}

/// Everything that the report tells.
struct Report {
    pairs: Vec<pairs::Pair>,
    figures: Vec<plan::Figure>,
    choices: Vec<choose::Choice>,
    file: PathBuf,
}

/// Measures, writes the file, and gives the report.
///
/// # Errors
/// Before anything is measured: a file that may not be written. Later: a measurement that failed.
pub(super) fn run(tune: &Tune) -> Result<String, Failure> {
    let path = tune.output.clone().or_else(Sources::users_file);
    let path = path.ok_or_else(|| {
        let why = "no home directory to write a settings file to; name one: --output FILE";
        Failure::Usage(why.into())
    })?;
    file::check(&path, tune.force).map_err(Failure::Usage)?;
    let pairs = pairs::find().map_err(Failure::Data)?;
    let figures = figures(&pairs, tune.rounds).map_err(Failure::Data)?;
    let mut choices = choose::all(&figures);
    choices.extend(costs::choices(&figures, &tune.machine));
    let report = Report {
        pairs,
        figures,
        choices,
        file: path.clone(),
    };
    let overwrite = tune.force;
    target::put(&file::text(&report), &Target::File { path, overwrite }).map_err(Failure::Data)?;
    Ok(if tune.json {
        show::json(&report)
    } else {
        show::text(&report)
    })
}

/// Measures all that the plan names, `rounds` times in turn: what disturbs one moment of the machine
/// then disturbs all values alike.
fn figures(pairs: &[pairs::Pair], rounds: u32) -> Result<Vec<plan::Figure>, String> {
    let jobs = plan::jobs(pairs.len());
    let bar = ProgressBar::new(u64::from(rounds) * jobs.len() as u64);
    let form = "measuring {bar:40} {pos}/{len} jobs, {eta} left: {msg}";
    bar.set_style(ProgressStyle::with_template(form).expect("a template"));
    let mut figures = Vec::new();
    for _ in 0..rounds {
        for job in &jobs {
            bar.set_message(format!("{} = {}", job.group.setting, job.value));
            let nanoseconds = job::run(job, &pairs[job.pair].processors)?;
            plan::add(&mut figures, job, &nanoseconds);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(figures)
}
