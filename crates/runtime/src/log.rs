//! Lines of log of the transports, shown where the program shows none itself.
//!
//! Transports log by `tracing`, and never on the path of a message: strangers that they turn away, peers that
//! break the protocol. A program that has a subscriber when it joins gets these there. For all others a line
//! goes to the standard error stream, as the runtime's warnings do.

use std::io::{self, Write};

use oxmpi_text::{Error, Words};
use tracing::level_filters::LevelFilter;

const LEVELS: Words = Words(&["off", "error", "warn", "info", "debug"]);

/// The value of the setting `log`.
///
/// # Errors
/// What is none of the levels.
pub(crate) fn level(text: &str) -> Result<LevelFilter, Error> {
    Ok(match LEVELS.find(text)? {
        0 => LevelFilter::OFF,
        1 => LevelFilter::ERROR,
        2 => LevelFilter::WARN,
        3 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    })
}

/// Shows what is logged from now on by this process, which is `rank`, unless the program does.
pub(crate) fn show(level: LevelFilter, rank: u32) {
    if level == LevelFilter::OFF || tracing::dispatcher::has_been_set() {
        return;
    }
    let lines = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(move || Lines { rank })
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .finish();
    // If another thread has just set one, the program shows its log itself.
    let _ = tracing::subscriber::set_global_default(lines);
}

/// The standard error stream, where each write is a line of a rank's.
struct Lines {
    rank: u32,
}

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let rank = self.rank;
        let text = [
            format!("oxmpi: rank {rank}: ").as_bytes(),
            line.trim_ascii_start(),
        ]
        .concat();
        // One call for one line: ranks share the stream.
        io::stderr().write_all(&text)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
