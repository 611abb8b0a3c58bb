//! Prints a machine as SVG: this one, or the one that a recording, a file or a synthetic string describes.
//!
//! `cargo run -p oxmpi-topo --example picture -- "package:2 core:4 pu:2" > machine.svg`

use oxmpi_topo::Machine;
use oxmpi_topo::render::svg::SvgOptions;
use oxmpi_topo::view::View;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = match std::env::args().nth(1) {
        Some(input) => Machine::from_input(&input)?,
        None => Machine::this()?,
    };
    let shown = View {
        disallowed: true,
        ..View::default()
    };
    print!("{}", machine.view(&shown).to_svg(&SvgOptions::default()));
    Ok(())
}
