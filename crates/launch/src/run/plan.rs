//! The plan of a job: the program, variables and processors of each rank.

use std::ffi::OsString;
use std::time::Duration;

use oxmpi_os::{affinity, limit};

use oxmpi_text::Product;

use super::counts;
use super::input::InputRanks;
use super::options::{Options, Program};
use super::output::OutputOptions;
use super::pinning::{Pinning, TimeLimit};
use super::program_file;
use super::virtual_hosts::VirtualHosts;

/// Least memory of a process in bytes: page tables, stacks and data of the program.
const RANK_LEAST: u64 = 256 << 10;
/// Descriptors that the launcher holds for each rank: PMI, output, errors, process.
const DESCRIPTORS: u64 = 4;
/// Other descriptors of the launcher.
const DESCRIPTORS_OWN: u64 = 32;

/// A job as planned before its first rank starts.
#[derive(Debug)]
pub(crate) struct JobPlan {
    /// The job's key: a random number of 32 hexadecimal digits that only its processes know.
    pub(crate) key: String,
    /// The name of this machine.
    pub(crate) host: String,
    /// The programs, by appnum.
    pub(crate) programs: Vec<Program>,
    /// Variables for all ranks.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// One for each rank, in order.
    pub(crate) ranks: Vec<RankPlan>,
    /// The virtual hosts of `--wrap`.
    pub(crate) virtual_hosts: Option<VirtualHosts>,
    /// Labels and files of the output.
    pub(crate) output: OutputOptions,
    /// The ranks that read standard input.
    pub(crate) stdin: InputRanks,
    /// How long the job may run.
    pub(crate) time_limit: Option<TimeLimit>,
    /// How long ranks have to end after a request.
    pub(crate) kill_timeout: Duration,
    /// Whether each rank's binding is printed.
    report_bindings: bool,
    pinning: Pinning,
}

/// The plan of one rank.
#[derive(Debug)]
pub(crate) struct RankPlan {
    /// Its number.
    pub(crate) rank: u32,
    /// The number of its program.
    pub(crate) program: usize,
    /// The CPU mask; `None`: that of the launcher.
    pub(crate) mask: Option<Vec<u64>>,
    /// Variables for the OpenMP runtime.
    pub(crate) openmp: Vec<(&'static str, String)>,
}

impl JobPlan {
    /// Plans the job of `options` on this machine, whose name is `host`.
    ///
    /// # Errors
    /// A sentence, if the hosts have too few slots or this machine cannot hold that many ranks.
    pub(crate) fn new(options: &Options, host: String) -> Result<Self, String> {
        let allowed = affinity::current()
            .map_err(|error| format!("cannot read the processors granted: {error}"))?;
        let granted = affinity::cpus(&allowed).count();
        let counts = counts::of_programs(options, granted)?;
        check_room(counts.iter().sum(), descriptors(options))?;
        let numbers = (0..).zip(counts);
        let numbers =
            numbers.flat_map(|(number, ranks)| std::iter::repeat_n(number, ranks as usize));
        let places: Vec<usize> = numbers.collect();
        let count = u32::try_from(places.len()).map_err(|_| "too many ranks".to_owned())?;
        options.stdin.check(count)?;
        let mut pinning = Pinning::new(options, &affinity::cpus(&allowed).collect(), &places)?;
        let openmp = pinning.openmp(options, &places);
        let rank_plan = |((rank, program), openmp)| RankPlan {
            rank,
            program,
            mask: pinning.mask(rank),
            openmp,
        };
        let ranks = (0..count).zip(places).zip(openmp).map(rank_plan).collect();
        let prefix = Product::OpenMpi.env_prefix();
        let settings = options
            .settings
            .iter()
            .map(|(name, value)| (format!("{prefix}{name}").into(), value.into()));
        let hosts: Vec<String> = options.hosts.iter().map(|host| host.name.clone()).collect();
        let virtual_hosts = options
            .wrap
            .as_ref()
            .map(|command| VirtualHosts::new(command, &hosts, pinning.per_host, count));
        Ok(Self {
            virtual_hosts: virtual_hosts.transpose()?,
            key: random_key()?,
            host,
            programs: options.programs.clone(),
            env: options
                .env
                .iter()
                .chain(&pinning.typed)
                .cloned()
                .chain(settings)
                .collect(),
            ranks,
            output: options.output.clone(),
            stdin: options.stdin,
            time_limit: pinning.time_limit.clone(),
            kill_timeout: pinning.kill_timeout,
            report_bindings: options.report_bindings,
            pinning,
        })
    }

