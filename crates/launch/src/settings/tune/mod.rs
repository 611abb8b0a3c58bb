//! `oxmpi settings --tune`: measures this machine, and writes what its settings should be to a file.
//!
//! ```text
//! pairs    which two processors are near, and which are far
//! plan     what is measured: settings, values, lengths
//! job      one measurement: a job of two ranks with one value of one setting
//!   rank   what each of its ranks does
//! choose   from measurements to values: pure
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

use crate::destination::{self, Destination};
use crate::diagnostics::CommandError;

pub(super) use plan::Timing;
pub(super) use rank::{MeasureOptions, measure};

/// What the user asked for.
pub(super) struct TuneOptions {
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
struct TuningReport {
    pairs: Vec<pairs::CpuPair>,
    measurements: Vec<plan::Measurement>,
    choices: Vec<choose::SettingChoice>,
    file: PathBuf,
}

/// Measures, writes the file, and gives the report.
///
/// # Errors
/// Before anything is measured: a file that may not be written. Later: a measurement that failed.
pub(super) fn run(tune: &TuneOptions) -> Result<String, CommandError> {
    let path = tune.output.clone().or_else(Sources::users_file);
    let path = path.ok_or_else(|| {
        let why = "no home directory to write a settings file to; name one: --output FILE";
        CommandError::Usage(why.into())
    })?;
    file::check(&path, tune.force).map_err(CommandError::Usage)?;
    let pairs = pairs::find().map_err(CommandError::Io)?;
    let measurements = measurements(&pairs, tune.rounds).map_err(CommandError::Io)?;
    let mut choices = choose::all(&measurements);
    choices.extend(costs::choices(&measurements, &tune.machine));
    let report = TuningReport {
        pairs,
        measurements,
        choices,
        file: path.clone(),
    };
    let overwrite = tune.force;
    destination::write(&file::text(&report), &Destination::File { path, overwrite })
        .map_err(CommandError::Io)?;
    Ok(if tune.json {
        show::json(&report)
    } else {
        show::text(&report)
    })
}

/// Measures all that the plan names, `rounds` times in turn: what disturbs one moment of the machine
/// then disturbs all values alike.
fn measurements(pairs: &[pairs::CpuPair], rounds: u32) -> Result<Vec<plan::Measurement>, String> {
    let jobs = plan::jobs(pairs.len());
    let bar = ProgressBar::new(u64::from(rounds) * jobs.len() as u64);
    let form = "measuring {bar:40} {pos}/{len} jobs, {eta} left: {msg}";
    bar.set_style(ProgressStyle::with_template(form).expect("a template"));
    let mut measurements = Vec::new();
    for _ in 0..rounds {
        for job in &jobs {
            bar.set_message(format!("{} = {}", job.group.setting, job.value));
            let nanoseconds = job::run(job, &pairs[job.pair].processors)?;
            plan::add(&mut measurements, job, &nanoseconds);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(measurements)
}
