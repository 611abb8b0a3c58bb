//! Debian packages, unpacked into a folder, so that nothing is installed on this machine.

use crate::{Repo, Result};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// The packages that the checks need; their dependencies come along.
const PACKAGES: [&str; 7] = [
    "mpich",
    "munge",
    "slurm-client",
    "slurmctld",
    "slurmd",
    "libpmix2",
    "libpmix-dev",
];

/// Mounts the unpacked files over `/usr` for one command only.
const OVERLAY: &str = "mount -t overlay overlay -o \"lowerdir=$0/usr:/usr\" /usr && exec \"$@\"";

/// The unpacked packages.
pub(super) struct Debian {
    /// The folder that stands for `/`.
    pub(super) root: PathBuf,
}

impl Debian {
    /// Downloads and unpacks the packages that are not installed, once.
    pub(super) fn unpack(repo: &Repo) -> Result<Debian> {
        let sh = &repo.shell;
        let files = match wanted(repo) {
            Ok(files) => files,
            Err(_) => {
                cmd!(sh, "apt-get update -qq").quiet().run()?;
                wanted(repo)?
            }
        };
        let folder = repo.root.join("target/managers");
        let (root, list) = (folder.join("root"), folder.join("unpacked"));
        if std::fs::read_to_string(&list).is_ok_and(|unpacked| unpacked == files) {
            return Ok(Debian { root });
        }
        sh.remove_path(&folder)?;
        sh.create_dir(root.join("usr"))?;
        let fetched = sh.create_dir(folder.join("fetched"))?;
        let _there = sh.push_dir(&fetched);
        let names: Vec<&str> = files
            .lines()
            .filter_map(|file| file.split('_').next())
            .collect();
        if !names.is_empty() {
            let user = "APT::Sandbox::User=root";
            cmd!(sh, "apt-get download -qq -o {user} {names...}")
                .quiet()
                .run()?;
        }
        for package in sh.read_dir(&fetched)? {
            cmd!(sh, "dpkg -x {package} {root}").quiet().run()?;
        }
        sh.write_file(list, files)?;
        Ok(Debian { root })
    }

    /// The prefix of a command that lets it see the packages as installed.
    pub(super) fn inside(&self) -> Result<Vec<OsString>> {
        let mut words: Vec<OsString> = vec!["unshare".into()];
        if !is_root()? {
            words.push("--map-root-user".into());
        }
        words.extend(["--mount", "sh", "-c", OVERLAY].map(Into::into));
        words.push(self.root.clone().into());
        Ok(words)
    }

    /// The folder of the packages' libraries.
    pub(super) fn libraries(&self) -> PathBuf {
        self.root.join("usr/lib/x86_64-linux-gnu")
    }
}

/// Whether this process may mount without a user namespace.
pub(super) fn is_root() -> Result<bool> {
    Ok(Path::new("/proc/self").metadata()?.uid() == 0)
}

/// The download addresses of the packages that are not installed, one a line.
fn wanted(repo: &Repo) -> Result<String> {
    let sh = &repo.shell;
    let packages = PACKAGES;
    let said = cmd!(
        sh,
        "apt-get install --print-uris -qq -y --no-install-recommends {packages...}"
    )
    .quiet()
    .ignore_stderr()
    .read()?;
    let file = |line: &str| line.split(' ').nth(1).map(|file| format!("{file}\n"));
    Ok(said
        .lines()
        .filter(|line| line.starts_with('\''))
        .filter_map(file)
        .collect())
}
