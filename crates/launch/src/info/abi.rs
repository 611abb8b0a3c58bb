//! What the C library implements of the ABI of MPI 5.0.

use std::fmt::Write;

/// All functions of the ABI, each on a line; `missing` stands behind those that the library lacks. Made by `cargo xtask gen abi`.
const FUNCTIONS: &str = include_str!("abi_functions.txt");

/// The text of `--abi`.
pub(super) fn text() -> String {
    let missing: Vec<&str> = (FUNCTIONS.lines())
        .filter_map(|line| line.strip_suffix(" missing"))
        .collect();
    let all = FUNCTIONS.lines().count();
    let mut text = format!(
        "libmpi_abi.so.1 of oxmpi {} implements {} of the {all} functions of MPI 5.0's ABI.\n",
        env!("CARGO_PKG_VERSION"),
        all - missing.len()
    );
    if !missing.is_empty() {
        text += "These return MPI_ERR_UNSUPPORTED_OPERATION:\n";
    }
    for name in missing {
        let _ = writeln!(text, "{name}");
    }
    text
}

#[cfg(test)]
mod tests {
    //! Tests that the list is read as it is written.

    use super::{FUNCTIONS, text};

    #[test]
    fn functions_that_are_missing_are_listed() {
        let text = text();
        let mut lines = text.lines();
        let marks = FUNCTIONS.lines().filter(|line| line.contains(' ')).count();
        let head = format!("implements {} of the 664 functions", 664 - marks);
        assert!(lines.next().expect("a head").contains(&head), "{text}");
        assert_eq!(lines.filter(|line| line.starts_with("MPI_")).count(), marks);
        assert!(!text.contains("MPI_Init\n"), "{text}");
    }
}
