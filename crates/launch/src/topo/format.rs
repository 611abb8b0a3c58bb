//! The formats of a machine, and their names.

use std::path::Path;

use crate::diagnostics::choose;

/// The format of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TopoFormat {
    /// Text, as lstopo prints it.
    #[default]
    Text,
    Json,
    Svg,
    Xml,
    Synthetic,
}

/// Names of formats, which are also endings of files.
const NAMES: &[(&str, TopoFormat)] = &[
    ("text", TopoFormat::Text),
    ("txt", TopoFormat::Text),
    ("console", TopoFormat::Text),
    ("json", TopoFormat::Json),
    ("svg", TopoFormat::Svg),
    ("xml", TopoFormat::Xml),
    ("synthetic", TopoFormat::Synthetic),
];

impl TopoFormat {
    /// The format of this name.
    ///
    /// # Errors
    /// A sentence with all names.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        choose("format", name, NAMES)
    }

    /// The format of a file by the ending of its name.
    ///
    /// # Errors
    /// A sentence with all endings.
    pub(super) fn of_file(path: &Path) -> Result<Self, String> {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        Self::named(&ending).map_err(|_| {
            format!(
                "{}: the ending names no format; known are .txt, .svg, .xml, .json and .synthetic, or give --format",
                path.display()
            )
        })
    }
}
