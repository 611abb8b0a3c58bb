//! Loads the recorded files of a machine for tests, see `machines/README.md`.

use oxmpi_topo::linux::Recording;

/// Files in one text.
pub(crate) fn recording(text: &str) -> Recording {
    Recording::parse(text).unwrap_or_else(|error| panic!("{error}"))
}
