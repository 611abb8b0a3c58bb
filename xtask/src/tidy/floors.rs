//! The building: imports go down, and each crate keeps the level that it promises.

use crate::repo::Package;
use crate::{Repo, Result};
use std::collections::BTreeMap;

/// The table that the rules apply.
const TABLE: &str = include_str!("floors.txt");

/// `floors.txt`, parsed.
#[derive(Default)]
struct Floors<'a> {
    crates: BTreeMap<&'a str, CrateFloor<'a>>,
    dev: Vec<&'a str>,
    only: BTreeMap<&'a str, Vec<&'a str>>,
}

/// The line of one crate: its floor, its level, and the crates beside it that it may import.
struct CrateFloor<'a> {
    floor: u32,
    level: &'a str,
    beside: Vec<&'a str>,
}

impl<'a> Floors<'a> {
    fn parse(table: &'a str) -> Result<Floors<'a>> {
        let mut floors = Floors::default();
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                [] => {}
                ["floor", floor, name, level, ref beside @ ..] => {
                    let crate_floor = CrateFloor {
                        floor: floor.parse()?,
                        level,
                        beside: beside.to_vec(),
                    };
                    floors.crates.insert(name, crate_floor);
                }
                ["dev", name] => floors.dev.push(name),
                ["only", package, ref names @ ..] => {
                    floors.only.insert(package, names.to_vec());
                }
                _ => return Err(format!("floors.txt: '{line}' is none of its three lines").into()),
            }
        }
        Ok(floors)
    }

    /// Why `importer` may not import `imported`, both crates of ours.
    fn forbids(&self, importer: &str, imported: &str) -> Option<String> {
        if self.dev.contains(&imported) {
            return Some(format!(
                "{importer} imports {imported}, which is for tests only"
            ));
        }
        let Some(below) = self.crates.get(imported) else {
            return Some(format!(
                "{importer} imports {imported}, which floors.txt does not name"
            ));
        };
        if self.dev.contains(&importer) {
            return (below.floor > 1)
                .then(|| format!("{importer} imports {imported}, an implementation"));
        }
        let above = self.crates.get(importer)?;
        let allowed = below.floor < above.floor || above.beside.contains(&imported);
        (!allowed).then(|| {
            format!(
                "{importer} (floor {}) imports {imported} (floor {})",
                above.floor, below.floor
            )
        })
    }
}

/// Imports that the table forbids.
pub(super) fn imports(repo: &Repo) -> Result<Vec<String>> {
    let floors = Floors::parse(TABLE)?;
    let crates = || {
        repo.packages
            .iter()
            .filter(|package| package.name != "xtask")
    };
    let short = |name: &str| {
        crates()
            .find(|package| package.name == name)
            .map(Package::short)
    };
    let mut findings = Vec::new();
    for package in crates() {
        let importer = package.short();
        if !floors.crates.contains_key(importer) && !floors.dev.contains(&importer) {
            findings.push(format!("{importer} has no line in floors.txt"));
        }
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| !dependency.is_for_tests())
        {
            let finding = match short(&dependency.name) {
                Some(imported) => floors.forbids(importer, imported),
                None => match floors.only.get(&*dependency.name) {
                    Some(names) if !names.contains(&importer) => Some(format!(
                        "{importer} imports {}, which only {names:?} may",
                        dependency.name
                    )),
                    _ => None,
                },
            };
            findings.extend(finding);
        }
    }
    Ok(findings)
}

/// Crates whose root lacks the attribute that their level promises.
pub(super) fn levels(repo: &Repo) -> Result<Vec<String>> {
    let floors = Floors::parse(TABLE)?;
    let mut findings = Vec::new();
    for package in &repo.packages {
        let Some(crate_floor) = floors.crates.get(package.short()) else {
            continue;
        };
        let promised: &[&str] = match crate_floor.level {
            "core" => &["#![no_std]", "#![forbid(unsafe_code)]"],
            "no_std" => &["#![no_std]"],
            "safe" => &["#![forbid(unsafe_code)]"],
            _ => continue,
        };
        let file = if package.is_library() {
            "src/lib.rs"
        } else {
            "src/main.rs"
        };
        let text = repo.shell.read_file(package.folder().join(file))?;
        for attribute in promised
            .iter()
            .filter(|attribute| !text.lines().any(|line| line == **attribute))
        {
            findings.push(format!("{}/{file} lacks {attribute}", package.short()));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    //! The table forbids what goes up, sideways or into the tests' crate.

    use super::*;

    #[test]
    fn imports_go_down() {
        let floors = Floors::parse(TABLE).unwrap();
        assert_eq!(floors.forbids("runtime", "wire"), None);
        assert_eq!(floors.forbids("pin", "topo"), None);
        assert_eq!(floors.forbids("testkit", "wire"), None);
        assert!(floors.forbids("wire", "os").is_some());
        assert!(floors.forbids("topo", "pin").is_some());
        assert!(floors.forbids("coll", "wire").is_some());
        assert!(floors.forbids("launch", "testkit").is_some());
        assert!(floors.forbids("testkit", "shm").is_some());
        assert!(floors.forbids("runtime", "unheard").is_some());
    }

    #[test]
    fn a_line_of_another_kind_is_refused() {
        assert!(Floors::parse("roof 6 sky std").is_err());
    }
}
