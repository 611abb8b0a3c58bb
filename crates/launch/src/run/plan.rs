//! Which rank runs which program, with which variables, on which processors.

use std::ffi::OsString;

use oxmpi_os::{affinity, limit};

use super::options::{Options, Program};

/// The variable that holds the job's key in every rank.
pub(crate) const JOB_KEY: &str = "OXMPI_JOB";

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
    /// Whether output is labelled.
    pub(crate) label: bool,
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
        let seats: Vec<Seat> = (0..)
            .zip(numbers)
            .map(|(rank, program)| Seat {
                rank,
                program,
                mask: None,
            })
            .collect();
        check_room(seats.len() as u64)?;
        Ok(Self {
            key: random_key()?,
            host,
            programs: options.programs.clone(),
            env: options.env.clone(),
            seats,
            label: options.label,
        })
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
            "{ranks} ranks need at least {} MiB of memory, {} MiB are left on this machine",
            needed >> 20,
            available.bytes >> 20
        )),
        None => Ok(()),
    }
}

fn random_key() -> Result<String, String> {
    let key = oxmpi_os::host::random().map_err(|error| format!("no random numbers: {error}"))?;
    Ok(key.iter().map(|byte| format!("{byte:02x}")).collect())
}
