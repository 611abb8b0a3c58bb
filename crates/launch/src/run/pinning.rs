//! The placement of ranks on this machine, by the pinning settings and `oxmpi-pin`.

use std::ffi::OsString;
use std::time::Duration;

use oxmpi_os::affinity;
use oxmpi_pin::openmpi::Report;
use oxmpi_pin::{
    PerHost, Placement, SETTINGS, Warning, WarningCode, conflicts, omp_threads, place,
};
use oxmpi_settings::{Assignment, Origin, SettingValue, Sources, TABLE, Values, resolve, seconds};
use oxmpi_text::Product;
use oxmpi_topo::{CpuSet, Machine};

use super::openmp;
use super::options::Options;
use crate::machine;

/// The ranks of a job on the processors of this machine.
#[derive(Debug)]
pub(crate) struct Pinning {
    machine: Machine,
    placement: Placement,
    /// Variables that pass the settings of the command line to the ranks.
    pub(crate) typed: Vec<(OsString, OsString)>,
    /// Threads of each rank from a setting that OpenMP runtimes do not read.
    threads: Option<String>,
    /// Ranks per virtual host.
    pub(crate) per_host: u32,
    /// How long ranks have to end after a request.
    pub(crate) kill_timeout: Duration,
    /// Warnings, one sentence each.
    pub(crate) warnings: Vec<String>,
}

impl Pinning {
    /// Places `ranks` ranks by settings and options, on the processors in `inherited`.
    ///
    /// # Errors
    /// A wrong setting, with a caret; a file of this machine that cannot be read.
    pub(crate) fn new(options: &Options, inherited: &CpuSet, ranks: u32) -> Result<Self, String> {
        let mut values = settings(options)?;
        let wanted = match &options.mapping {
            None => values.pinning(),
            Some(mapping) => mapping.clone().into(),
        };
        let has_caches = wanted.needs_caches() || openmp::is_any_set(options);
        let machine = machine::local(has_caches)?;
        if let Some(mapping) = &options.mapping {
            let checked = mapping.check(&machine);
            checked.map_err(|wrong| wrong.to_string())?;
        }
        let placement = place(&machine, &wanted, Some(inherited), ranks);
        let threads = values.pinning().omp_threads;
        let is_intended = |warning: &Warning| {
            options.oversubscribe == Some(true) && warning.code == WarningCode::ProcessorShared
        };
        let found = conflicts(&machine, &placement, |_| threads);
        let found = found.into_iter().filter(|warning| !is_intended(warning));
        let mut warnings = std::mem::take(&mut values.warnings);
        if let Some(mapping) = &options.mapping {
            let given = given(&values).map(|value| value.origin.to_string());
            let ignored = given.map(|name| Warning::overridden(&name, mapping.option()).text);
            warnings.extend(ignored);
        }
        let all = placement.warnings.iter().cloned().chain(found);
        warnings.extend(all.map(|warning| warning.text));
        let typed = values
            .exports()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let per_host = options.ranks_per_host.map_or_else(
            || {
                values
                    .get("perhost")
                    .text
                    .parse()
                    .map(|each: PerHost| each.ranks(&machine))
            },
            Ok,
        );
        Ok(Self {
            kill_timeout: seconds(&values.get("kill_timeout").text)
                .map_err(|error| format!("kill_timeout: {error}"))?,
            per_host: per_host.map_err(|error| format!("perhost: {error}"))?,
            machine,
            placement,
            typed,
            threads: threads_of_ours(&values),
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
        let all = openmp::exports(&self.machine, options, self.threads.as_deref(), ranks);
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

/// All settings, as the environment of this process, the variables for ranks and `--mca` give them.
fn settings(options: &Options) -> Result<Values, String> {
    let mut sources = Sources::of_process().map_err(|bad| bad.to_string())?;
    let for_ranks = options
        .env
        .iter()
        .chain(options.programs.iter().flat_map(|program| &program.env));
    for (name, value) in for_ranks {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
            sources.environment.retain(|(before, _)| before != name);
            sources.environment.push((name.into(), value.into()));
        }
    }
    sources
        .command_line
        .extend(options.settings.iter().map(|(name, value)| Assignment {
            option: "--mca".into(),
            product: Some(Product::OpenMpi),
            name: name.clone(),
            value: value.clone(),
        }));
    resolve(TABLE, &sources).map_err(|bad| bad.to_string())
}
