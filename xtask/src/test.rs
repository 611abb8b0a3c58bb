//! `cargo xtask test`: runs every test that a user can run.

use crate::commands::run_tests;
use crate::tally::Tally;
use crate::{Repo, Result, tidy};
use xshell::cmd;

pub(crate) fn run(repo: &Repo) -> Result {
    let sh = &repo.shell;
    // `cargo test` would build all examples; a test starts this one.
    repo.for_tests(&["--example", "pmi_probe"])?;
    let targets = ["--lib", "--bins", "--tests"];
    let mut total = run_tests(cmd!(
        sh,
        "cargo test --workspace --no-fail-fast {targets...}"
    ))?;
    total += run_tests(cmd!(sh, "cargo test --workspace --no-fail-fast --doc"))?;
    match tidy::check(repo) {
        Ok(rules) => total += rules,
        Err(error) => {
            println!("{error}");
            total += Tally::failed(error.to_string());
        }
    }
    total.tell();
    println!("{total}");
    total.verdict()
}
