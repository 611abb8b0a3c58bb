//! The host side of guests: the kernel, programs and files that guests need, found or installed.

use super::apt::Apt;
use super::kernel;
use crate::steps::StepOutcome;
use crate::{Repo, Result};
use std::path::{Path, PathBuf};
use xshell::cmd;

/// The parts that guests are made of, on this host.
pub(crate) struct Host {
    /// The kernel, uncompressed.
    pub(super) kernel: PathBuf,
    /// A statically linked busybox: the guests' shell and tools.
    pub(super) busybox: PathBuf,
    /// LLVM's OpenMP runtime, for programs in guests.
    pub(crate) libomp: PathBuf,
    /// The folder of all that is kept.
    pub(super) cache: PathBuf,
}

/// Why this host cannot boot guests.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Lacking {
    /// A missing package, which apt could install.
    #[error("{0}")]
    Package(String),
    /// A property of the host that cannot be changed.
    #[error("{0}")]
    Kind(String),
}

impl From<Lacking> for StepOutcome {
    fn from(lacking: Lacking) -> StepOutcome {
        match lacking {
            Lacking::Package(why) => StepOutcome::Skipped(why),
            Lacking::Kind(why) => StepOutcome::Absent(why),
        }
    }
}

/// A program that is installed when missing.
struct Program {
    name: &'static str,
    package: &'static str,
    /// The minimum version, where a release may have an older one.
    least: Option<u32>,
}

const fn program(name: &'static str, package: &'static str, least: Option<u32>) -> Program {
    Program {
        name,
        package,
        least,
    }
}

const PROGRAMS: [Program; 4] = [
    // QEMU 10 is the first version in which two cores can share a cache.
    program("qemu-system-x86_64", "qemu-system-x86", Some(10)),
    program("lstopo-no-graphics", "hwloc-nox", None),
    program("xz", "xz-utils", None),
    program("tc", "iproute2", None),
];

impl Host {
    /// Finds the parts that are here, and downloads or installs the others.
    ///
    /// The kernel and busybox are kept under `target/xtask/guest`; apt installs programs, which only root
    /// may do.
    ///
    /// # Errors
    /// What is missing, and why.
    pub(crate) fn equip(repo: &Repo) -> std::result::Result<Host, Lacking> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            let why = "guests run this host's programs, and are x86-64 machines under Linux";
            return Err(Lacking::Kind(why.into()));
        }
        let cache = repo.root.join("target/xtask/guest");
        let host = Host {
            kernel: cache.join("vmlinux"),
            busybox: cache.join("busybox"),
            libomp: cache.join("libomp.so.5"),
            cache,
        };
        let missing: Vec<_> = PROGRAMS
            .iter()
            .filter(|program| !program.is_here(repo))
            .collect();
        let kept = [&host.busybox, &host.libomp];
        if missing.is_empty() && host.has_kernel() && kept.iter().all(|path| path.exists()) {
            return Ok(host);
        }
        host.with_apt(|| host.complete(repo, &missing))?;
        Ok(host)
    }

    /// Does `work`, which needs apt.
    pub(super) fn with_apt(
        &self,
        work: impl FnOnce() -> Result,
    ) -> std::result::Result<(), Lacking> {
        if !on_path("apt-get") || !on_path("dpkg-deb") {
            let why = "guests are made of Debian's packages, and there is no apt here";
            return Err(Lacking::Kind(why.into()));
        }
        work().map_err(|error| Lacking::Package(format!("no guests: {error}")))
    }

    /// The path of a module of the kernel, one of [`kernel::MODULES`].
    pub(crate) fn module(&self, name: &str) -> PathBuf {
        self.cache.join(format!("{name}.ko"))
    }

    fn has_kernel(&self) -> bool {
        let has_module = |name: &&str| self.module(name).exists();
        self.kernel.exists() && kernel::MODULES.iter().all(has_module)
    }

    fn complete(&self, repo: &Repo, missing: &[&Program]) -> Result {
        let packages: Vec<_> = missing.iter().map(|program| program.package).collect();
        Apt::may_install(repo, &packages)?;
        let apt = Apt::open(repo, self.cache.join("apt"))?;
        for program in missing {
            apt.install(repo, program.package, program.least.is_some())?;
            if !program.is_here(repo) {
                return Err(program.too_old().into());
            }
        }
        if !self.has_kernel() {
            // All from one package: a kernel loads no modules of another.
            let kernel = kernel::fetch(repo, &apt)?;
            for (name, bytes) in kernel::MODULES.iter().zip(&kernel.modules) {
                keep(repo, &self.module(name), bytes)?;
            }
            keep(repo, &self.kernel, &kernel.image)?;
        }
        if !self.busybox.exists() {
            let busybox = apt.file(repo, "busybox-static", "./bin/busybox")?;
            keep(repo, &self.busybox, &busybox)?;
        }
        if !self.libomp.exists() {
            let libomp = apt.file(repo, "libomp5-14", "./usr/lib/llvm-14/lib/libomp.so.5")?;
            keep(repo, &self.libomp, &libomp)?;
        }
        Ok(())
    }
}

impl Program {
    /// Whether the program is on the path, in a sufficient version.
    fn is_here(&self, repo: &Repo) -> bool {
        let sh = &repo.shell;
        let name = self.name;
        let new_enough = |least| {
            let said = cmd!(sh, "{name} --version").quiet().read();
            said.is_ok_and(|said| major(&said).is_some_and(|version| version >= least))
        };
        on_path(name) && self.least.is_none_or(new_enough)
    }

    fn too_old(&self) -> String {
        let least = self.least.map_or(String::new(), |least| {
            format!(" of version {least} or later")
        });
        format!("{} gives no {}{least}", self.package, self.name)
    }
}

/// The major version in a program's version line: 10 of `... version 10.0.2 ...`.
fn major(said: &str) -> Option<u32> {
    let version = said.split("version ").nth(1)?;
    version
        .split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

/// Writes a file atomically: an interrupted run leaves the whole file or none.
pub(super) fn keep(repo: &Repo, path: &Path, bytes: &[u8]) -> Result {
    let new = path.with_extension("new");
    repo.shell.write_file(&new, bytes)?;
    Ok(std::fs::rename(new, path)?)
}

fn on_path(program: &str) -> bool {
    which(program).is_some()
}

/// The path of the program that a shell would start.
pub(crate) fn which(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    //! Tests of the version parser.

    use super::major;

    #[test]
    fn a_version_begins_with_its_major_number() {
        let debian = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\nCopyright";
        assert_eq!(major(debian), Some(7));
        assert_eq!(major("QEMU emulator version 10.0.2"), Some(10));
        assert_eq!(major("QEMU emulator"), None);
        assert_eq!(major("version next"), None);
    }
}
