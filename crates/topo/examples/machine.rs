//! Shows a machine as a tree: this one, or the one a synthetic string describes.
//!
//! `cargo run -p oxmpi-topo --example machine -- "package:2 core:4 pu:2"`

use oxmpi_topo::{Machine, Object};

fn main() -> Result<(), oxmpi_topo::Error> {
    let machine = match std::env::args().nth(1) {
        Some(text) => Machine::from_synthetic(&text)?,
        None => Machine::this()?.default_view(),
    };
    show(machine.root(), 0);
    Ok(())
}

fn show(object: Object<'_>, depth: usize) {
    println!("{:1$}{object} ({2})", "", 2 * depth, object.cpus());
    for inside in object.memory().chain(object.children()) {
        show(inside, depth + 1);
    }
}
