//! Debian's Open MPI and perftest in guests, where they measure the device that we do.

use super::apt::Apt;
use super::host::{Host, Lacking};
use crate::{Repo, Result};
use std::path::{Path, PathBuf};
use xshell::cmd;

/// The packages: the command and what it loads, libfabric, what programs are compiled with, and perftest. What else they need
/// is on a machine that boots guests with RDMA.
const PACKAGES: [&str; 18] = [
    "openmpi-bin",
    "openmpi-common",
    "libopenmpi3",
    "libopenmpi-dev",
    "libucx0",
    "libpmix2",
    "libmunge2",
    "libevent-core-2.1-7",
    "libevent-pthreads-2.1-7",
    "libhwloc15",
    "libfabric1",
    "libpsm-infinipath1",
    "libpsm2-2",
    "libatomic1",
    "libnuma1",
    "ibverbs-providers",
    "perftest",
    "libpci3",
];

/// What guests have no use for: documents, and what names the providers of all devices.
const LEFT_OUT: [&str; 6] = [
    "usr/share/doc",
    "usr/share/man",
    "usr/share/lintian",
    "usr/share/doc-base",
    "usr/share/bug",
    "etc/libibverbs.d",
];

/// The unpacked packages.
pub(crate) struct OpenMpi {
    /// What guests find at `/`.
    pub(crate) tree: PathBuf,
    /// Its headers, which guests do not need.
    include: PathBuf,
}

impl Host {
    /// Downloads and unpacks the packages, once.
    ///
    /// # Errors
    /// When apt cannot.
    pub(crate) fn equip_open_mpi(&self, repo: &Repo) -> std::result::Result<OpenMpi, Lacking> {
        let folder = self.cache.join("open_mpi");
        let unpacked = OpenMpi {
            tree: folder.join("tree"),
            include: folder.join("include"),
        };
        if !unpacked.include.exists() {
            self.with_apt(|| unpacked.unpack(repo, self))?;
        }
        Ok(unpacked)
    }
}

impl OpenMpi {
    fn unpack(&self, repo: &Repo, host: &Host) -> Result {
        let sh = &repo.shell;
        sh.remove_path(&self.tree)?;
        sh.create_dir(&self.tree)?;
        let apt = Apt::open(repo, host.cache.join("apt"))?;
        for package in PACKAGES {
            apt.unpack(repo, package, &self.tree)?;
        }
        for folder in LEFT_OUT {
            sh.remove_path(self.tree.join(folder))?;
        }
        let libraries = self.libraries();
        // Where its package is installed, a link has this name.
        let psm = self.tree.join("usr/lib/libpsm1/libpsm_infinipath.so.1.16");
        sh.copy_file(psm, libraries.join("libpsm_infinipath.so.1"))?;
        // The headers come last: they say that all is there.
        for file in sh.read_dir(&libraries)? {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let other = ["fortran", "mpifh", "usempi", "java", "oshmem"];
            if other.iter().any(|other| name.contains(other)) {
                sh.remove_path(&file)?;
            }
        }
        let include = libraries.join("openmpi/include");
        Ok(std::fs::rename(include, &self.include)?)
    }

    fn libraries(&self) -> PathBuf {
        let arch = std::env::consts::ARCH;
        self.tree.join(format!("usr/lib/{arch}-linux-gnu"))
    }

    /// Compiles a C program, which guests find by this name in their folder.
    ///
    /// # Errors
    /// When the compiler refuses.
    pub(crate) fn compile(&self, repo: &Repo, source: &Path, defined: &str, name: &str) -> Result {
        let folder = repo.shell.create_dir(self.tree.join("job"))?;
        let to = folder.join(name);
        let (include, libraries) = (&self.include, self.libraries());
        let link = [
            "-Wl,--allow-shlib-undefined",
            "-Wl,--as-needed",
            "-l:libmpi.so.40",
        ];
        Ok(cmd!(
            repo.shell,
            "cc -O2 {defined} -I{include} -o {to} {source} -L{libraries} {link...}"
        )
        .run()?)
    }
}
