//! Rules on packages: what a manifest holds, licences, fuzz targets.

use crate::repo::Metadata;
use crate::{Repo, Result};
use std::collections::BTreeSet;

/// Licences under which a package may be part of this one.
const LICENCES: [&str; 10] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "0BSD",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "Unlicense",
];

/// Crates without licence, README or the workspace's lints.
pub(super) fn whole(repo: &Repo) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for package in &repo.packages {
        let name = package.short();
        if package.license.as_deref() != Some("MIT OR Apache-2.0") {
            findings.push(format!("{name}: licence is not the workspace's"));
        }
        let manifest = repo.shell.read_file(package.folder().join("Cargo.toml"))?;
        if !manifest.contains("[lints]\nworkspace = true") {
            findings.push(format!("{name}: manifest lacks `[lints] workspace = true`"));
        }
        if name == "xtask" {
            continue;
        }
        let readme = repo
            .shell
            .read_file(package.folder().join("README.md"))
            .unwrap_or_default();
        if !readme.starts_with(&format!("# {}\n", package.name)) {
            findings.push(format!(
                "{name}: README.md does not begin with `# {}`",
                package.name
            ));
        }
    }
    Ok(findings)
}

/// Examples in READMEs that no compiler sees.
///
/// A library's README is part of its documentation tests and shows Rust; the programs in the root's
/// README are, word for word, examples of the runtime.
pub(super) fn readmes(repo: &Repo) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for package in repo.packages.iter().filter(|package| package.is_library()) {
        let name = package.short();
        let readme = repo.shell.read_file(package.folder().join("README.md"))?;
        if rust_blocks(&readme).next().is_none() {
            findings.push(format!("{name}: README.md has no ```rust example"));
        }
        let root = repo.shell.read_file(package.folder().join("src/lib.rs"))?;
        if !root.contains("include_str!(\"../README.md\")") {
            findings.push(format!("{name}: lib.rs does not test README.md"));
        }
    }
    let mut examples = Vec::new();
    for path in repo
        .shell
        .read_dir(repo.root.join("crates/runtime/examples"))?
    {
        if path.is_file() {
            examples.push(repo.shell.read_file(path)?);
        }
    }
    let readme = repo.shell.read_file(repo.root.join("README.md"))?;
    for block in rust_blocks(&readme) {
        if !examples.iter().any(|example| example.contains(block)) {
            let first = block.lines().next().unwrap_or_default();
            findings.push(format!(
                "README.md: the program at `{first}` is no example of crates/runtime"
            ));
        }
    }
    Ok(findings)
}

/// The Rust code in a Markdown text.
fn rust_blocks(text: &str) -> impl Iterator<Item = &str> {
    text.split("```rust\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
}

/// Packages that we are built from under a licence that is not on the list.
pub(super) fn licences(repo: &Repo) -> Result<Vec<String>> {
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let metadata = Metadata::read(&repo.shell, &["--filter-platform", &platform])?;
    let mut findings = Vec::new();
    for package in metadata.packages {
        let licence = package.license.as_deref().unwrap_or("none named");
        if !allowed(licence) {
            findings.push(format!(
                "{}: licence '{licence}' is not on the list",
                package.name
            ));
        }
    }
    Ok(findings)
}

/// Whether an SPDX expression leaves a choice made of listed licences only.
fn allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    let listed = |licence: &str| LICENCES.contains(&licence.trim());
    if expression.contains('(') {
        // Of these only the shape `(A OR B) AND C` occurs: every part has to have a listed choice.
        return plain
            .split(" AND ")
            .all(|part| part.split(" OR ").any(listed));
    }
    plain
        .split(" OR ")
        .any(|choice| choice.split(" AND ").all(listed))
}

/// Bodies of fuzz targets that stand beside the tests of the crate they need, which the tests' own
/// crate does not import.
const BODIES: &[(&str, &str)] = &[
    ("device_files", "crates/verbs/tests/hostile/device_files.rs"),
    ("handshake", "crates/tcp/tests/hostile/handshake.rs"),
    (
        "receive_queues",
        "crates/verbs/tests/hostile/receive_queues.rs",
    ),
    ("segment", "crates/shm/tests/hostile/segment"),
    ("stream", "crates/tcp/tests/hostile/stream.rs"),
    ("verbs_frames", "crates/verbs/tests/hostile/verbs_frames.rs"),
];

/// Fuzz targets without a body, and bodies without a target.
pub(super) fn fuzz_targets(repo: &Repo) -> Result<Vec<String>> {
    let names = |folder: &str| -> BTreeSet<String> {
        let files = repo
            .shell
            .read_dir(repo.root.join(folder))
            .unwrap_or_default();
        let stems = files
            .iter()
            .filter_map(|path| path.file_stem()?.to_str().map(String::from));
        stems.filter(|stem| stem != "mod").collect()
    };
    let mut bodies = names("crates/testkit/src/fuzz");
    for (name, place) in BODIES {
        if repo.root.join(place).exists() {
            bodies.insert((*name).into());
        }
    }
    let targets = names("fuzz/fuzz_targets");
    let corpora = names("fuzz/corpus");
    let mut findings = Vec::new();
    for name in bodies.union(&targets) {
        for (place, set) in [
            ("crates/testkit/src/fuzz", &bodies),
            ("fuzz/fuzz_targets", &targets),
            ("fuzz/corpus", &corpora),
        ] {
            if !set.contains(name) {
                findings.push(format!("{name} is missing from {place}"));
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    //! SPDX expressions as packages write them, and code in READMEs.

    use super::{allowed, rust_blocks};

    #[test]
    fn rust_is_told_from_other_code() {
        let text = "a\n```rust\nlet x = 1;\n```\nb\n```\nnot this\n```\n";
        assert_eq!(rust_blocks(text).collect::<Vec<_>>(), ["let x = 1;\n"]);
    }

    #[test]
    fn a_choice_of_listed_licences_is_enough() {
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-2.0 OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
        ] {
            assert!(allowed(good), "{good}");
        }
        for bad in [
            "GPL-3.0",
            "MIT AND GPL-2.0",
            "MPL-2.0",
            "(MIT OR Apache-2.0) AND GPL-2.0",
            "none named",
        ] {
            assert!(!allowed(bad), "{bad}");
        }
    }
}
