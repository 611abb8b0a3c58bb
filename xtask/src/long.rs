//! `cargo xtask long`: what takes hours or needs a quiet machine, run by hand.

use crate::steps::{Step, run_all};
use crate::{Repo, Result, Verb, fuzz, loom, no_more};

pub(crate) const VERB: Verb = Verb {
    name: "long",
    usage: "",
    summary: "Long fuzzing and every mutation, by hand before a release",
    help: "
Fuzzes each target for ten minutes and weakens every memory ordering in turn. Its output belongs under
`runs/` when it is kept.",
    run,
};

const STEPS: &[&Step] = &[
    &Step {
        name: "fuzzing",
        run: |repo| fuzz::all(repo, 600),
    },
    &Step {
        name: "orderings",
        run: |repo| loom::mutate(repo).map(Into::into),
    },
];

fn run(repo: &Repo, arguments: &[String]) -> Result {
    no_more(VERB.name, arguments)?;
    run_all(repo, STEPS, true)
}
