//! Tasks of this repository: `cargo xtask`.

fn main() {}
