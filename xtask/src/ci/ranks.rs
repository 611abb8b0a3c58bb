//! Runs each example of the runtime as a job of 1 to 64 ranks, and jobs whose ranks or launcher are killed.

use crate::commands::run_tests;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use xshell::cmd;

/// Sizes of the jobs; most have more ranks than a small machine has processors.
const SIZES: [u32; 5] = [1, 2, 3, 4, 8];

/// Far more ranks than most machines have processors, so they must yield to each other.
const CROWDS: [u32; 2] = [16, 64];

/// Runs each example with each number of ranks under `oxmpi run`.
///
/// # Errors
/// When a job fails, or takes more than ten minutes.
pub(super) fn ours(repo: &Repo) -> Result<Tally> {
    let sh = &repo.shell;
    let folder = repo.root.join("crates/runtime/examples");
    let mut names = Vec::new();
    for (prefix, folder) in [("", &folder), ("rsmpi_", &folder.join("rsmpi"))] {
        let files = sh.read_dir(folder)?;
        let stems = files
            .iter()
            .filter(|path| path.is_file())
            .filter_map(|path| path.file_stem());
        names.extend(stems.map(|stem| format!("{prefix}{}", stem.display())));
    }
    let examples = names.iter().flat_map(|name| ["--example", name]);
    let targets: Vec<_> = ["--bin", "oxmpi"].into_iter().chain(examples).collect();
    let built = repo.for_tests(&targets)?;
    let mut tally = Tally::default();
    for name in &names {
        let example = built.join("examples").join(name);
        for size in SIZES.into_iter().chain(CROWDS) {
            let mut launcher = Command::new(built.join("oxmpi"));
            launcher.args(["run", "--oversubscribe"]);
            job(launcher, size, &example)?;
            tally += Tally::ONE;
        }
    }
    Ok(tally)
}

/// Kills a rank of a job `times` times and the launcher a fifth as often, and prints how long the jobs took
/// to end.
///
/// # Errors
/// When cargo cannot be started. A job that ends otherwise than expected is a failure in the tally.
pub(crate) fn killed(repo: &Repo, times: u32) -> Result<Tally> {
    let sh = &repo.shell;
    let shown = ["--nocapture", "--test-threads=1"];
    run_tests(
        cmd!(
            sh,
            "cargo test --quiet --workspace --test ranks kill:: -- {shown...}"
        )
        .env("OXMPI_TEST_KILLS", times.to_string()),
    )
}

/// Accesses windows a million times in random epochs, and kills 200 ranks in them.
pub(crate) fn windows(repo: &Repo) -> Result<Tally> {
    let sh = &repo.shell;
    // By three paths, and the accesses on two or four numbers of ranks.
    let mut done = run_tests(
        cmd!(
            sh,
            "cargo test --quiet --workspace --test ranks window_epochs::"
        )
        .env("OXMPI_TEST_WINDOW_STEPS", "170000")
        .env("OXMPI_TEST_WINDOW_KILLS", "67")
        .env("OXMPI_TEST_WATCHDOG", "3000"),
    )?;
    done += run_tests(
        cmd!(
            sh,
            "cargo test --quiet --package oxmpi-abi --test programs random_accesses"
        )
        .env("OXMPI_TEST_WINDOW_STEPS", "85000")
        .env("OXMPI_TEST_WATCHDOG", "3000"),
    )?;
    Ok(done)
}

/// Runs one job, which must succeed.
fn job(mut launcher: Command, size: u32, program: &Path) -> Result {
    launcher.args(["-n", &size.to_string()]).arg(program);
    let output = ended(&mut launcher)?;
    let name = program.file_name().unwrap_or_default().display();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name} with {size} ranks: {}: {said}", output.status).into());
    }
    println!("{name} with {size} ranks: ends well");
    Ok(())
}

/// Runs a command to its end, for at most ten minutes, and returns its output.
pub(super) fn ended(command: &mut Command) -> Result<Output> {
    let mut watched = Command::new("timeout");
    watched.arg("600").arg(command.get_program());
    watched.args(command.get_args());
    for (name, value) in command.get_envs() {
        watched.env(name, value.unwrap_or_default());
    }
    Ok(watched.stdin(Stdio::null()).output()?)
}
