//! [`warn`]: warnings to the program's `tracing` subscriber, or to stderr.

use std::fmt;
use std::io::{self, Write};

use tracing::dispatcher::get_default;
use tracing::subscriber::NoSubscriber;

/// Warns as `rank`, through `tracing`. In a program without a subscriber the line goes to stderr, if
/// `stderr` is set.
#[cold]
pub(crate) fn warn(rank: u32, stderr: bool, message: fmt::Arguments<'_>) {
    tracing::warn!(rank, "{message}");
    if stderr && get_default(|program| program.is::<NoSubscriber>()) {
        // One write, since ranks share the stream. A closed stream is no error.
        let line = format!("oxmpi: rank {rank}: {message}\n");
        let _ = io::stderr().write_all(line.as_bytes());
    }
}
