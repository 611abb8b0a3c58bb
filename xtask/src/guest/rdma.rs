//! RDMA in guests: the kernel modules, providers and tools of soft-RoCE and soft-iWARP.

use super::apt::Apt;
use super::host::{Host, Lacking, which};
use super::kernel::RDMA;
use crate::{Repo, Result};
use std::path::{Path, PathBuf};

/// Files of Debian's packages, installed as they must fit the machine's libibverbs: a file, and its package.
const FILES: [(&str, &str); 4] = [
    ("/usr/bin/ibv_rc_pingpong", "ibverbs-utils"),
    ("/etc/libibverbs.d/rxe.driver", "ibverbs-providers"),
    ("/usr/include/infiniband/verbs.h", "libibverbs-dev"),
    // Brings librdmacm along.
    ("/usr/include/rdma/rdma_cma.h", "librdmacm-dev"),
];

/// The devices by the names of their providers.
const PROVIDERS: [&str; 2] = ["rxe", "siw"];

/// What guests with RDMA are made of, beside what all guests are.
pub(crate) struct RdmaParts {
    /// Modules and tools: files of a job.
    pub(crate) files: Vec<PathBuf>,
    /// Providers, what names them, and librdmacm, each with its path in a guest.
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
        let mut placed = Vec::new();
        for name in PROVIDERS {
            placed.push(library(&format!("libibverbs/lib{name}-rdmav"))?);
            placed.push(format!("/etc/libibverbs.d/{name}.driver").into());
        }
        placed.push(library("librdmacm.so.1")?);
        let inside = |path: PathBuf| {
            let inside = path.display().to_string();
            (path, inside)
        };
        Ok(RdmaParts {
            files,
            placed: placed.into_iter().map(inside).collect(),
            modules: RDMA,
        })
    }
}

/// The first library whose path below the libraries of this machine begins with `start`: those of providers end with
/// the version of an interface.
fn library(start: &str) -> Result<PathBuf> {
    let start = format!("/usr/lib/{}-linux-gnu/{start}", std::env::consts::ARCH);
    let folder = Path::new(&start).parent().unwrap_or(Path::new("/"));
    let found = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found = found.filter(|path| path.display().to_string().starts_with(&start));
    Ok(found.next().ok_or_else(|| format!("no {start}*"))?)
}
