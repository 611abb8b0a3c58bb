//! The three `mpiexec.hydra`, which serve PMI-1.

use super::debian::Debian;
use super::launcher::{Launcher, Programs};
use super::{Missing, Result};
use crate::Repo;
use crate::compare::peers::{self, INTEL, MPICH};
use crate::tally::Tally;
use std::ffi::OsString;

/// MPICH's from PyPI, by a file descriptor and by an address.
pub(super) fn mpich(repo: &Repo, programs: &Programs) -> Result<Tally> {
    let folder = peers::install(repo, &MPICH).map_err(|error| Missing(error.to_string()))?;
    let mpiexec: OsString = folder.join("bin/mpiexec.hydra").into();
    let port = vec![mpiexec.clone(), "-pmi-port".into()];
    let mut tally = Launcher::new("MPICH's hydra", vec![mpiexec]).check(programs)?;
    tally += Launcher::new("MPICH's hydra with -pmi-port", port).check(programs)?;
    Ok(tally)
}

/// Intel's from PyPI.
pub(super) fn intel(repo: &Repo, programs: &Programs) -> Result<Tally> {
    let folder = peers::install(repo, &INTEL).map_err(|error| Missing(error.to_string()))?;
    let launcher = Launcher {
        name: "Intel's hydra",
        words: vec![folder.join("bin/mpiexec.hydra").into()],
        environment: vec![("I_MPI_ROOT", folder.into())],
    };
    launcher.check(programs)
}

/// The one of Debian's package `mpich`.
pub(super) fn debian(debian: &Debian, programs: &Programs) -> Result<Tally> {
    let mut words = debian.inside()?;
    words.push("mpiexec.hydra".into());
    Launcher::new("Debian's hydra", words).check(programs)
}
