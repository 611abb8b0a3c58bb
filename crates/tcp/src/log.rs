//! What goes wrong, for people.

use std::fmt;
use std::io::{self, Write};

use tracing::dispatcher::get_default;
use tracing::subscriber::NoSubscriber;

/// A line of log of `rank`, which goes to the program's `tracing` subscriber. Where it has none it would reach nobody:
/// then it goes to the standard error stream if `stderr` says so.
#[cold]
pub(crate) fn warn(rank: u32, stderr: bool, what: fmt::Arguments<'_>) {
    tracing::warn!(rank, "{what}");
    if stderr && get_default(|program| program.is::<NoSubscriber>()) {
        // In one call, since ranks share the stream. If that is closed, nobody wants to know.
        let line = format!("oxmpi: rank {rank}: {what}\n");
        let _ = io::stderr().write_all(line.as_bytes());
    }
}
