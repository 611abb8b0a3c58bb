//! Runs programs of other MPI libraries under `oxmpi run`, which serves PMI-1.
//!
//! MPICH, Debian's MPICH and Intel MPI share a binary interface, so one program serves all three.

use super::debian::Debian;
use super::launcher::{Launcher, Programs};
use super::{Missing, Result};
use crate::Repo;
use crate::compare::peers::{self, INTEL, MPICH};
use crate::tally::Tally;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// The MPI program that makes every request to its process manager.
const GUEST: &str = include_str!("guest.c");

/// The program with MPICH from PyPI.
pub(super) fn mpich(repo: &Repo, programs: &Programs) -> Result<Tally> {
    let folder = installed(repo)?;
    let libraries = vec![("LD_LIBRARY_PATH", folder.join("lib").into())];
    run(repo, programs, "MPICH", libraries)
}

/// The program with Debian's MPICH.
pub(super) fn debian(repo: &Repo, debian: &Debian, programs: &Programs) -> Result<Tally> {
    // Debian names the library's file differently.
    let folder = repo.scratch("mpich-debian")?;
    let library = debian.libraries().join("libmpich.so.12");
    std::os::unix::fs::symlink(library, folder.join("libmpi.so.12"))?;
    let path = [folder, debian.libraries()].map(|folder| folder.display().to_string());
    let libraries = vec![("LD_LIBRARY_PATH", path.join(":").into())];
    run(repo, programs, "Debian's MPICH", libraries)
}

/// The program with Intel MPI.
pub(super) fn intel(repo: &Repo, programs: &Programs) -> Result<Tally> {
    let folder = peers::install(repo, &INTEL).map_err(|error| Missing(error.to_string()))?;
    let libraries = vec![
        ("LD_LIBRARY_PATH", folder.join("lib").into()),
        ("I_MPI_ROOT", folder.into()),
        ("I_MPI_FABRICS", "shm".into()),
    ];
    run(repo, programs, "Intel MPI", libraries)
}

fn installed(repo: &Repo) -> Result<PathBuf> {
    let folder = peers::install(repo, &MPICH);
    folder.map_err(|error| Missing(error.to_string()).into())
}

fn run(
    repo: &Repo,
    programs: &Programs,
    name: &'static str,
    environment: Vec<(&'static str, OsString)>,
) -> Result<Tally> {
    let guest = guest(repo)?;
    let mut words = vec![OsString::from(&programs.oxmpi)];
    words.extend(["run", "--oversubscribe"].map(Into::into));
    let launcher = Launcher {
        name,
        words,
        environment,
    };
    let mut tally = Tally::default();
    for size in [1, 2, 4] {
        let said = launcher.run(size, &[guest.clone().into()])?;
        if !said.contains(&format!("{size} ranks: all is well")) {
            return Err(format!("{name}, {size} ranks:\n{said}").into());
        }
        tally += Tally::ONE;
    }
    Ok(tally)
}

/// The program, compiled by MPICH's compiler.
fn guest(repo: &Repo) -> Result<PathBuf> {
    let sh = &repo.shell;
    let compiler = installed(repo)?.join("bin/mpicc");
    let folder = repo.root.join("target/xtask/guest");
    sh.create_dir(&folder)?;
    let (source, program) = (folder.join("guest.c"), folder.join("guest"));
    if std::fs::read_to_string(&source).is_ok_and(|text| text == GUEST) && Path::exists(&program) {
        return Ok(program);
    }
    sh.write_file(&source, GUEST)?;
    // LD_LIBRARY_PATH selects the library; the program itself names no path.
    let flags = ["-O1", "-Wl,--enable-new-dtags"];
    cmd!(sh, "{compiler} {flags...} -o {program} {source}")
        .quiet()
        .run()?;
    Ok(program)
}