    /// What the user should know before the job starts, a sentence each.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.pinning.warnings
    }

    /// The text of `--display-map`.
    pub(crate) fn map(&self) -> String {
        let ranks = self.ranks.len();
        let cpus = |rank_plan: &RankPlan| self.pinning.cpus(rank_plan.rank).to_string();
        let width = self
            .ranks
            .iter()
            .map(|rank_plan| cpus(rank_plan).len())
            .max()
            .unwrap_or(0)
            .max("processors".len());
        let mut text = format!(
            "Job map: {ranks} rank{} on {}\n  {:>5}  {:<width$}  program\n",
            if ranks == 1 { "" } else { "s" },
            self.host,
            "rank",
            "processors"
        );
        for rank_plan in &self.ranks {
            text += &format!(
                "  {:>5}  {:<width$}  {}\n",
                rank_plan.rank,
                cpus(rank_plan),
                self.program_of(rank_plan)
            );
        }
        text + "  " + self.pinning.explanation() + "\n"
    }

    /// The line of `--report-bindings` for a rank, if that option is set.
    pub(crate) fn binding(&self, rank_plan: &RankPlan, pid: i32) -> Option<String> {
        self.report_bindings
            .then(|| self.pinning.report(rank_plan.rank, &self.host, pid))
    }

    /// The words that start a rank, without the arguments of its program: the program, behind the command of `--wrap`.
    pub(crate) fn words(&self, rank_plan: &RankPlan) -> Vec<OsString> {
        let wrap = |hosts: &VirtualHosts| hosts.command(rank_plan.rank);
        let mut words = self.virtual_hosts.as_ref().map(wrap).unwrap_or_default();
        words.push(self.programs[rank_plan.program].command.clone());
        words
    }

    /// What the first of the words that start a rank is, and the word.
    pub(crate) fn executed(&self, rank_plan: &RankPlan) -> String {
        let words = self.words(rank_plan);
        let what = match words.len() {
            1 => "program",
            _ => "command of --wrap",
        };
        format!("{what} `{}`", words[0].to_string_lossy())
    }

    /// A sentence on the interpreter of the file that starts a rank, if that does not exist.
    pub(crate) fn missing_interpreter(&self, rank_plan: &RankPlan) -> Option<String> {
        let program = Program {
            command: self.words(rank_plan).swap_remove(0),
            ..self.programs[rank_plan.program].clone()
        };
        let file = program_file::find(&self.env, &program)?;
        program_file::missing_interpreter(&file, program.directory.as_deref())
    }

    /// The program of a rank, for messages.
    pub(crate) fn program_of(&self, rank_plan: &RankPlan) -> String {
        self.programs[rank_plan.program]
            .command
            .to_string_lossy()
            .into_owned()
    }
}

/// The descriptors that the launcher holds for each rank.
fn descriptors(options: &Options) -> u64 {
    let has_file = options.output.files.is_some();
    let has_input = options.stdin == InputRanks::All;
    DESCRIPTORS + u64::from(has_file) + u64::from(has_input)
}

/// Checks that descriptors, `each` for a rank, and memory suffice for the ranks.
fn check_room(ranks: u64, each: u64) -> Result<(), String> {
    let descriptors = ranks * each + DESCRIPTORS_OWN;
    oxmpi_os::process::raise_open_files(descriptors).map_err(|limit| {
        format!(
            "{ranks} ranks need {descriptors} open descriptors, but the limit is {limit} (`ulimit -Hn`)"
        )
    })?;
    let needed = ranks * RANK_LEAST;
    match limit::available().filter(|available| available.bytes < needed) {
        Some(available) => Err(format!(
            "{ranks} ranks need at least {} MiB of memory, but only {} MiB {}",
            needed >> 20,
            available.bytes >> 20,
            available.source
        )),
        None => Ok(()),
    }
}

fn random_key() -> Result<String, String> {
    let key = oxmpi_os::host::random().map_err(|error| format!("no random numbers: {error}"))?;
    Ok(key.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::options::parse;

    #[test]
    fn pipes_and_files_of_ranks_need_descriptors() {
        for (line, expected) in [
            ("a", 4),
            ("--stdin 0 a", 4),
            ("--stdin all a", 5),
            ("--output-filename out a", 5),
            ("--stdin all --output-filename out a", 6),
        ] {
            let words: Vec<_> = line.split_whitespace().map(Into::into).collect();
            assert_eq!(descriptors(&parse(&words).expect(line)), expected, "{line}");
        }
    }
}
