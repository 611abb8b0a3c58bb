//! The formats in which a machine is shown.

use std::path::Path;

use oxmpi_text::nearest;
use oxmpi_topo::Machine;
use oxmpi_topo::render::svg::SvgOptions;

use super::options::{Options, What};

/// A format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Format {
    /// For people, as lstopo prints it.
    #[default]
    Text,
    Json,
    Svg,
    Xml,
    Synthetic,
}

/// Names of formats, which are the endings of files, too.
const NAMES: &[(&str, Format)] = &[
    ("text", Format::Text),
    ("txt", Format::Text),
    ("console", Format::Text),
    ("json", Format::Json),
    ("svg", Format::Svg),
    ("xml", Format::Xml),
    ("synthetic", Format::Synthetic),
];

impl Format {
    /// The format of this name.
    ///
    /// # Errors
    /// A sentence with all names.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        let found = NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, format)| *format).ok_or_else(|| {
            let near = nearest(name, NAMES.iter().map(|(known, _)| *known));
            let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            format!("unknown format; {hint}known are text, svg, xml, json and synthetic")
        })
    }

    /// The format that the ending of a file's name asks for.
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

    /// The machine in this format.
    ///
    /// # Errors
    /// A sentence if the format cannot say what the machine is.
    pub(super) fn print(self, machine: &Machine, options: &Options) -> Result<String, String> {
        Ok(match self {
            Self::Text => text(machine, options),
            Self::Json => machine.to_json(&options.subject.name()) + "\n",
            Self::Svg => picture(machine, options),
            Self::Xml => machine.to_xml(),
            Self::Synthetic => machine.to_synthetic().map_err(|why| why.to_string())? + "\n",
        })
    }
}

/// As lstopo prints it.
fn text(machine: &Machine, options: &Options) -> String {
    let mut shown = machine.text().numbers(options.numbers);
    if options.each_function {
        shown = shown.each_function();
    }
    match options.what {
        What::Tree => shown.to_string(),
        What::Only(kind) => shown.only(kind).to_string(),
        What::Distances => machine.distances_text(options.numbers).to_string(),
        What::CoreKinds => machine.core_kinds_text().to_string(),
    }
}

/// As lstopo draws it, under the machine's name.
fn picture(machine: &Machine, options: &Options) -> String {
    let mut drawn = SvgOptions::default();
    drawn.title.push(options.subject.name());
    drawn.numbers = options.numbers;
    machine.to_svg(&drawn)
}
