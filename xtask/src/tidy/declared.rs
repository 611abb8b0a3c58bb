//! The rule that the compiler sees every source file: a test in a file that no module declares never runs.

use crate::{Repo, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Finds files below `src/` and `tests/` that no module declares and no file of their package names.
pub(super) fn undeclared(repo: &Repo) -> Result<Vec<String>> {
    let mut texts = BTreeMap::new();
    for file in repo.files()? {
        if file
            .extension()
            .is_some_and(|kind| kind == "rs" || kind == "toml")
        {
            let text = std::fs::read_to_string(repo.root.join(&file))?;
            texts.insert(file, text);
        }
    }
    Ok(find(&texts))
}

fn find(texts: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let lost = texts.keys().filter(|file| {
        let name = file.display().to_string();
        let package = name
            .split_once("/src/")
            .or_else(|| name.split_once("/tests/"));
        // A test takes all files of this folder.
        package.is_some_and(|(package, _)| {
            name.ends_with(".rs")
                && !name.contains("/compile-fail/")
                && !is_declared(texts, file)
                && !is_named(texts, Path::new(package), file)
        })
    });
    lost.map(|file| format!("{}: no module declares it", file.display()))
        .collect()
}

/// Whether the module above says `mod NAME;`. Cargo finds the roots of crates.
fn is_declared(texts: &BTreeMap<PathBuf, String>, file: &Path) -> bool {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().display().to_string();
    let folder = file.parent().unwrap_or(file);
    let (name, above) = match &*stem(file) {
        "lib" | "main" if stem(folder) == "src" => return true,
        "mod" => (stem(folder), folder.parent().unwrap_or(folder)),
        name => (name.to_owned(), folder),
    };
    let declaration = format!("mod {name};");
    let roots = ["lib.rs", "main.rs", "mod.rs"].map(|root| above.join(root));
    let sibling = above.with_extension("rs");
    let mut modules = roots.iter().chain([&sibling]).filter(|path| *path != file);
    modules.any(|path| {
        texts
            .get(path)
            .is_some_and(|text| text.contains(&declaration))
    })
}

/// Whether cargo finds the file itself, or the manifest, an attribute `path` or an `include_str` names it.
fn is_named(texts: &BTreeMap<PathBuf, String>, package: &Path, file: &Path) -> bool {
    let Some(name) = file.file_name() else {
        return false;
    };
    let manifest = texts.get(&package.join("Cargo.toml"));
    let is_found = manifest.is_some_and(|text| !text.contains("autotests = false"));
    if is_found && file.parent() == Some(&package.join("tests")) {
        return true;
    }
    let quoted = ['/', '"'].map(|before| format!("{before}{}\"", name.display()));
    let mut others = texts.iter().filter(|(other, _)| other.starts_with(package));
    others.any(|(_, text)| quoted.iter().any(|name| text.contains(name)))
}

#[cfg(test)]
mod tests {
    //! Tests with packages of a few files.

    use super::find;

    fn lost(files: &[(&str, &str)]) -> Vec<String> {
        let texts = files.iter().map(|&(path, text)| (path.into(), text.into()));
        find(&texts.collect())
    }

    #[test]
    fn a_test_that_the_root_does_not_declare_is_found() {
        let files = [
            (
                "a/Cargo.toml",
                "autotests = false\npath = \"tests/main.rs\"",
            ),
            ("a/tests/main.rs", "mod laws;\nmod tables;"),
            ("a/tests/laws.rs", ""),
            ("a/tests/tables/mod.rs", "mod rows;"),
            ("a/tests/tables/rows.rs", ""),
        ];
        assert_eq!(lost(&files), [""; 0]);
        let more = [
            &files[..],
            &[("a/tests/tables/laws.rs", ""), ("a/tests/oracle.rs", "")],
        ]
        .concat();
        let expected = ["oracle", "tables/laws"]
            .map(|name| format!("a/tests/{name}.rs: no module declares it"));
        assert_eq!(lost(&more), expected);
    }

    #[test]
    fn roots_and_files_that_are_named_by_their_path_are_compiled() {
        let files = [
            ("a/Cargo.toml", ""),
            ("a/src/lib.rs", "mod low; include_str!(\"text.rs\")"),
            ("a/src/low.rs", "mod lower;"),
            ("a/src/low/lower.rs", ""),
            ("a/src/text.rs", ""),
            ("a/tests/alone.rs", ""),
            ("a/tests/compile-fail/b.rs", ""),
        ];
        assert_eq!(lost(&files), [""; 0]);
    }
}
