//! The `oxmpi` command.
#![forbid(unsafe_code)]

fn main() {}
