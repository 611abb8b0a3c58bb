//! How every subcommand speaks: of mistakes on standard error, beginning with `oxmpi: `; else on
//! standard output.

use std::fmt::Display;
use std::process::ExitCode;

use oxmpi_text::{Printable, nearest};

use crate::target::{self, Target};

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

/// Why there is no answer.
pub(crate) enum Failure {
    /// What was typed or set is wrong.
    Usage(String),
    /// Something cannot be read or written.
    Data(String),
}

/// Prints what was asked for, and gives the exit code: failure when it cannot be written.
pub(crate) fn answer(text: impl Display) -> ExitCode {
    finish(target::put(&text.to_string(), &Target::Output).map_err(Failure::Data))
}

/// The exit code of a command, after the sentence that says why if it failed.
pub(crate) fn finish(done: Result<(), Failure>) -> ExitCode {
    let (why, code) = match done {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Usage(why)) => (why, USAGE.into()),
        Err(Failure::Data(why)) => (why, ExitCode::FAILURE),
    };
    error(why);
    code
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
