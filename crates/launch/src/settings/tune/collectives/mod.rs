//! `oxmpi settings --tune --collectives`: measures collectives on this host by each algorithm, and writes a file of rules for
//! the setting `coll_rules`.
//!
//! ```text
//! rank    the ranks of a job, which call a collective again and again
//! rules   the rules that measurements say, as JSON
//! ```
//!
//! A job forces one algorithm by the collective's own setting and has no rules; all other settings are those of the
//! environment: with `OXMPI_TRANSPORTS=tcp` rules are for jobs whose messages take TCP.

mod rank;
mod rules;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use indicatif::{ProgressBar, ProgressStyle};
use oxmpi_coll::catalog::{Algorithm, Call, Collective};
use oxmpi_settings::Sources;
use oxmpi_text::EnvName;

use super::{file, job};
use crate::columns::aligned;
use crate::destination::{self, Destination};
use crate::diagnostics::CommandError;

pub(in crate::settings) use rank::measure;
use rules::{CollectiveTimes, Comparison};

/// The collectives that are measured.
pub(in crate::settings) const COLLECTIVES: [Collective; 9] = [
    Collective::Barrier,
    Collective::Bcast,
    Collective::Gather,
    Collective::Scatter,
    Collective::Allgather,
    Collective::Alltoall,
    Collective::Reduce,
    Collective::Allreduce,
    Collective::ReduceScatterBlock,
];

/// The numbers of ranks that are measured.
const RANKS: [u32; 2] = [2, 4];

/// The lengths that are measured, in bytes of a vector or block.
const LENGTHS: [u64; 6] = [8, 512, 8 << 10, 64 << 10, 256 << 10, 1 << 20];

/// A job: a collective on some ranks, by an algorithm or, without one, as it is usually served.
#[derive(Clone, Copy)]
struct CollectiveJob {
    collective: Collective,
    ranks: u32,
    algorithm: Option<Algorithm>,
}

impl CollectiveJob {
    /// All jobs: of one collective and number of ranks one after the other, so that they share a disturbance.
    fn all() -> Vec<Self> {
        let groups = RANKS
            .into_iter()
            .flat_map(|ranks| COLLECTIVES.map(|one| (one, ranks)));
        let of_group = |(collective, ranks)| {
            let mut call = Call::barrier(0, ranks);
            call.collective = collective;
            let suits = move |one: &Algorithm| one.is_by_messages() && one.suits(&call).is_ok();
            let forced = collective.algorithms().filter(suits).map(Some);
            let each = std::iter::once(None).chain(forced);
            each.map(move |algorithm| CollectiveJob {
                collective,
                ranks,
                algorithm,
            })
        };
        groups.flat_map(of_group).collect()
    }

    fn lengths(&self) -> &'static [u64] {
        match self.collective {
            Collective::Barrier => &[0],
            _ => &LENGTHS,
        }
    }

    /// Runs the job. Returns the nanoseconds of a call for each length.
    fn run(&self) -> Result<Vec<f64>, String> {
        let name = self.algorithm.map_or("auto", Algorithm::name);
        let failed = |why: &str| {
            format!(
                "measuring {} by {name} on {} ranks failed: {why}",
                self.collective, self.ranks
            )
        };
        let program = std::env::current_exe().map_err(|why| failed(&why.to_string()))?;
        let setting = format!("{}_algorithm", self.collective);
        let mut command = Command::new(&program);
        command
            .args(["run", "-n", &self.ranks.to_string()])
            .arg(&program)
            .args(["settings", "--measure", &job::listed(self.lengths())])
            .args(["--collective", self.collective.name()])
            .env(EnvName(&setting).to_string(), name)
            // What earlier rules made fast must get its rule again.
            .env(EnvName("coll_rules").to_string(), "none")
            .stdin(Stdio::null());
        let output = command.output().map_err(|why| failed(&why.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).trim_end()));
        }
        let output = String::from_utf8_lossy(&output.stdout);
        job::read(&output, self.lengths())
            .ok_or_else(|| failed(&format!("unexpected output {output:?}")))
    }
}

/// Measures, writes the file of rules, and returns the report.
///
/// # Errors
/// Before the measurement, if the file may not be written; later, if a job fails.
pub(in crate::settings) fn run(
    output: Option<PathBuf>,
    force: bool,
    rounds: u32,
) -> Result<String, CommandError> {
    let beside = |file: PathBuf| file.with_file_name("coll_rules.json");
    let path = output
        .or_else(|| Sources::users_file().map(beside))
        .ok_or_else(|| {
            let why = "no home directory to write a file of rules to; name one: --output FILE";
            CommandError::Usage(why.into())
        })?;
    let path = std::path::absolute(path).map_err(|why| CommandError::Io(why.to_string()))?;
    file::check(&path, force).map_err(CommandError::Usage)?;
    let times = times(rounds).map_err(CommandError::Io)?;
    let comparisons = rules::compared(&times);
    let rules = rules::rules(&comparisons);
    let report = report(&comparisons, &path);
    let target = Destination::File {
        path,
        overwrite: force,
    };
    destination::write(&rules::text(&rules), &target).map_err(CommandError::Io)?;
    Ok(report)
}

/// Runs all jobs `rounds` times, so that a disturbance affects all algorithms alike.
fn times(rounds: u32) -> Result<Vec<CollectiveTimes>, String> {
    let jobs = CollectiveJob::all();
    let bar = ProgressBar::new(u64::from(rounds) * jobs.len() as u64);
    let form = "measuring {bar:40} {pos}/{len} jobs, {eta} left: {msg}";
    bar.set_style(ProgressStyle::with_template(form).expect("a template"));
    let mut all: Vec<CollectiveTimes> = Vec::new();
    for round in 0..rounds {
        let mut at = 0;
        for job in &jobs {
            let name = job.algorithm.map_or("auto", Algorithm::name);
            bar.set_message(format!("{} {name}, {} ranks", job.collective, job.ranks));
            for (&bytes, nanoseconds) in job.lengths().iter().zip(job.run()?) {
                if round == 0 {
                    let &CollectiveJob {
                        collective,
                        ranks,
                        algorithm,
                    } = job;
                    let rounds = Vec::new();
                    all.push(CollectiveTimes {
                        collective,
                        ranks,
                        algorithm,
                        bytes,
                        rounds,
                    });
                }
                all[at].rounds.push(nanoseconds);
                at += 1;
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(all)
}

/// The comparisons as a table, and how the file is used.
fn report(comparisons: &[Comparison], path: &Path) -> String {
    let heading = [
        "collective",
        "ranks",
        "bytes",
        "auto us",
        "fastest us",
        "algorithm",
        "rule",
    ];
    let mut rows = vec![heading.map(String::from).to_vec()];
    rows.extend(comparisons.iter().map(|one| {
        let micros = |nanoseconds: f64| format!("{:.2}", nanoseconds / 1e3);
        vec![
            one.collective.to_string(),
            one.ranks.to_string(),
            one.bytes.to_string(),
            micros(one.usual),
            micros(one.fastest.1),
            one.fastest.0.name().into(),
            if one.gains() { "yes" } else { "" }.into(),
        ]
    }));
    let count = comparisons.iter().filter(|one| one.gains()).count();
    let file = path.display();
    format!(
        "{}\nwritten to {file}: rules for {count} of {} rows, those in which an algorithm takes less by more than {}%\n\
         All ranks of a job need the same file. It is read where the setting coll_rules names it: a line\n\
         coll_rules = \"{file}\" in settings.toml, or OXMPI_COLL_RULES={file}\n",
        aligned(&rows),
        comparisons.len(),
        rules::PERCENT
    )
}
