//! Reads this machine as far as the placement of ranks needs, to keep the start of a job short.

use oxmpi_topo::linux::{Files, Root};
use oxmpi_topo::{Machine, Source};

use crate::{diagnostics, topo};

/// Reads this machine for a job. Caches are read only with `has_caches`, devices only if an RDMA device exists. Prints
/// the notes of another source than /proc and /sys.
///
/// # Errors
/// A sentence with the name of the file.
pub(crate) fn local(has_caches: bool) -> Result<Machine, String> {
    let machine = topo::read(&PlacementFiles::new(Root::live(), has_caches))?;
    if machine.source() != Source::Linux {
        machine.notes().for_each(diagnostics::error);
    }
    Ok(machine)
}

/// The files of this machine without those that the placement of ranks does not need, which are most.
struct PlacementFiles {
    root: Root,
    /// Whether caches are read.
    caches: bool,
    /// Whether devices are read: only RDMA devices move ranks.
    devices: bool,
}

impl PlacementFiles {
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

impl Files for PlacementFiles {
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
    use oxmpi_testkit::folder::Folder;

    use super::*;

    #[test]
    fn this_machine_is_read_without_its_caches() {
        let whole = Machine::this().expect("this machine");
        let read = |caches| Machine::from_linux(&PlacementFiles::new(Root::live(), caches));
        let machine = read(false).expect("this machine");
        assert_eq!(machine.online(), whole.online());
        assert!(machine.iter().all(|object| object.cache().is_none()));
        let caches = |machine: &Machine| machine.iter().filter_map(|object| object.cache()).count();
        assert_eq!(caches(&read(true).expect("this machine")), caches(&whole));
    }

    #[test]
    fn devices_are_read_if_one_is_an_rdma_device() {
        let own = Folder::fresh();
        let folder = own.path();
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
        let machine = Machine::from_linux(&PlacementFiles::new(Root::new(folder), false));
        let kinds: Vec<_> = machine
            .expect("a machine")
            .devices()
            .map(|device| device.kind())
            .collect();
        assert!(kinds.contains(&oxmpi_topo::DeviceKind::Rdma), "{kinds:?}");
    }
}
