//! Rules on source files: documentation, size, marks of unfinished work, paths, names of settings.
//!
//! Words that a rule looks for are spelled in two halves here, so that this file passes it.

use crate::{Repo, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// No file is longer, in lines, unless a line that begins with [`WHY_LONG`] argues why.
const LONGEST: usize = 500;
const WHY_LONG: &str = "// Longer than 500 lines: ";

/// Calls `look` on every Rust file: its path and text give findings.
pub(super) fn each_source(
    repo: &Repo,
    mut look: impl FnMut(&str, &str) -> Vec<String>,
) -> Result<Vec<String>> {
    let is_rust = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
    each_file(repo, is_rust, &mut look)
}

fn each_file(
    repo: &Repo,
    wanted: impl Fn(&Path) -> bool,
    look: &mut dyn FnMut(&str, &str) -> Vec<String>,
) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for path in repo.files()?.into_iter().filter(|path| wanted(path)) {
        let bytes = std::fs::read(repo.root.join(&path))?;
        findings.extend(look(
            &path.display().to_string(),
            &String::from_utf8_lossy(&bytes),
        ));
    }
    Ok(findings)
}

/// Lines in which one of `words` occurs.
fn lines_with(path: &str, text: &str, words: &[&str]) -> Vec<String> {
    let numbered = text.lines().enumerate();
    let hits = numbered.filter_map(|(index, line)| {
        let word = words.iter().find(|word| line.contains(**word))?;
        Some(format!("{path}:{}: {word}", index + 1))
    });
    hits.collect()
}

/// Modules that do not begin with `//!`.
pub(super) fn documented(path: &str, text: &str) -> Vec<String> {
    // A compile-fail case is a program that a user might write, seen whole in an error message.
    // A module's `tests.rs` says by its name what it is.
    let exempt = path.contains("/compile-fail/") || path.ends_with("/tests.rs");
    let documented = ["//!", "#![doc"]
        .iter()
        .any(|start| text.starts_with(start));
    match exempt || documented {
        true => Vec::new(),
        false => vec![format!("{path} does not begin with //!")],
    }
}

/// Files past the longest length.
pub(super) fn short(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    if lines <= LONGEST || text.lines().any(|line| line.starts_with(WHY_LONG)) {
        return Vec::new();
    }
    vec![format!(
        "{path}: {lines} lines; more than {LONGEST} are argued for: {WHY_LONG}..."
    )]
}

/// Bytes of a tracked file at most, but for what tests read.
const FILE_MOST: u64 = 1_000_000;
/// Bytes of all tracked files at most.
const ALL_MOST: u64 = 16_000_000;

/// Tracked files that are too large, alone or together.
pub(super) fn light(repo: &Repo) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let mut all = 0;
    for path in repo.files()? {
        let bytes = std::fs::symlink_metadata(repo.root.join(&path))?.len();
        all += bytes;
        let is_fixture = path.iter().any(|part| part == "tests" || part == "corpus");
        if bytes > FILE_MOST && !is_fixture {
            findings.push(format!(
                "{}: {bytes} bytes, at most {FILE_MOST}",
                path.display()
            ));
        }
    }
    if all > ALL_MOST {
        findings.push(format!(
            "all tracked files: {all} bytes, at most {ALL_MOST}"
        ));
    }
    Ok(findings)
}

/// Marks of unfinished work.
pub(super) fn finished(path: &str, text: &str) -> Vec<String> {
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("#[ig", "nore"),
        concat!("allow(dead", "_code)"),
        concat!("place", "holder"),
    ];
    lines_with(path, text, &marks)
}

/// Paths that exist on one machine only.
pub(super) fn portable(repo: &Repo) -> Result<Vec<String>> {
    let places = [
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("/Us", "ers/"),
    ];
    let written_by_hand = |path: &Path| {
        let extension = path
            .extension()
            .and_then(|extension| extension.to_str())
            .unwrap_or_default();
        ["rs", "md", "toml", "sh", "txt", "c", "py"].contains(&extension)
            || path == Path::new(".ci/run")
    };
    each_file(repo, written_by_hand, &mut |path, text| {
        lines_with(path, text, &places)
    })
}

/// Tests that wait for time to pass.
pub(super) fn awake(path: &str, text: &str) -> Vec<String> {
    match is_test(path) {
        true => lines_with(path, text, &[concat!("thread::", "sleep")]),
        false => Vec::new(),
    }
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// Settings that two rows name.
pub(super) fn settings(repo: &Repo) -> Result<Vec<String>> {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    each_source(repo, |path, text| {
        let mut findings = Vec::new();
        if is_test(path) {
            return findings;
        }
        for row in text.split("Setting {").skip(1) {
            let Some(name) = row
                .split('}')
                .next()
                .and_then(|row| quoted_after(row, "name:"))
            else {
                continue;
            };
            if let Some(other) = seen.insert(name.to_owned(), path.to_owned()) {
                findings.push(format!("setting '{name}' is in {other} and in {path}"));
            }
        }
        findings
    })
}

/// The string literal that follows `key` at once.
fn quoted_after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split_once(key)?
        .1
        .trim_start()
        .strip_prefix('"')?
        .split('"')
        .next()
}

#[cfg(test)]
mod tests {
    //! The small readers that the rules share.

    use super::{lines_with, quoted_after};

    #[test]
    fn lines_are_counted_from_one() {
        assert_eq!(
            lines_with("a.rs", "fine\nbad here\n", &["bad"]),
            ["a.rs:2: bad"]
        );
    }

    #[test]
    fn a_name_is_read_from_a_row() {
        assert_eq!(
            quoted_after(r#" name: "pin_domain", default: "" "#, "name:"),
            Some("pin_domain")
        );
        assert_eq!(quoted_after(" name: NAME,", "name:"), None);
    }
}
