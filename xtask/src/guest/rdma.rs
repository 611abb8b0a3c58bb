//! RDMA in guests: soft-RoCE's kernel modules, its provider and tools.

use super::apt::Apt;
use super::host::{Host, Lacking, which};
use super::kernel::RDMA;
use crate::{Repo, Result};
use std::path::{Path, PathBuf};

/// Files of Debian's packages, installed as they must fit the machine's libibverbs: a file, and its package.
const FILES: [(&str, &str); 3] = [
    ("/usr/bin/ibv_rc_pingpong", "ibverbs-utils"),
    (DRIVER, "ibverbs-providers"),
    (HEADER, "libibverbs-dev"),
];

/// The file by which libibverbs finds rxe's provider.
const DRIVER: &str = "/etc/libibverbs.d/rxe.driver";

/// The C header of libibverbs.
const HEADER: &str = "/usr/include/infiniband/verbs.h";

/// What guests with RDMA are made of, beside what all guests are.
pub(crate) struct RdmaParts {
    /// Modules and tools: files of a job.
    pub(crate) files: Vec<PathBuf>,
    /// The provider, and what names it, each with its path in a guest.
    pub(crate) placed: Vec<(PathBuf, String)>,
    /// Names of the modules, in load order.
    pub(crate) modules: &'static [&'static str],
}

impl Host {
    /// Finds the parts of RDMA, and installs what is missing, which only root may do.
    ///
    /// # Errors
    /// What is missing, and why.
    pub(crate) fn equip_rdma(&self, repo: &Repo) -> std::result::Result<RdmaParts, Lacking> {
        let missing = FILES.iter().filter(|(file, _)| !Path::new(file).exists());
        let missing: Vec<_> = missing.map(|(_, package)| *package).collect();
        if !missing.is_empty() {
            self.with_apt(|| {
                Apt::may_install(repo, &missing)?;
                let apt = Apt::open(repo, self.cache.join("apt"))?;
                let install = |package: &&str| apt.install(repo, package, false);
                missing.iter().try_for_each(install)
            })?;
        }
        let found = self.rdma_parts();
        found.map_err(|error| Lacking::Package(format!("no RDMA in guests: {error}")))
    }

    fn rdma_parts(&self) -> Result<RdmaParts> {
        let mut files: Vec<_> = RDMA.iter().map(|name| self.module(name)).collect();
        for tool in ["ip", "rdma", "setpriv", "ibv_rc_pingpong"] {
            files.push(which(tool).ok_or_else(|| format!("no {tool} on the path"))?);
        }
        let provider = provider()?;
        let inside = provider.display().to_string();
        Ok(RdmaParts {
            files,
            placed: vec![(provider, inside), (DRIVER.into(), DRIVER.into())],
            modules: RDMA,
        })
    }
}

/// The library of rxe's provider, whose name ends with the version of its interface.
fn provider() -> Result<PathBuf> {
    let folder = format!("/usr/lib/{}-linux-gnu/libibverbs", std::env::consts::ARCH);
    let is_rxe = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("librxe-rdmav") && name.ends_with(".so")
    };
    let found = std::fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found = found.filter(is_rxe);
    Ok(found
        .next()
        .ok_or_else(|| format!("no librxe-rdmav*.so in {folder}"))?)
}
