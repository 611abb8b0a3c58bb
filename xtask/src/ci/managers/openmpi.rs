//! Open MPI's `prterun`, which serves PMIx 5.

use super::launcher::{Launcher, Programs};
use super::{Missing, Result};
use crate::Repo;
use crate::compare::peers::{self, OPEN_MPI};
use crate::tally::Tally;

/// The one of PyPI's package, with the library in that package.
pub(super) fn check(repo: &Repo, programs: &Programs) -> Result<Tally> {
    let folder = peers::install(repo, &OPEN_MPI).map_err(|error| Missing(error.to_string()))?;
    let launcher = Launcher {
        name: "Open MPI's prterun",
        words: vec![
            folder.join("bin/prterun").into(),
            "--allow-run-as-root".into(),
            "--oversubscribe".into(),
        ],
        environment: vec![("LD_LIBRARY_PATH", folder.join("lib/openmpi").into())],
    };
    launcher.check(programs)
}
