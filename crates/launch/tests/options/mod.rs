//! Tests of the options of `oxmpi run` that users of other launchers expect, with real processes.

mod counts;
mod crowding;
mod pinning;
mod words;

use crate::common::{Done, finish, oxmpi};

/// Runs `oxmpi` with these arguments to its end.
fn done(arguments: &[&str]) -> Done {
    finish(oxmpi(arguments).spawn().expect("oxmpi starts"))
}

/// The lines of an output in their order as text.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}
