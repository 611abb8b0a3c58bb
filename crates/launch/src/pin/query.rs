//! A pinning query: a job with its settings, and the answer: where its ranks and threads run.

use std::collections::BTreeMap;

use oxmpi_pin::openmp::{self, Dialect, Levels, Request, Rules, Team};
use oxmpi_pin::openmpi::Mapping;
use oxmpi_pin::{Compat, Placement, RankPlace, Settings, VARIABLES, Warning, WarningCode, place};
use oxmpi_text::Words;
use oxmpi_topo::{CpuSet, Machine};

/// Values of environment variables, by name.
pub(super) type Variables = BTreeMap<String, String>;

/// The variables that set pinning or threads.
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    VARIABLES.into_iter().chain(Request::VARIABLES)
}

/// The largest number of ranks.
const MOST_RANKS: u32 = 1 << 16;

/// The largest number of threads of all ranks: each has a set of processors in the answer.
const MOST_THREADS: usize = 1 << 20;

/// The longest value of a variable in bytes, as in Linux.
const LONGEST_VALUE: usize = 128 << 10;

/// A job with its settings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PinQuery {
    /// Settings; unknown variables are ignored.
    pub(super) variables: Variables,
    /// The options of Open MPI, which override variables.
    pub(super) mapping: Option<Mapping>,
    /// Ranks on the machine.
    pub(super) ranks: u32,
    /// Threads of each rank; 0: the default of the runtime; `None`: no threads are shown.
    pub(super) threads: Option<u32>,
    /// The CPU mask that the job inherits; `None`: all processors.
    pub(super) mask: Option<CpuSet>,
    pub(super) compat: Compat,
    pub(super) dialect: Dialect,
}

impl Default for PinQuery {
    fn default() -> Self {
        Self {
            variables: Variables::new(),
            mapping: None,
            ranks: 1,
            threads: None,
            mask: None,
            compat: Compat::default(),
            dialect: Dialect::default(),
        }
    }
}

/// Where the ranks and threads of a query run.
#[derive(Debug)]
pub(super) struct PinAnswer {
    pub(super) placement: Placement,
    /// The threads of each rank, if asked for; only the first rank has warnings and a report.
    pub(super) teams: Option<Vec<Team>>,
    /// The value of `OMP_NUM_THREADS`.
    pub(super) omp_threads: Option<u32>,
    /// Warnings of pinning, then of the threads of the first rank.
    pub(super) warnings: Vec<Warning>,
}

impl PinQuery {
    /// Where ranks and threads would run on this machine.
    ///
    /// # Errors
    /// With the documented rules, a wrong setting, with a caret; numbers that are too large.
    pub(super) fn answer(&self, machine: &Machine) -> Result<PinAnswer, String> {
        if !(1..=MOST_RANKS).contains(&self.ranks) {
            return Err(format!("{} ranks: expected 1 to {MOST_RANKS}", self.ranks));
        }
        let long = self
            .variables
            .iter()
            .find(|(_, value)| value.len() > LONGEST_VALUE);
        if let Some((name, value)) = long {
            let length = value.len();
            return Err(format!(
                "{name}: a value of {length} bytes: expected at most {LONGEST_VALUE}"
            ));
        }
        let value = |name: &str| self.variables.get(name).map(String::as_str);
        let (read, unreadable) =
            Settings::read(self.compat, value).map_err(|wrong| wrong.to_string())?;
        let omp_threads = read.omp_threads;
        let settings = match &self.mapping {
            None => read,
            Some(mapping) => {
                let checked = mapping.check(machine);
                checked.map_err(|wrong| wrong.to_string())?;
                mapping.clone().into()
            }
        };
        let mut warnings: Vec<Warning> = unreadable
            .iter()
            .map(|wrong| Warning {
                code: WarningCode::SettingUnreadable,
                args: vec![wrong.name.into()],
                text: wrong.to_string(),
            })
            .collect();
        if let Some(mapping) = &self.mapping {
            let pinning = VARIABLES
                .iter()
                .filter(|name| name.starts_with("I_MPI_PIN"));
            let given = pinning.filter(|name| self.variables.contains_key(**name));
            warnings.extend(given.map(|name| Warning::overridden(name, mapping.option())));
        }
        let placement = place(machine, &settings, self.mask.as_ref(), self.ranks);
        warnings.extend(placement.warnings.iter().cloned());
        let team = self.threads.map(|threads| match threads {
            0 => omp_threads.unwrap_or(0),
            threads => threads,
        });
        let teams = team
            .map(|threads| self.teams(machine, &placement, threads))
            .transpose()?;
        let first = teams.iter().flatten().next();
        warnings.extend(first.iter().flat_map(|team| team.warnings.iter().cloned()));
        Ok(PinAnswer {
            placement,
            teams,
            omp_threads,
            warnings,
        })
    }

