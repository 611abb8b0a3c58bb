//! Where ranks run: the settings of pinning, this machine, and what `oxmpi-pin` makes of both.

use std::ffi::OsString;

use oxmpi::settings::{Assignment, Sources, TABLE, Values, resolve};
use oxmpi_os::affinity;
use oxmpi_pin::openmpi::Report;
use oxmpi_pin::{Placement, Warning, WarningCode, conflicts, place};
use oxmpi_text::Product;
use oxmpi_topo::linux::{Files, Root};
use oxmpi_topo::{CpuSet, Machine};

use super::options::Options;

/// The ranks of a job on the processors of this machine.
#[derive(Debug)]
pub(crate) struct Pinning {
    machine: Machine,
    placement: Placement,
    /// Variables that give ranks the settings typed on the command line.
    pub(crate) typed: Vec<(OsString, OsString)>,
    /// What the user should know, a sentence each.
    pub(crate) warnings: Vec<String>,
}

impl Pinning {
    /// Places `ranks` ranks as settings and options ask, on the processors in `inherited`.
    ///
    /// # Errors
    /// A setting that is not understood, with a caret; a file of this machine that does not read.
    pub(crate) fn new(options: &Options, inherited: &CpuSet, ranks: u32) -> Result<Self, String> {
        let mut values = settings(options)?;
        let wanted = match &options.mapping {
            None => values.pinning(),
            Some(mapping) => mapping.clone().into(),
        };
        let root = Root::live();
        let machine = match wanted.needs_caches() {
            true => Machine::from_linux(&root),
            false => Machine::from_linux(&WithoutCaches(root)),
        };
        let machine = machine.map_err(|error| format!("cannot read this machine: {error}"))?;
        if let Some(mapping) = &options.mapping {
            let checked = mapping.check(&machine);
            checked.map_err(|unknown| format!("--cpu-set: {unknown}"))?;
        }
        let placement = place(&machine, &wanted, Some(inherited), ranks);
        let threads = values.pinning().omp_threads;
        let meant = |warning: &Warning| {
            options.oversubscribe && warning.code == WarningCode::ProcessorShared
        };
        let found = conflicts(&machine, &placement, threads);
        let found = found.into_iter().filter(|warning| !meant(warning));
        let mut warnings = std::mem::take(&mut values.warnings);
        let told = placement.warnings.iter().cloned().chain(found);
        warnings.extend(told.map(|warning| warning.text));
        let typed = values
            .exports()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Ok(Self {
            machine,
            placement,
            typed,
            warnings,
        })
    }

    /// The mask of a rank; `None`: it may use all that this process may.
    pub(crate) fn mask(&self, rank: u32) -> Option<Vec<u64>> {
        self.placement
            .is_pinned()
            .then(|| affinity::mask(self.cpus(rank).iter()))
    }

    /// The processors of a rank.
    pub(crate) fn cpus(&self, rank: u32) -> &CpuSet {
        &self.placement.ranks[rank as usize].cpus
    }

    /// Why ranks are where they are.
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

/// This machine's files but for caches, for settings that do not ask for them: they are most files, and a job should
/// start fast.
struct WithoutCaches(Root);

impl Files for WithoutCaches {
    fn read(&self, path: &str) -> Option<String> {
        if path.contains("/cache/") {
            None
        } else {
            self.0.read(path)
        }
    }

    fn list(&self, path: &str) -> Vec<String> {
        if path.ends_with("/cache") {
            Vec::new()
        } else {
            self.0.list(path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_read_without_its_caches() {
        let whole = Machine::this().expect("this machine");
        let machine = Machine::from_linux(&WithoutCaches(Root::live())).expect("this machine");
        assert_eq!(machine.online(), whole.online());
        assert!(machine.iter().all(|object| object.cache().is_none()));
    }
}
