//! The formats of a machine's topology, and their names.

use std::path::Path;

use crate::diagnostics::choose;

/// The format of a machine's topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TopoFormat {
    /// Text, as lstopo prints it.
    #[default]
    Text,
    /// A JSON document.
    Json,
    /// A picture.
    Svg,
    /// XML, as hwloc names this format.
    Xml,
    /// A one-line description, as hwloc names this format.
    Synthetic,
}

/// The names of formats. They are also the extensions of file names.
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
    /// A message that lists all names.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        choose("format", name, NAMES)
    }

    /// The format that a file's extension names.
    ///
    /// # Errors
    /// A message that lists all extensions.
    pub(super) fn of_file(path: &Path) -> Result<Self, String> {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        Self::named(&extension).map_err(|_| {
            format!(
                "{}: the ending names no format; known are .txt, .svg, .xml, .json and .synthetic, or give --format",
                path.display()
            )
        })
    }
}
