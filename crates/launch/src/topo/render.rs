//! A machine in the format that the options select.

use oxmpi_topo::Machine;
use oxmpi_topo::render::svg::SvgOptions;

use super::format::TopoFormat;
use super::options::{Options, ShownPart};

/// The machine in the selected format.
///
/// # Errors
/// A sentence if the format cannot describe the machine.
pub(super) fn print(machine: &Machine, options: &Options) -> Result<String, String> {
    Ok(match options.format {
        TopoFormat::Text => text(machine, options),
        TopoFormat::Json => machine.to_json(&options.input.name()) + "\n",
        TopoFormat::Svg => picture(machine, options),
        TopoFormat::Xml => machine.to_xml(),
        TopoFormat::Synthetic => machine.to_synthetic().map_err(|why| why.to_string())? + "\n",
    })
}

/// As lstopo prints it.
fn text(machine: &Machine, options: &Options) -> String {
    let mut shown = machine.text().numbers(options.numbers);
    if options.each_function {
        shown = shown.each_function();
    }
    match options.part {
        ShownPart::Tree => shown.to_string(),
        ShownPart::Only(kind) => shown.only(kind).to_string(),
        ShownPart::Distances => machine.distances_text(options.numbers).to_string(),
        ShownPart::CoreKinds => machine.core_kinds_text().to_string(),
    }
}

/// As lstopo draws it, under the machine's name.
fn picture(machine: &Machine, options: &Options) -> String {
    let mut drawn = SvgOptions::default();
    drawn.title.push(options.input.name());
    drawn.numbers = options.numbers;
    machine.to_svg(&drawn)
}
