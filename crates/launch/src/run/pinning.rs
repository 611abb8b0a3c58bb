//! The placement of ranks on this machine, by the pinning settings and `oxmpi-pin`.

use std::ffi::OsString;
use std::time::Duration;

use oxmpi_os::affinity;
use oxmpi_pin::openmpi::Report;
use oxmpi_pin::{
    PerHost, Placement, SETTINGS, Settings, Warning, WarningCode, conflicts, omp_threads, place,
};
use oxmpi_settings::{Assignment, Origin, SettingValue, Sources, TABLE, Values, resolve, seconds};
use oxmpi_text::Product;
use oxmpi_topo::{CpuSet, Machine};

use super::openmp;
use super::options::{Options, Program};
use crate::machine;

/// The ranks of a job on the processors of this machine.
#[derive(Debug)]
pub(crate) struct Pinning {
    machine: Machine,
    placement: Placement,
    /// Variables that pass the settings of the command line to the ranks.
    pub(crate) typed: Vec<(OsString, OsString)>,
    /// Threads of each program's ranks from a setting that OpenMP runtimes do not read.
    threads: Vec<Option<String>>,
    /// Ranks per virtual host.
    pub(crate) per_host: u32,
    /// How long the job may run.
    pub(crate) time_limit: Option<TimeLimit>,
    /// How long ranks have to end after a request.
    pub(crate) kill_timeout: Duration,
    /// Warnings, one sentence each.
    pub(crate) warnings: Vec<String>,
}

impl Pinning {
    /// Places ranks by settings and options, on the processors in `inherited`; `programs` has the program number of each
    /// rank. Each rank is where the settings of its program place it.
    ///
    /// # Errors
    /// A wrong setting, with a caret; a setting of the whole job that two programs set differently; a file of this machine
    /// that cannot be read.
    pub(crate) fn new(
        options: &Options,
        inherited: &CpuSet,
        programs: &[usize],
    ) -> Result<Self, String> {
        let values = settings(options)?;
        let settings: Vec<Settings> = values.iter().map(Values::pinning).collect();
        let wanted: Vec<Settings> = match &options.mapping {
            None => settings.clone(),
            Some(mapping) => vec![mapping.clone().into(); settings.len()],
        };
        let has_caches = wanted.iter().any(Settings::needs_caches) || openmp::is_any_set(options);
        let machine = machine::local(has_caches)?;
        if let Some(mapping) = &options.mapping {
            let checked = mapping.check(&machine);
            checked.map_err(|wrong| wrong.to_string())?;
        }
        let placement = placed(&machine, &wanted, inherited, programs);
        let is_intended = |warning: &Warning| {
            options.oversubscribe == Some(true) && warning.code == WarningCode::ProcessorShared
        };
        let threads = |rank: u32| settings[programs[rank as usize]].omp_threads;
        let found = conflicts(&machine, &placement, threads);
        let found = found.into_iter().filter(|warning| !is_intended(warning));
        let mut warnings: Vec<String> = Vec::new();
        let mut warn = |text: String| {
            if !warnings.contains(&text) {
                warnings.push(text);
            }
        };
        for values in &values {
            values.warnings.iter().cloned().for_each(&mut warn);
        }
        if let Some(mapping) = &options.mapping {
            let ignored = values.iter().flat_map(given);
            let ignored = ignored.map(|value| value.origin.to_string());
            ignored
                .map(|name| Warning::overridden(&name, mapping.option()).text)
                .for_each(&mut warn);
        }
        let all = placement.warnings.iter().cloned().chain(found);
        all.map(|warning| warning.text).for_each(&mut warn);
        let typed = values
            .iter()
            .take(1)
            .flat_map(Values::exports)
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let per_host = options.ranks_per_host.map_or_else(
            || {
                let each = of_job(options, &values, "perhost")?.parse();
                each.map(|each: PerHost| each.ranks(&machine))
                    .map_err(|error| format!("perhost: {error}"))
            },
            Ok,
        );
        Ok(Self {
            time_limit: TimeLimit::new(options, &values)?,
            kill_timeout: seconds(of_job(options, &values, "kill_timeout")?)
                .map_err(|error| format!("kill_timeout: {error}"))?,
            per_host: per_host?,
            machine,
            placement,
            typed,
            threads: values.iter().map(threads_of_ours).collect(),
            warnings,
        })
    }

    /// The OpenMP variables of each rank; `programs` has the program number of each rank. A wrong thread setting becomes
    /// one warning.
    pub(crate) fn openmp(
        &mut self,
        options: &Options,
        programs: &[usize],
    ) -> Vec<Vec<(&'static str, String)>> {
        let cpus = self.placement.ranks.iter().map(|place| &place.cpus);
        let ranks = programs.iter().copied().zip(cpus);
        let all = openmp::exports(&self.machine, options, &self.threads, ranks);
        let variables = all.into_iter().map(|exports| {
            for warning in exports.warnings {
                if !self.warnings.contains(&warning) {
                    self.warnings.push(warning);
                }
            }
            exports.variables
        });
        variables.collect()
    }

    /// The CPU mask of a rank; `None`: that of this process.
    pub(crate) fn mask(&self, rank: u32) -> Option<Vec<u64>> {
        self.placement
            .is_pinned()
            .then(|| affinity::mask(self.cpus(rank).iter()))
    }

    /// The processors of a rank.
    pub(crate) fn cpus(&self, rank: u32) -> &CpuSet {
        &self.placement.ranks[rank as usize].cpus
    }

