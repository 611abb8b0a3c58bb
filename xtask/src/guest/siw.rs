//! Soft-iWARP's kernel module, built from Debian's sources: Debian's kernel leaves it out.

use super::apt::Apt;
use super::host::{Host, Lacking, keep};
use super::kernel::version;
use crate::{Repo, Result};
use std::path::PathBuf;
use xshell::cmd;

/// Where the module is in the kernel's sources.
const SOURCE: &str = "drivers/infiniband/sw/siw";

impl Host {
    /// The module, built for the kernel of guests, which is kept beside it.
    ///
    /// # Errors
    /// What is missing, and why.
    pub(crate) fn equip_siw(&self, repo: &Repo) -> std::result::Result<PathBuf, Lacking> {
        let module = self.module("siw");
        let modules = [&module, &self.module("ib_core")];
        let versions = modules.map(|path| {
            let bytes = std::fs::read(path).unwrap_or_default();
            version(&bytes).map(str::to_owned)
        });
        let [built, wanted] = versions;
        if built.is_none() || built != wanted {
            let wanted = wanted.ok_or_else(|| Lacking::Package("no kernel for guests".into()))?;
            self.with_apt(|| self.build_siw(repo, &wanted))?;
        }
        Ok(module)
    }

    fn build_siw(&self, repo: &Repo, version: &str) -> Result {
        let sh = &repo.shell;
        let apt = Apt::open(repo, self.cache.join("apt"))?;
        let folder = self.cache.join("siw");
        sh.remove_path(&folder)?;
        let headers = format!("linux-headers-{version}");
        for prefix in ["linux-headers-", "linux-kbuild-"] {
            let package = apt.dependency(repo, &headers, prefix)?;
            apt.unpack(repo, &package, &folder)?;
        }
        apt.unpack(repo, &headers, &folder)?;
        let headers = folder.join("usr/src").join(&headers);
        // It names the folders in which the packages would be installed.
        let (makefile, from) = (headers.join("Makefile"), "/usr/src/linux-headers");
        let text = sh.read_file(&makefile)?;
        let here = format!("{}{from}", folder.display());
        sh.write_file(&makefile, text.replace(from, &here))?;

        let series = version.split(['.', '-']).take(2).collect::<Vec<_>>();
        let sources = format!("linux-source-{}", series.join("."));
        apt.unpack(repo, &sources, &folder)?;
        let archive = folder.join(format!("usr/src/{sources}.tar.xz"));
        let (inside, into) = (format!("{sources}/{SOURCE}"), folder.join("source"));
        sh.create_dir(&into)?;
        cmd!(
            sh,
            "tar --extract --xz --file {archive} --directory {into} {inside}"
        )
        .run()?;
        let source = into.join(inside);
        // The types of a whole kernel (BTF) are not here.
        let options = ["CONFIG_RDMA_SIW=m", "CONFIG_DEBUG_INFO_BTF_MODULES="];
        cmd!(
            sh,
            "make --silent -C {headers} M={source} {options...} modules"
        )
        .run()?;
        let (built, bare) = (source.join("siw.ko"), folder.join("siw.ko"));
        cmd!(sh, "strip --strip-debug -o {bare} {built}").run()?;
        keep(repo, &self.module("siw"), &sh.read_binary_file(&bare)?)?;
        Ok(sh.remove_path(&folder)?)
    }
}