    /// The threads of each rank on the rank's processors. Ranks on the same processors have the same threads.
    fn teams(
        &self,
        machine: &Machine,
        placement: &Placement,
        threads: u32,
    ) -> Result<Vec<Team>, String> {
        let of_each = match threads {
            0 => machine.online().len(),
            threads => threads as usize,
        };
        let ranks = placement.ranks.len();
        if ranks * of_each > MOST_THREADS {
            return Err(format!(
                "{ranks} ranks with {of_each} threads each: expected at most {MOST_THREADS} threads"
            ));
        }
        let value = |name: &str| self.variables.get(name).map(String::as_str);
        let team = |cpus: &CpuSet| {
            let request = Request {
                mask: Some(cpus),
                threads,
                ..Request::of(value)
            };
            openmp::bind(machine, &request, self.dialect)
        };
        let mut known: BTreeMap<&CpuSet, Vec<CpuSet>> = BTreeMap::new();
        let mut teams: Vec<Team> = Vec::with_capacity(ranks);
        for RankPlace { cpus, .. } in &placement.ranks {
            if teams.is_empty() {
                teams.push(team(cpus));
                continue;
            }
            let threads = known.entry(cpus).or_insert_with(|| team(cpus).threads);
            teams.push(Team {
                threads: threads.clone(),
                ..Team::default()
            });
        }
        Ok(teams)
    }
}

/// The pinning rules of this name.
///
/// # Errors
/// Lists all names; the newer rules of Intel MPI are not implemented.
pub(super) fn compat(text: &str) -> Result<Compat, String> {
    if text == "intel-2021-ipl2" {
        let why = "the rules `intel-2021-ipl2` are not implemented; `intel-2021` are those of the engine `legacy`";
        return Err(why.into());
    }
    text.parse()
        .map_err(|error: oxmpi_text::Error| error.show(text).to_string())
}

/// The levels of the thread map.
///
/// # Errors
/// Lists both names.
pub(super) fn levels(text: &str) -> Result<Levels, String> {
    let all = [Levels::Documented, Levels::Current];
    word(&Words(&["documented", "current"]), text).map(|found| all[found])
}

/// The rules of thread settings.
///
/// # Errors
/// Lists both names.
pub(super) fn rules(text: &str) -> Result<Rules, String> {
    let all = [Rules::Documented, Rules::Runtime];
    word(&Words(&["documented", "runtime"]), text).map(|found| all[found])
}

/// A list of processors.
///
/// # Errors
/// Where the list is wrong, or that it is empty.
pub(super) fn processors(text: &str) -> Result<CpuSet, String> {
    match CpuSet::parse_list(text) {
        Ok(set) if set.is_empty() => Err("the set is empty".into()),
        Ok(set) => Ok(set),
        Err(error) => Err(error.to_string()),
    }
}

fn word(words: &Words, text: &str) -> Result<usize, String> {
    words
        .find(text)
        .map_err(|error| error.show(text).to_string())
}
