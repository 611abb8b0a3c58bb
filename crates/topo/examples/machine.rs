//! Shows a machine as a tree: this one, or the one a synthetic string describes.
//!
//! `cargo run -p oxmpi-topo --example machine -- "package:2 core:4 pu:2"`

use oxmpi_topo::{Machine, SyntaxError};

fn main() -> Result<(), SyntaxError> {
    let machine = match std::env::args().nth(1) {
        Some(text) => Machine::from_synthetic(&text)?,
        None => Machine::this()?.default_view(),
    };
    print!("{}", machine.text());
    Ok(())
}
