//! `cargo xtask test`: runs every test that a user can run.

use crate::commands::run_tests;
use crate::tally::Tally;
use crate::{Repo, Result, tidy};
use xshell::cmd;

pub(crate) fn run(repo: &Repo) -> Result {
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
    total.verdict()
}
