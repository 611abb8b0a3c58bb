//! The form in which tests keep the files of a machine, see `machines/README.md`.

use oxmpi_topo::linux::Recording;

/// Files in one text.
pub(crate) fn recording(text: &str) -> Recording {
    Recording::parse(text).unwrap_or_else(|error| panic!("{error}"))
}
