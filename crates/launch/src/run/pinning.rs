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
        let machine = Machine::from_linux(&Needed::new(Root::live(), wanted.needs_caches()));
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

/// This machine's files but for those that placing does not ask for, which are most: a job should start fast.
struct Needed {
    root: Root,
    /// Whether a setting speaks of caches.
    caches: bool,
    /// Whether there is an RDMA device, the only ones that ranks move to.
    devices: bool,
}

impl Needed {
    fn new(root: Root, caches: bool) -> Self {
        let devices = !root.list("/sys/class/infiniband").is_empty();
        Self {
            root,
            caches,
            devices,
        }
    }

    fn has(&self, path: &str) -> bool {
        let is_of_cache = path.contains("/cache/") || path.ends_with("/cache");
        let is_of_device = path.starts_with("/sys/bus/") || path.starts_with("/sys/class/");
        (self.caches || !is_of_cache) && (self.devices || !is_of_device)
    }
}

impl Files for Needed {
    fn read(&self, path: &str) -> Option<String> {
        self.has(path).then(|| self.root.read(path)).flatten()
    }

    fn list(&self, path: &str) -> Vec<String> {
        match self.has(path) {
            true => self.root.list(path),
            false => Vec::new(),
        }
    }

    fn bytes(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        self.has(path)
            .then(|| self.root.bytes(path, most))
            .flatten()
    }

    fn link(&self, path: &str) -> Option<String> {
        self.has(path).then(|| self.root.link(path)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_read_without_its_caches() {
        let whole = Machine::this().expect("this machine");
        let read = |caches| Machine::from_linux(&Needed::new(Root::live(), caches));
        let machine = read(false).expect("this machine");
        assert_eq!(machine.online(), whole.online());
        assert!(machine.iter().all(|object| object.cache().is_none()));
        let caches = |machine: &Machine| machine.iter().filter_map(|object| object.cache()).count();
        assert_eq!(caches(&read(true).expect("this machine")), caches(&whole));
    }

    #[test]
    fn devices_are_read_where_one_is_for_rdma() {
        let folder = std::env::temp_dir().join(format!("oxmpi-needed-{}", std::process::id()));
        let function = folder.join("sys/devices/pci0000:00/0000:00:03.0");
        let file = |name: &str, text: &str| std::fs::write(function.join(name), text);
        let all = || -> std::io::Result<()> {
            std::fs::create_dir_all(function.join("infiniband/mlx5_0"))?;
            file("class", "0x020700\n")?;
            file("local_cpus", "1\n")?;
            for (from, to) in [
                ("sys/bus/pci/devices/0000:00:03.0", &function),
                (
                    "sys/class/infiniband/mlx5_0",
                    &function.join("infiniband/mlx5_0"),
                ),
            ] {
                let from = folder.join(from);
                std::fs::create_dir_all(from.parent().expect("a folder"))?;
                std::os::unix::fs::symlink(to, from)?;
            }
            std::os::unix::fs::symlink("../..", function.join("infiniband/mlx5_0/device"))
        };
        all().expect("a folder for the test");
        let machine = Machine::from_linux(&Needed::new(Root::new(&folder), false));
        let kinds: Vec<_> = machine
            .expect("a machine")
            .devices()
            .map(|device| device.kind())
            .collect();
        std::fs::remove_dir_all(&folder).expect("the folder of the test");
        assert!(kinds.contains(&oxmpi_topo::DeviceKind::Rdma), "{kinds:?}");
    }
}
