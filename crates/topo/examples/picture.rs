//! Prints a machine as SVG: this one, a recorded one, or the one a synthetic string describes.
//!
//! `cargo run -p oxmpi-topo --example picture -- "package:2 core:4 pu:2" > machine.svg`

use oxmpi_topo::Machine;
use oxmpi_topo::linux::Root;
use oxmpi_topo::render::svg::SvgOptions;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = match std::env::args().nth(1) {
        Some(path) if std::path::Path::new(&path).is_dir() => {
            Machine::from_linux(&Root::new(path))?
        }
        Some(text) => Machine::from_synthetic(&text)?,
        None => Machine::this()?,
    };
    print!("{}", machine.to_svg(&SvgOptions::default()));
    Ok(())
}
