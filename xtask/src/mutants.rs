//! `cargo xtask long mutants`: changes one place at a time and sees whether a test fails.

use crate::commands::watch;
use crate::repo::Package;
use crate::{Repo, Result};
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Run a shard of the single-change mutants of a package, or of all; at least 90% of the viable ones must be caught
///
/// Runs cargo-mutants, which is installed under `target/tools` when it is missing, on a copy of the repository. Each
/// mutant is built and tested with the unit tests of its package, and if these do not notice it, with all tests of
/// the package: seconds to minutes each. A mutant is caught if a test fails, missed if none does, a timeout if the
/// tests hang in spite of their watchdogs, and unviable if it does not compile. Timeouts count as failures.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct MutantsOptions {
    /// The package, such as `oxmpi-wire`; all by default
    #[arg(value_name = "CRATE")]
    package: Option<String>,
    /// Every Nth mutant from the Kth on, K from 0; by default every 60th, another K each day
    #[arg(long, value_name = "K/N")]
    shard: Option<String>,
}

/// Mutants are this far apart by default.
const SHARDS: u64 = 60;

/// Files without mutants: those of tests, and one that the default features leave out.
const EXCLUDED: [&str; 2] = ["**/tests.rs", "crates/topo/src/hwloc.rs"];

/// Seconds for the tests of one mutant: several watchdogs of two minutes one after another.
const SECONDS: u32 = 1200;

/// The least caught mutants among the viable ones, in percent.
const CAUGHT_PERCENT_MIN: usize = 90;

pub(crate) fn run(repo: &Repo, options: &MutantsOptions) -> Result {
    let packages: Vec<&Package> = repo.published().collect();
    let chosen = match options.package.as_deref() {
        None => packages,
        Some(name) => match packages.iter().find(|package| package.name == name) {
            Some(package) => vec![*package],
            None => {
                let names: Vec<&str> = packages.iter().map(|package| &*package.name).collect();
                let names = names.join(", ");
                return Err(format!("no package '{name}'; there are: {names}").into());
            }
        },
    };
    let days = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() / (24 * 3600);
    let rotating = || format!("{}/{SHARDS}", days % SHARDS);
    let shard = options.shard.clone().unwrap_or_else(rotating);
    let copy = repo.copy()?;
    let mut score = MutantScore::default();
    for package in chosen {
        score.add(test_package(repo, &copy, package, &shard)?);
    }
    println!("\nshard {shard}: {score}");
    score.verdict()
}

/// Runs cargo-mutants in the copy. What it builds of other packages stays for later runs.
fn test_package(repo: &Repo, copy: &Path, package: &Package, shard: &str) -> Result<MutantScore> {
    let folder = repo.scratch("mutants")?;
    let mut command = Command::new(repo.tool("cargo-mutants")?);
    command.current_dir(copy);
    command.env("CARGO", copy.join("xtask/src/mutants/cargo.sh"));
    command.env("CARGO_TARGET_DIR", repo.root.join("target/mutants"));
    let is_library = package.is_library();
    command.env("UNIT_TESTS", if is_library { "--lib" } else { "--bins" });
    // A case that one mutant fails must not be replayed for the next, and the score must not depend on luck.
    command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1");
    command.env("PROPTEST_RNG_SEED", "1");
    command.args(["mutants", "--in-place", "--colors=never"]);
    command.args(["--package", &package.name, "--sharding=round-robin"]);
    command.arg(format!("--shard={shard}"));
    command.args(EXCLUDED.map(|files| format!("--exclude={files}")));
    command.arg(format!("--minimum-test-timeout={SECONDS}"));
    command.arg("--output").arg(&folder);
    let status = watch(command, |_| ())?;
    // 2: some are missed; 3: some timed out; all other failures are of the tool or of the unchanged tests.
    match status.code() {
        Some(0 | 2 | 3) => Ok(MutantScore::read(&folder.join("mutants.out"))?),
        _ => Err(format!("{status}: cargo-mutants stopped early").into()),
    }
}

/// The mutants by how their tests ended.
#[derive(Debug, Default, PartialEq, Eq)]
struct MutantScore {
    caught: usize,
    unviable: usize,
    missed: Vec<String>,
    timeouts: Vec<String>,
}

impl MutantScore {
    /// Reads the lists that cargo-mutants leaves in its folder, a mutant a line.
    fn read(folder: &Path) -> std::io::Result<MutantScore> {
        let list = |name| {
            let text = std::fs::read_to_string(folder.join(name))?;
            Ok::<_, std::io::Error>(text.lines().map(String::from).collect::<Vec<_>>())
        };
        Ok(MutantScore {
            caught: list("caught.txt")?.len(),
            unviable: list("unviable.txt")?.len(),
            missed: list("missed.txt")?,
            timeouts: list("timeout.txt")?,
        })
    }

    fn add(&mut self, other: MutantScore) {
        self.caught += other.caught;
        self.unviable += other.unviable;
        self.missed.extend(other.missed);
        self.timeouts.extend(other.timeouts);
    }

    fn verdict(&self) -> Result {
        let viable = self.caught + self.missed.len() + self.timeouts.len();
        if !self.timeouts.is_empty() {
            return Err(
                "the tests of a mutant hang; give them a watchdog that says what waits".into(),
            );
        }
        if self.caught * 100 < viable * CAUGHT_PERCENT_MIN {
            let why = format!("less than {CAUGHT_PERCENT_MIN}% of the viable mutants are caught");
            return Err(why.into());
        }
        Ok(())
    }
}

impl std::fmt::Display for MutantScore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let MutantScore {
            caught,
            unviable,
            missed,
            timeouts,
        } = self;
        let (misses, hangs) = (missed.len(), timeouts.len());
        write!(
            f,
            "{caught} caught, {misses} missed, {hangs} timeouts, {unviable} unviable"
        )?;
        for (kind, mutants) in [("missed", missed), ("timeout", timeouts)] {
            for mutant in mutants {
                write!(f, "\n{kind}: {mutant}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(caught: usize, missed: &[&str], timeouts: &[&str]) -> MutantScore {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).into()).collect();
        let (missed, timeouts) = (owned(missed), owned(timeouts));
        MutantScore {
            caught,
            unviable: 1,
            missed,
            timeouts,
        }
    }

    #[test]
    fn nine_of_ten_viable_mutants_must_be_caught_and_none_may_hang() {
        assert!(score(0, &[], &[]).verdict().is_ok());
        assert!(score(9, &["a"], &[]).verdict().is_ok());
        assert!(score(8, &["a"], &[]).verdict().is_err());
        assert!(score(99, &[], &["a"]).verdict().is_err());
        let text = "8 caught, 1 missed, 1 timeouts, 1 unviable\nmissed: a\ntimeout: b";
        assert_eq!(score(8, &["a"], &["b"]).to_string(), text);
    }
}
