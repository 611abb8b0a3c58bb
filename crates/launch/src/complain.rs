//! How every subcommand speaks: of mistakes on standard error, beginning with `oxmpi: `; else on
//! standard output.

use std::fmt::Display;
use std::io::Write;

use oxmpi_text::{Printable, nearest};

/// Exit code of a command that was not called as it should be.
pub(crate) const USAGE: u8 = 2;

/// The answer to `--version`.
pub(crate) const VERSION: &str = concat!("oxmpi ", env!("CARGO_PKG_VERSION"), "\n");

/// Prints what is wrong. It may quote names of files and devices, which must not command the terminal.
pub(crate) fn error(what: impl Display) {
    let what = what.to_string();
    let lines: Vec<String> = what
        .split('\n')
        .map(|line| Printable(line).to_string())
        .collect();
    eprintln!("oxmpi: {}", lines.join("\n"));
}

/// Prints what was asked for. A reader that has seen enough (`| head`) is no mistake.
pub(crate) fn answer(text: impl Display) {
    let _ = write!(std::io::stdout(), "{text}");
}

/// Prints that `typed` is no `kind`, the nearest of `known`, and where to read on.
pub(crate) fn unknown<'a>(
    kind: &str,
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
    help: &str,
) {
    error(unknown_text(kind, typed, known, help));
}

/// The text of [`unknown`].
pub(crate) fn unknown_text<'a>(
    kind: &str,
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
    help: &str,
) -> String {
    match nearest(typed, known) {
        Some(near) => {
            format!("unknown {kind} `{typed}`; did you mean `{near}`? See `{help}`.")
        }
        None => format!("unknown {kind} `{typed}`. See `{help}`."),
    }
}

/// What is wrong, and where to read on.
pub(crate) fn with_help(why: impl Display, help: &str) -> String {
    let why = why.to_string();
    // A caret ends its line.
    let end = if why.contains('\n') { "\n" } else { ". " };
    format!("{why}{end}See `{help}`.")
}
