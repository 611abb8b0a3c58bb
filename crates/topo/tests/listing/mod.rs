//! Lists the recorded files of a directory for tests.

use std::fs;
use std::path::{Path, PathBuf};

/// The paths in `directory` with the extension `wanted`, in order.
pub(crate) fn with_extension(directory: &Path, wanted: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_wanted = |path: &PathBuf| path.extension().is_some_and(|it| it == wanted);
    let mut paths: Vec<PathBuf> = paths.filter(is_wanted).collect();
    paths.sort();
    paths
}
