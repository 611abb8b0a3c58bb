//! `oxmpi settings --tune`: measures this machine and writes the settings that suit it to a file.
//!
//! ```text
//! pairs    the nearest and the farthest two processors
//! plan     the trials: settings, values, lengths
//! job      one trial: a job of two ranks with one value of one setting
//!   rank   the ranks of a trial
//! choose   the choice of values from measurements
//! costs    the fit of LogGP costs
//! file     the settings file
//! show     the report, as text and as JSON
//! collectives  rules for collectives, a task of its own
//! ```
//!
//! The ranks of a trial run this program, started by `oxmpi run`, so that the times are those of a user's job.

mod choose;
pub(super) mod collectives;
mod costs;
mod file;
mod job;
mod pairs;
mod plan;
mod rank;
mod show;

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use oxmpi_coll::machine::Machine;
use oxmpi_settings::Sources;

use crate::destination::{self, Destination};
use crate::diagnostics::CommandError;

pub(super) use plan::Timing;
pub(super) use rank::{MeasureOptions, measure};

/// The options of `oxmpi settings --tune`.
pub(super) struct TuneOptions {
    /// File for the settings; default: the user's settings file.
    pub(super) output: Option<PathBuf>,
    /// Whether to replace an existing file.
    pub(super) force: bool,
    /// Number of rounds.
    pub(super) rounds: u32,
    /// Whether to print the report as JSON.
    pub(super) json: bool,
    /// The machine whose costs are the defaults of the cost settings.
    pub(super) machine: Machine,
}

/// Everything that the report prints.
struct TuningReport {
    pairs: Vec<pairs::CpuPair>,
    measurements: Vec<plan::Measurement>,
    choices: Vec<choose::SettingChoice>,
    file: PathBuf,
}

/// Measures, writes the file, and returns the report.
///
/// # Errors
/// Before the measurement, if the file may not be written; later, if a trial fails.
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

/// Runs all trials `rounds` times in turn, so that a disturbance affects all values alike.
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
