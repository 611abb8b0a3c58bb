//! Learns the decision trees of [`oxmpi_coll::choice::cyclic`] from simulations, and writes their files. `cargo xtask
//! tune-tables` runs it.
//!
//! ```sh
//! cargo run --release -p oxmpi-coll --features sim --example tables -- crates/coll/src/choice/cyclic gather scatter
//! ```
//!
//! For each collective it simulates all candidates on drawn groups, keeps those without which much would be lost, learns a
//! tree from more groups, and compares it on others with the choice by [cost](oxmpi_coll::cost). It writes the tree where
//! that loses more. The same files come out each time.

mod candidates;
mod draws;
mod learn;
mod write;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use draws::{Draws, Sample};
use learn::{Learner, Tree};
use oxmpi_coll::catalog::Collective;
use oxmpi_coll::choice::Choice;

/// The most choices of a tree, and leaves for each kind of operation: so many that a reader still sees what it says.
const CHOICES: usize = 16;
const LEAVES: usize = 48;

/// The collectives that a tree can choose for: all ranks know the length, and there is more than one algorithm. Not
/// allreduce, as the simulator has no exact operations, for which it has an algorithm of its own.
const COLLECTIVES: [Collective; 12] = [
    Collective::Barrier,
    Collective::Bcast,
    Collective::Gather,
    Collective::Scatter,
    Collective::Allgather,
    Collective::Allgatherv,
    Collective::Alltoall,
    Collective::Reduce,
    Collective::ReduceScatter,
    Collective::ReduceScatterBlock,
    Collective::Scan,
    Collective::Exscan,
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let checks = arguments.next_if(|first| first == "--check").is_some();
    let Some(folder) = arguments.next() else {
        eprintln!("tables: name the folder of the files, and the collectives if not all");
        return ExitCode::FAILURE;
    };
    let names: Vec<String> = arguments.collect();
    let known = |name: &String| COLLECTIVES.iter().any(|one| one.name() == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let all = COLLECTIVES.map(Collective::name).join(", ");
        eprintln!("tables: no tree chooses for `{unknown}`; there are trees for {all}");
        return ExitCode::FAILURE;
    }
    let is_meant =
        |one: &Collective| names.is_empty() || names.iter().any(|name| name == one.name());
    for collective in COLLECTIVES.into_iter().filter(is_meant) {
        if let Err(why) = learn(collective, Path::new(&folder), checks) {
            eprintln!("tables: {collective}: {why}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Learns the tree of a collective, and writes its file or checks that it is there.
///
/// # Errors
///
/// If the file cannot be written, or is not what is learned, or is there although its tree loses more.
fn learn(collective: Collective, folder: &Path, checks: bool) -> Result<(), Box<dyn Error>> {
    let all = candidates::candidates(collective);
    let draws = Draws::of(collective);
    let list = learn::shortlist(&draws.samples(&all, draws.first()), CHOICES);
    let choices: Vec<Choice> = list.iter().map(|&one| all[one]).collect();
    let samples = draws.samples(&choices, draws.second());
    let tree = Learner::new(&samples).tree(LEAVES);
    let fresh = draws.samples(&choices, draws.fresh());
    let by_tree = Losses::of(fresh.iter().map(|one| one.loss(tree.choice(one))));
    let by_cost = Losses::of(fresh.iter().map(|one| one.by_cost));
    println!(
        "{collective}: {} of {} candidates, {} leaves; lost on {} drawn calls, mean and 95%: by cost {by_cost}, by the tree {by_tree}",
        choices.len(),
        all.len(),
        tree.leaves(),
        fresh.len(),
    );
    let path = folder.join(format!("{collective}.json"));
    let text = write::file(collective, &choices, &tree);
    match by_tree.is_less(&by_cost) {
        false if path.exists() => {
            return Err(format!("{} loses more than the costs: remove it", path.display()).into());
        }
        false => println!("{collective}: no tree is written"),
        true if checks && std::fs::read_to_string(&path)? != text => {
            return Err(format!("{} is not what is learned", path.display()).into());
        }
        true if checks => {}
        true => std::fs::write(&path, text)?,
    }
    Ok(())
}

/// How much longer calls take than with their fastest candidate, in millionths: mean and 95th percentile.
struct Losses {
    mean: u64,
    most: u32,
}

impl Losses {
    fn of(losses: impl Iterator<Item = u32>) -> Self {
        let mut all: Vec<u32> = losses.collect();
        all.sort_unstable();
        let sum: u64 = all.iter().copied().map(u64::from).sum();
        Losses {
            mean: sum / all.len() as u64,
            most: all[(all.len() - 1) * 95 / 100],
        }
    }

    const fn is_less(&self, other: &Losses) -> bool {
        self.mean < other.mean && self.most < other.most
    }
}

impl std::fmt::Display for Losses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |millionths: u64| millionths as f64 / 1e4;
        write!(
            f,
            "{:.1}% {:.0}%",
            percent(self.mean),
            percent(self.most.into())
        )
    }
}
