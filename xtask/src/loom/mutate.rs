//! Weakens each memory ordering in turn and sees a model fail.

use super::{modelled, models};
use crate::steps::Tally;
use crate::{Repo, Result};
use std::path::{Path, PathBuf};

/// The file of a crate in which weakenings that no model can see are argued.
const ARGUED: &str = "orderings.txt";

/// One ordering to weaken.
#[derive(Debug, PartialEq)]
struct Site {
    line: usize,
    weaker: String,
}

/// The orderings of a source, each with the whole text after it is weakened.
fn sites(source: &str) -> Vec<Site> {
    let mut sites = Vec::new();
    let mut at = 0;
    for (index, line) in source.split_inclusive('\n').enumerate() {
        if line.trim_start().starts_with("#[cfg(test)]") {
            break;
        }
        let code = line.split("//").next().unwrap_or_default();
        for strong in ["Release", "Acquire", "AcqRel", "SeqCst"] {
            for (column, _) in code.match_indices(&format!("Ordering::{strong}")) {
                let start = at + column + "Ordering::".len();
                let (before, after) = (&source[..start], &source[start + strong.len()..]);
                sites.push(Site {
                    line: index + 1,
                    weaker: format!("{before}Relaxed{after}"),
                });
            }
        }
        at += line.len();
    }
    sites
}

/// Whether `argued` has a line `FILE: TEXT: WHY` for the line with `text` of `file`.
fn is_argued(argued: &str, file: &str, text: &str) -> bool {
    let lines = argued.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.strip_prefix(file)?.strip_prefix(": "))
        .any(|rest| {
            rest.strip_prefix(text.trim())
                .and_then(|why| why.strip_prefix(": "))
                .is_some_and(|why| !why.is_empty())
        })
}

/// Weakens every ordering of every crate that has models.
///
/// # Errors
/// When the copy cannot be made; a weakening that no model saw is a failure in the tally.
pub(crate) fn mutate(repo: &Repo) -> Result<Tally> {
    let copy = copy(repo)?;
    let mut tally = Tally::default();
    let mut report = Vec::new();
    for package in modelled(repo) {
        let folder = repo
            .packages
            .iter()
            .find(|other| other.name == package)
            .map(|found| &found.folder);
        let folder = folder
            .ok_or("a modelled package is a package")?
            .strip_prefix(&repo.root)?;
        let argued =
            std::fs::read_to_string(repo.root.join(folder).join(ARGUED)).unwrap_or_default();
        for path in repo.files()?.iter().filter(|path| is_source(path, folder)) {
            let source = std::fs::read_to_string(repo.root.join(path))?;
            let file = path.strip_prefix(folder)?.display().to_string();
            for site in sites(&source) {
                let text = source.lines().nth(site.line - 1).unwrap_or_default().trim();
                std::fs::write(copy.join(path), &site.weaker)?;
                let caught = models(repo, &copy, package)?.failed > 0;
                let verdict = match (caught, is_argued(&argued, &file, text)) {
                    (true, false) => "caught",
                    (false, true) => "argued",
                    (true, true) => "caught, though argued: remove its line",
                    (false, false) => "NOT SEEN",
                };
                let good = ["caught", "argued"].contains(&verdict);
                tally += Tally {
                    passed: good.into(),
                    failed: (!good).into(),
                    skipped: 0,
                };
                report.push(format!("{file}:{}: {text}: {verdict}", site.line));
            }
            std::fs::write(copy.join(path), source)?;
        }
    }
    println!("\neach ordering, weakened:");
    for line in report {
        println!("  {line}");
    }
    Ok(tally)
}

fn is_source(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder.join("src"))
        && path.extension().is_some_and(|extension| extension == "rs")
        && !path.ends_with("tests.rs")
}

/// A copy of the workspace, to be changed freely.
fn copy(repo: &Repo) -> Result<PathBuf> {
    let copy = repo.scratch("mutants")?;
    for path in repo.files()? {
        let to = copy.join(&path);
        std::fs::create_dir_all(to.parent().ok_or("a file lies in a folder")?)?;
        std::fs::copy(repo.root.join(&path), to)?;
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    //! Orderings are found where they are code, and arguments are matched whole.

    use super::{Site, is_argued, sites};

    #[test]
    fn each_ordering_is_weakened_alone() {
        let source = "a.load(Ordering::Acquire); // Ordering::Acquire\nb(Ordering::Relaxed, Ordering::Release)\n";
        let weaker = |line, text: &str| Site {
            line,
            weaker: text.into(),
        };
        assert_eq!(
            sites(source),
            [
                weaker(1, &source.replacen("Acquire", "Relaxed", 1)),
                weaker(2, &source.replacen("Release", "Relaxed", 1)),
            ]
        );
    }

    #[test]
    fn tests_are_left_alone() {
        assert_eq!(
            sites("#[cfg(test)]\nmod tests { x(Ordering::SeqCst) }\n"),
            []
        );
    }

    #[test]
    fn an_argument_names_file_line_and_reason() {
        let argued = "# why\nsrc/ring.rs: x.load(Acquire): the slot's own word orders it\n";
        assert!(is_argued(argued, "src/ring.rs", "  x.load(Acquire)"));
        assert!(!is_argued(argued, "src/flag.rs", "x.load(Acquire)"));
        assert!(!is_argued(argued, "src/ring.rs", "x.load(Acqu"));
    }
}
