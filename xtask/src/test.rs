//! `cargo xtask test`: runs every test that a user can run.

use crate::commands::run_tests;
use crate::tally::Tally;
use crate::{Repo, Result, Verb, no_more, tidy};
use xshell::cmd;

pub(crate) const VERB: Verb = Verb {
    name: "test",
    usage: "",
    summary: "Run every test: unit, integration, documentation and README examples, tidy rules",
    help: "
Runs `cargo test --workspace` and the rules of `cargo xtask tidy`. It needs Rust and a C linker, and
takes at most 8 minutes on two cores, compilation included. The slower proofs (model checking,
fuzzing, packages alone) are in `cargo xtask ci`.

The last line is `N passed, N failed, N skipped`.",
    run,
};

fn run(repo: &Repo, arguments: &[String]) -> Result {
    no_more(VERB.name, arguments)?;
    let sh = &repo.shell;
    let mut total = run_tests(cmd!(sh, "cargo test --workspace --no-fail-fast"))?;
    match tidy::check(repo) {
        Ok(rules) => total += rules,
        Err(error) => {
            println!("{error}");
            total += Tally::failed(error.to_string());
        }
    }
    total.tell();
    println!("{total}");
    if total.failed == 0 {
        Ok(())
    } else {
        Err(format!("{} failed", total.failed).into())
    }
}
