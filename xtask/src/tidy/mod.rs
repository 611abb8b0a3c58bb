//! `cargo xtask tidy`: what the design forbids, as rules on the repository.
//!
//! A rule looks at the packages or at the files and gives its findings, one line each, that say
//! what is wrong, where, and what would be right.

mod floors;
mod manifests;
mod modules;
mod sources;
mod tokens;
mod vocabulary;

use crate::tally::Tally;
use crate::{Repo, Result, Verb, no_more};

pub(crate) const VERB: Verb = Verb {
    name: "tidy",
    usage: "",
    summary: "The rules of the design: imports, documentation, licences, names, sizes",
    help: "
Reads `cargo metadata` and the files under version control, and fails on what the design forbids:
an import that goes up (the table is `xtask/src/tidy/floors.txt`), unsafe code where it is forbidden,
a module without documentation, a crate without its README, licence or lints, an example in a README
that is never compiled, two settings of one name, a file of more than 500 lines that does not argue why, a file of
more than 1 MB, modules of a crate that import each other in a circle, a word that the field has another one for (the
list is `xtask/src/tidy/vocabulary.txt`), a mark of unfinished work, a path of one machine, a fuzz target without a
body. It is part of `cargo xtask test`.",
    run,
};

/// A rule: its name, and what it finds.
struct Rule {
    name: &'static str,
    find: fn(&Repo) -> Result<Vec<String>>,
}

const RULES: &[Rule] = &[
    Rule {
        name: "imports go down",
        find: floors::imports,
    },
    Rule {
        name: "crates keep their level",
        find: floors::levels,
    },
    Rule {
        name: "manifests are whole",
        find: manifests::whole,
    },
    Rule {
        name: "licences allow any use",
        find: manifests::licences,
    },
    Rule {
        name: "READMEs show what compiles",
        find: manifests::readmes,
    },
    Rule {
        name: "fuzz targets have bodies",
        find: manifests::fuzz_targets,
    },
    Rule {
        name: "modules are documented",
        find: sources::documented,
    },
    Rule {
        name: "files are short",
        find: sources::short,
    },
    Rule {
        name: "the repository is light",
        find: sources::light,
    },
    Rule {
        name: "modules of a crate form no circle",
        find: modules::circles,
    },
    Rule {
        name: "the words are the field's",
        find: vocabulary::replaced,
    },
    Rule {
        name: "nothing is unfinished",
        find: sources::finished,
    },
    Rule {
        name: "no path of one machine",
        find: sources::portable,
    },
    Rule {
        name: "tests do not sleep",
        find: sources::awake,
    },
    Rule {
        name: "settings have one name",
        find: sources::settings,
    },
];

fn run(repo: &Repo, arguments: &[String]) -> Result {
    no_more(VERB.name, arguments)?;
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
    for rule in RULES {
        let findings = (rule.find)(repo)?;
        if findings.is_empty() {
            tally += Tally::ONE;
            continue;
        }
        report += &format!("\ntidy: {}:\n", rule.name);
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
