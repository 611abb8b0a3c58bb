//! Weakens each memory ordering in turn and checks that a model fails.

use super::{modelled, models};
use crate::tally::Tally;
use crate::{Repo, Result};
use std::fmt;
use std::path::Path;

/// The file of a crate that explains weakenings which no model can detect.
const ARGUED: &str = "orderings.txt";

/// One memory ordering in the source.
#[derive(Debug, PartialEq)]
struct Site<'a> {
    line: usize,
    function: &'a str,
    strong: &'a str,
    weak: &'a str,
    /// The position of the ordering's name in the source.
    at: usize,
}

impl Site<'_> {
    /// The source with this ordering weakened.
    fn weaken(&self, source: &str) -> String {
        let (before, after) = (&source[..self.at], &source[self.at + self.strong.len()..]);
        format!("{before}{}{after}", self.weak)
    }

    /// Whether `argued` has a line `FILE: FUNCTION: ORDERING: WHY` for this ordering.
    fn is_argued(&self, argued: &str, file: &str) -> bool {
        let start = format!("{file}: {}: {}: ", self.function, self.strong);
        argued
            .lines()
            .any(|line| line.strip_prefix(&start).is_some_and(|why| !why.is_empty()))
    }
}

impl fmt::Display for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: {} as {}",
            self.line, self.function, self.strong, self.weak
        )
    }
}

/// The orderings in a source, up to its tests.
fn sites(source: &str) -> Vec<Site<'_>> {
    const PATH: &str = "Ordering::";
    let mut sites = Vec::new();
    let mut function = "";
    let mut start = 0;
    for (index, line) in source.split_inclusive('\n').enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        if code.contains("#[cfg(test)]") {
            break;
        }
        if let Some((_, rest)) = code.split_once("fn ") {
            function = rest.split(['(', '<']).next().unwrap_or_default();
        }
        for (column, _) in code.match_indices(PATH) {
            let from = column + PATH.len();
            let end = code[from..].find(|c: char| !c.is_alphanumeric());
            let strong = &code[from..end.map_or(code.len(), |length| from + length)];
            let weak = match strong {
                // A fence cannot be relaxed.
                "SeqCst" if code.contains("fence(") => "AcqRel",
                "Release" | "Acquire" | "AcqRel" | "SeqCst" => "Relaxed",
                _ => continue,
            };
            sites.push(Site {
                line: index + 1,
                function,
                strong,
                weak,
                at: start + from,
            });
        }
        start += line.len();
    }
    sites
}

/// Weakens every ordering in every crate that has models.
///
/// # Errors
/// When the copy cannot be made. A weakening that no model detects is a failure in the tally.
pub(crate) fn mutate(repo: &Repo) -> Result<Tally> {
    let copy = repo.copy()?;
    let mut tally = Tally::default();
    let mut report = Vec::new();
    for package in modelled(repo) {
        let folder = package.folder().strip_prefix(&repo.root)?;
        let models_as_they_stand = models(repo, &copy, [package])?;
        if models_as_they_stand.failed > 0 {
            models_as_they_stand.tell();
            return Err(format!("the models of {} fail as they stand", package.name).into());
        }
        let argued = std::fs::read_to_string(package.folder().join(ARGUED)).unwrap_or_default();
        for path in repo.files()?.iter().filter(|path| is_source(path, folder)) {
            let source = std::fs::read_to_string(repo.root.join(path))?;
            let file = path.strip_prefix(folder)?.display().to_string();
            for site in sites(&source) {
                std::fs::write(copy.join(path), site.weaken(&source))?;
                let caught = models(repo, &copy, [package])?.failed > 0;
                let (good, verdict) = match (caught, site.is_argued(&argued, &file)) {
                    (true, false) => (true, "caught"),
                    (false, true) => (true, "argued"),
                    (true, true) => (false, "DETECTED, though argued: remove its line"),
                    (false, false) => (false, "NOT SEEN by any model"),
                };
                let line = format!("{file}:{site}: {verdict}");
                tally += if good {
                    Tally::ONE
                } else {
                    Tally::failed(&line)
                };
                report.push(line);
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

#[cfg(test)]
mod tests {
    //! Tests that orderings are found in code only, and that arguments match exactly.

    use super::sites;

    const SOURCE: &str = "
        fn publish<W>() {
            a.store(1, Ordering::Release); // Ordering::Acquire
            b.load(Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
        #[cfg(test)]
        mod tests { x(Ordering::SeqCst) }";

    #[test]
    fn each_ordering_is_weakened_alone() {
        let sites = sites(SOURCE);
        let shown: Vec<_> = sites.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "3: publish: Release as Relaxed",
                "5: publish: SeqCst as AcqRel"
            ]
        );
        assert_eq!(
            sites[0].weaken(SOURCE),
            SOURCE.replacen("Release", "Relaxed", 1)
        );
        assert_eq!(
            sites[1].weaken(SOURCE),
            SOURCE.replacen("SeqCst", "AcqRel", 1)
        );
    }

    #[test]
    fn an_argument_names_file_function_ordering_and_reason() {
        let site = &sites(SOURCE)[0];
        assert!(site.is_argued(
            "src/ring.rs: publish: Release: the fence orders it",
            "src/ring.rs"
        ));
        assert!(!site.is_argued("src/ring.rs: publish: Release: ", "src/ring.rs"));
        assert!(!site.is_argued("src/ring.rs: publish: SeqCst: why", "src/ring.rs"));
        assert!(!site.is_argued("src/flag.rs: publish: Release: why", "src/ring.rs"));
    }
}