    /// The reason for the placement.
    pub(crate) fn explanation(&self) -> &str {
        &self.placement.explanation
    }

    /// The line of `--report-bindings` for a rank whose process is `pid`.
    pub(crate) fn report(&self, rank: u32, host: &str, pid: i32) -> String {
        let place = &self.placement.ranks[rank as usize];
        Report {
            machine: &self.machine,
            host,
            pid: pid.unsigned_abs(),
            place,
        }
        .to_string()
    }
}

/// How long a job may run.
#[derive(Clone, Debug)]
pub(crate) struct TimeLimit {
    pub(crate) duration: Duration,
    /// The option or the variable that sets it.
    pub(crate) origin: String,
}

impl TimeLimit {
    /// The limit of the option, else of the setting; a time of 0 is none.
    fn new(options: &Options, values: &[Values]) -> Result<Option<Self>, String> {
        let (duration, origin) = match options.time_limit {
            Some(duration) => (duration, "--timeout".into()),
            None => {
                let duration = seconds(of_job(options, values, "job_timeout")?)
                    .map_err(|error| format!("job_timeout: {error}"))?;
                (duration, values[0].get("job_timeout").origin.to_string())
            }
        };
        Ok((!duration.is_zero()).then_some(Self { duration, origin }))
    }
}

/// The pinning settings that are not defaults.
pub(crate) fn given(values: &Values) -> impl Iterator<Item = &SettingValue> {
    let rows = SETTINGS.iter().filter(|row| row.name.starts_with("pin"));
    let values = rows.map(|row| values.get(row.name));
    values.filter(|value| value.origin != Origin::Default)
}

/// The value of `omp_num_threads` if it comes from a place that OpenMP runtimes do not read.
fn threads_of_ours(values: &Values) -> Option<String> {
    let value = values.get("omp_num_threads");
    let is_ours = match value.origin {
        Origin::Default => false,
        Origin::Environment { product, .. } => product.is_none(),
        Origin::File { .. } | Origin::CommandLine { .. } => true,
    };
    (is_ours && omp_threads(&value.text).is_some()).then(|| value.text.clone())
}

/// The placement in which each rank is where the settings of its program, in `wanted`, place it.
fn placed(
    machine: &Machine,
    wanted: &[Settings],
    inherited: &CpuSet,
    programs: &[usize],
) -> Placement {
    let mut plans: Vec<(&Settings, Placement)> = Vec::new();
    let mut plan_of = Vec::new();
    for settings in wanted {
        let known = plans.iter().position(|(known, _)| *known == settings);
        plan_of.push(known.unwrap_or(plans.len()));
        if known.is_none() {
            let plan = place(machine, settings, Some(inherited), programs.len() as u32);
            plans.push((settings, plan));
        }
    }
    let mut all = Placement {
        ranks: Vec::new(),
        allowed: CpuSet::new(),
        explanation: String::new(),
        warnings: Vec::new(),
    };
    let ranks = programs.iter().enumerate();
    let places = ranks.filter_map(|(rank, &program)| plans[plan_of[program]].1.ranks.get(rank));
    all.ranks.extend(places.cloned());
    let is_one = plans
        .iter()
        .all(|(_, plan)| plan.explanation == plans[0].1.explanation);
    for (number, (_, plan)) in plans.iter().enumerate() {
        all.allowed = &all.allowed | &plan.allowed;
        for warning in &plan.warnings {
            if !all.warnings.contains(warning) {
                all.warnings.push(warning.clone());
            }
        }
        if is_one {
            all.explanation.clone_from(&plan.explanation);
            continue;
        }
        let of = (0..).zip(&plan_of).filter(|&(_, &plan)| plan == number);
        let of: CpuSet = of.map(|(program, _)| program).collect();
        let gap = if number == 0 { "" } else { " " };
        all.explanation += &format!("{gap}Program {of}: {}", plan.explanation);
    }
    all
}

/// The value of a setting that counts for the whole job.
///
/// # Errors
/// A sentence with the two programs that set it differently.
fn of_job<'a>(options: &Options, values: &'a [Values], name: &str) -> Result<&'a str, String> {
    let texts: Vec<&str> = values
        .iter()
        .map(|values| values.get(name).text.as_str())
        .collect();
    let program = |number: usize| {
        let command = options.programs[number].command.to_string_lossy();
        format!("`{}` for program {number} ({command})", texts[number])
    };
    match texts.iter().position(|text| *text != texts[0]) {
        None => Ok(texts[0]),
        Some(other) => Err(format!(
            "{name} is {} and {}, but counts for the whole job: set it once, by -genv",
            program(0),
            program(other)
        )),
    }
}

/// All settings of each program, as the environment of this process, the variables for its ranks and `--mca` give them.
fn settings(options: &Options) -> Result<Vec<Values>, String> {
    let mut sources = Sources::of_process().map_err(|bad| bad.to_string())?;
    sources
        .command_line
        .extend(options.settings.iter().map(|(name, value)| Assignment {
            option: "--mca".into(),
            product: Some(Product::OpenMpi),
            name: name.clone(),
            value: value.clone(),
        }));
    let of_program = |program: &Program| {
        let mut sources = sources.clone();
        for (name, value) in options.env.iter().chain(&program.env) {
            if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
                sources.environment.retain(|(before, _)| before != name);
                sources.environment.push((name.into(), value.into()));
            }
        }
        resolve(TABLE, &sources).map_err(|bad| bad.to_string())
    };
    options.programs.iter().map(of_program).collect()
}
