//! `cargo xtask tune-tables`: the decision trees that choose algorithms, learned from simulations.

use crate::{Repo, Result};
use xshell::cmd;

/// Learn the tables by which collectives choose an algorithm, from simulations
///
/// For ranks in cyclic placement, crates/coll/src/choice/cyclic has a decision tree for each collective. This verb simulates
/// all algorithms on drawn groups (ranks, nodes, lengths, machines, copies), learns each tree anew, and prints how much
/// calls lose by it and by the cost forms, on groups that it did not learn from. A tree that does not lose less is not
/// written, and one that is there is an error. Without names it learns all of them, which takes half an hour on two
/// processors; the same files come out each time.
///
/// Run it after a change to an algorithm, to the simulator or to a machine, and read the difference before you commit it.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TuneTablesOptions {
    /// Write nothing: fail when a file is not what is learned
    #[arg(long)]
    check: bool,
    /// The collectives, as in `gather scatter`; all by default
    #[arg(value_name = "COLLECTIVE")]
    collectives: Vec<String>,
}

/// The folder of the trees.
pub(crate) const FOLDER: &str = "crates/coll/src/choice/cyclic";

pub(crate) fn run(repo: &Repo, options: &TuneTablesOptions) -> Result {
    let folder = repo.root.join(FOLDER);
    let check = options.check.then_some("--check");
    let names = &options.collectives;
    let learn = cmd!(
        repo.shell,
        "cargo run --release --package oxmpi-coll --features sim --example tables -- {check...} {folder} {names...}"
    );
    Ok(learn.run()?)
}
