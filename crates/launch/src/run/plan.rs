//! Which rank runs which program, with which variables, on which processors.

use std::ffi::OsString;

use oxmpi_os::{affinity, limit};

use oxmpi_text::Product;

use super::options::{Options, Program};
use super::pinning::Pinning;
use super::wrap::Wrap;

/// What a process costs at the very least, in bytes: page tables, stacks, its program's own data.
const RANK_LEAST: u64 = 256 << 10;
/// Descriptors that we hold for each rank: PMI, output, errors, process.
const DESCRIPTORS: u64 = 4;
/// Descriptors that we hold besides.
const DESCRIPTORS_OWN: u64 = 32;

/// A job, complete before its first rank starts.
#[derive(Debug)]
pub(crate) struct Plan {
    /// A random number that only this job's processes know, 32 hexadecimal digits.
    pub(crate) key: String,
    /// The name of this machine.
    pub(crate) host: String,
    /// The programs, by appnum.
    pub(crate) programs: Vec<Program>,
    /// Variables for all ranks.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// One for each rank, in order.
    pub(crate) seats: Vec<Seat>,
    /// Where the ranks are, when there are several hosts.
    pub(crate) wrap: Option<Wrap>,
    /// Whether output is labelled.
    pub(crate) label: bool,
    /// Whether each rank's binding is printed.
    report_bindings: bool,
    pinning: Pinning,
}

/// One rank's place.
#[derive(Debug)]
pub(crate) struct Seat {
    /// Its number.
    pub(crate) rank: u32,
    /// The number of its program.
    pub(crate) program: usize,
    /// The mask of its processors; `None`: all that we have.
    pub(crate) mask: Option<Vec<u64>>,
    /// Variables for the OpenMP runtime of its program.
    pub(crate) openmp: Vec<(&'static str, String)>,
}

impl Plan {
    /// Plans the job that `options` ask for on this machine, which is called `host`.
    ///
    /// # Errors
    /// A sentence, when this machine cannot hold so many ranks.
    pub(crate) fn new(options: &Options, host: String) -> Result<Self, String> {
        let allowed = affinity::current()
            .map_err(|error| format!("cannot read the processors granted: {error}"))?;
        let granted = affinity::cpus(&allowed).count();
        let numbers = options
            .programs
            .iter()
            .enumerate()
            .flat_map(|(number, program)| {
                let ranks = program.ranks.map_or(granted, |ranks| ranks as usize);
                std::iter::repeat_n(number, ranks)
            });
        let places: Vec<usize> = numbers.collect();
        check_room(places.len() as u64)?;
        let count = u32::try_from(places.len()).map_err(|_| "too many ranks".to_owned())?;
        let mut pinning = Pinning::new(options, &affinity::cpus(&allowed).collect(), count)?;
        let openmp = pinning.openmp(options, &places);
        let seat = |((rank, program), openmp)| Seat {
            rank,
            program,
            mask: pinning.mask(rank),
            openmp,
        };
        let seats = (0..count).zip(places).zip(openmp).map(seat).collect();
        let prefix = Product::OpenMpi.env_prefix();
        let settings = options
            .settings
            .iter()
            .map(|(name, value)| (format!("{prefix}{name}").into(), value.into()));
        let wrap = options
            .wrap
            .as_ref()
            .map(|command| Wrap::new(command, &options.hosts, pinning.per_host, count));
        Ok(Self {
            wrap: wrap.transpose()?,
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
            seats,
            label: options.label,
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
        let ranks = self.seats.len();
        let cpus = |seat: &Seat| self.pinning.cpus(seat.rank).to_string();
        let width = self
            .seats
            .iter()
            .map(|seat| cpus(seat).len())
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
        for seat in &self.seats {
            text += &format!(
                "  {:>5}  {:<width$}  {}\n",
                seat.rank,
                cpus(seat),
                self.program_of(seat)
            );
        }
        text + "  " + self.pinning.explanation() + "\n"
    }

    /// The line of `--report-bindings` for a rank, if asked.
    pub(crate) fn binding(&self, seat: &Seat, pid: i32) -> Option<String> {
        self.report_bindings
            .then(|| self.pinning.report(seat.rank, &self.host, pid))
    }

    /// The name of a rank's program, for people.
    pub(crate) fn program_of(&self, seat: &Seat) -> String {
        self.programs[seat.program]
            .command
            .to_string_lossy()
            .into_owned()
    }
}

/// Refuses more ranks than descriptors or memory can hold.
fn check_room(ranks: u64) -> Result<(), String> {
    let descriptors = ranks * DESCRIPTORS + DESCRIPTORS_OWN;
    oxmpi_os::process::raise_open_files(descriptors).map_err(|limit| {
        format!(
            "{ranks} ranks need {descriptors} open descriptors here, the limit is {limit} (`ulimit -Hn`)"
        )
    })?;
    let needed = ranks * RANK_LEAST;
    match limit::available().filter(|available| available.bytes < needed) {
        Some(available) => Err(format!(
            "{ranks} ranks need at least {} MiB of memory, {} MiB {}",
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
