//! Runs our jobs under other process managers, each from its own package, and programs of other MPI
//! libraries under ours. docs/managers.md has the commands.

mod debian;
mod hydra;
mod launcher;
mod openmpi;
mod ours;
mod pmix;
mod slurm;

use crate::steps::StepOutcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use debian::Debian;
use launcher::Programs;
use std::time::Instant;

/// Runs jobs under each manager that packages provide; skips the others with a message.
///
/// # Errors
/// When a job fails, or ends otherwise than expected.
pub(super) fn check(repo: &Repo) -> Result<StepOutcome> {
    let programs = Programs::build(repo)?;
    let mut tally = Tally::default();
    let mut missing = Vec::new();
    let debian = Debian::unpack(repo);
    let debian = debian.map_err(|error| Missing(format!("Debian's packages: {error}")));
    let of_debian = || debian.as_ref().map_err(Clone::clone);

    let mut step = |name: &str, run: &dyn Fn() -> Result<Tally>| {
        println!("---- {name}");
        let start = Instant::now();
        match run() {
            Ok(more) => tally += more,
            Err(error) if error.is::<Missing>() => missing.push(format!("{name}: {error}")),
            Err(error) => tally += Tally::failed(format!("{name}: {error}")),
        }
        println!("---- {name}: {:.1} s", start.elapsed().as_secs_f32());
    };
    step("MPICH's hydra", &|| hydra::mpich(repo, &programs));
    step("Intel's hydra", &|| hydra::intel(repo, &programs));
    step("Debian's hydra", &|| hydra::debian(of_debian()?, &programs));
    step("Open MPI's prterun", &|| openmpi::check(repo, &programs));
    step("Slurm", &|| slurm::check(repo, of_debian()?, &programs));
    step("PMIx's types", &|| pmix::layout(repo, of_debian()?));
    step("MPICH under oxmpi run", &|| ours::mpich(repo, &programs));
    step("Debian's MPICH under oxmpi run", &|| {
        ours::debian(repo, of_debian()?, &programs)
    });
    step("Intel MPI under oxmpi run", &|| {
        ours::intel(repo, &programs)
    });

    if missing.is_empty() || tally.failed > 0 {
        return Ok(tally.into());
    }
    println!("{tally} under those that are here");
    Ok(StepOutcome::Skipped(missing.join("; ")))
}

/// Says that a file of a package is missing.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
struct Missing(String);
