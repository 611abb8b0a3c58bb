//! The form in which tests keep the files of a machine, see `machines/README.md`.

use std::collections::BTreeMap;

/// Files in one text: lines that begin with `/` are paths, lines that begin with `|` their contents.
pub(crate) fn recording(text: &str) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut path = "";
    for line in text.lines() {
        match line.strip_prefix('|') {
            Some(content) => files
                .entry(path.into())
                .or_default()
                .extend([content, "\n"]),
            None => {
                path = line;
                files.insert(path.into(), String::new());
            }
        }
    }
    files
}
