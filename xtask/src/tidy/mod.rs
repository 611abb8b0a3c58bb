//! `cargo xtask tidy`: what the design forbids, as rules on the repository.
//!
//! A rule looks at the packages or at the files and gives its findings, one line each, that say
//! what is wrong, where, and what would be right.

mod declared;
mod floors;
mod manifests;
mod modules;
mod sources;
mod tokens;
mod vocabulary;

use self::sources::each_source;
use crate::tally::Tally;
use crate::{Repo, Result};

/// A rule: its name, and what it finds.
type Rule = (&'static str, fn(&Repo) -> Result<Vec<String>>);

const RULES: &[Rule] = &[
    ("imports go down", floors::imports),
    ("crates keep their level", floors::levels),
    ("manifests are whole", manifests::whole),
    ("licences allow any use", manifests::licences),
    ("READMEs show what compiles", manifests::readmes),
    ("fuzz targets have bodies", manifests::fuzz_targets),
    ("modules are documented", |repo| {
        each_source(repo, sources::documented)
    }),
    ("files are short", |repo| each_source(repo, sources::short)),
    ("the repository is light", sources::light),
    ("every file is compiled", declared::undeclared),
    ("modules of a crate form no circle", modules::circles),
    ("the words are the field's", vocabulary::replaced),
    ("nothing is unfinished", |repo| {
        each_source(repo, sources::finished)
    }),
    ("no path of one machine", sources::portable),
    ("tests do not sleep", |repo| {
        each_source(repo, sources::awake)
    }),
    ("settings have one name", sources::settings),
];

pub(crate) fn run(repo: &Repo) -> Result {
    println!("{}", check(repo)?);
    Ok(())
}

/// Applies every rule and counts those that hold.
///
/// # Errors
/// All findings, when there are any.
pub(crate) fn check(repo: &Repo) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut report = String::new();
    for (name, find) in RULES {
        let findings = find(repo)?;
        if findings.is_empty() {
            tally += Tally::ONE;
            continue;
        }
        report += &format!("\ntidy: {name}:\n");
        for finding in findings {
            report += &format!("  {finding}\n");
        }
    }
    if report.is_empty() {
        println!("tidy: {} rules hold", tally.passed);
        Ok(tally)
    } else {
        Err(report.into())
    }
}
