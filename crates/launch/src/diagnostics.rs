//! Output and exit codes of every subcommand: answers go to standard output, errors to standard error.
//!
//! Every line of an error begins with `oxmpi: `.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use oxmpi_coll::catalog::Collective;
use oxmpi_text::{Printable, nearest};

use crate::destination::{self, Destination};

/// Exit code for a wrong command line or setting.
pub(crate) const EXIT_USAGE: u8 = 2;

/// The text of `--version`.
pub(crate) const VERSION: &str = concat!("oxmpi ", env!("CARGO_PKG_VERSION"), "\n");

/// Whether a message of [`error`] is lost.
static HAS_LOST: AtomicBool = AtomicBool::new(false);

/// Prints an error or warning. Control characters are escaped. A message that cannot be written makes the command fail:
/// see [`with_lost_messages`].
pub(crate) fn error(message: impl Display) {
    let line = format!("oxmpi: {}\n", printable(&message.to_string()));
    // A reader that stops early (`| head`) is not an error.
    if let Err(why) = io::stderr().write_all(line.as_bytes())
        && why.kind() != ErrorKind::BrokenPipe
    {
        HAS_LOST.store(true, Ordering::Relaxed);
    }
}

/// The exit code of a command that ends with `code`: 1 instead of 0 if a message is lost. Nothing else tells it, because
/// standard output is the command's answer.
pub(crate) fn with_lost_messages(code: ExitCode) -> ExitCode {
    if code == ExitCode::SUCCESS && HAS_LOST.load(Ordering::Relaxed) {
        return ExitCode::FAILURE;
    }
    code
}

/// The message with its control characters escaped, so that a quoted file name cannot drive the terminal. Newlines stay.
pub(crate) fn printable(message: &str) -> String {
    let lines = message.split('\n').map(|line| Printable(line).to_string());
    lines.collect::<Vec<_>>().join("\n")
}

/// Why a command failed, as a sentence.
pub(crate) enum CommandError {
    /// The command line or a setting is wrong: exit code 2.
    Usage(String),
    /// A file, the system or a job failed: exit code 1.
    Io(String),
}

/// Prints `text` on standard output. The exit code is 1 if standard output cannot be written.
pub(crate) fn print(text: impl Display) -> ExitCode {
    exit_code(destination::write(&text.to_string(), &Destination::Stdout).map_err(CommandError::Io))
}

/// The exit code of a command; prints its error.
pub(crate) fn exit_code(result: Result<(), CommandError>) -> ExitCode {
    let (why, code) = match result {
        Ok(()) => return ExitCode::SUCCESS,
        Err(CommandError::Usage(why)) => (why, EXIT_USAGE.into()),
        Err(CommandError::Io(why)) => (why, ExitCode::FAILURE),
    };
    error(why);
    code
}

/// An error for a name that does not exist: the name, the nearest of `known`, and the help command.
pub(crate) fn unknown_name<'a>(
    kind: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    help: &str,
) -> String {
    let hint = did_you_mean(name, known).map_or(".".into(), |hint| format!("; {hint}"));
    format!("unknown {kind} `{name}`{hint} See `{help}`.")
}

/// The question "did you mean `X`?" with the nearest of `known`, if one is near.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(name, known).map(|near| format!("did you mean `{near}`?"))
}

/// The value that `name` has in `choices`.
///
/// # Errors
/// A sentence that says what `kind` of name was expected and lists all names.
pub(crate) fn choose<T: Copy>(kind: &str, name: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let names = || choices.iter().map(|(known, _)| *known);
    let found = choices
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| *value).ok_or_else(|| {
        let hint = did_you_mean(name, names()).map_or(String::new(), |hint| hint + " ");
        let known = names().collect::<Vec<_>>().join(", ");
        format!("unknown {kind}; {hint}known are {known}")
    })
}

/// The collective of that name.
///
/// # Errors
/// A sentence that lists all names.
pub(crate) fn collective(name: &str) -> Result<Collective, String> {
    let names = Collective::ALL.map(|one| (one.name(), one));
    choose("collective", name, &names).map_err(|why| format!("`{name}`: {why}"))
}

/// An error followed by the help command.
pub(crate) fn with_help(why: impl Display, help: &str) -> String {
    let why = why.to_string();
    let end = match why.ends_with('?') {
        true => " ",
        // Text after a caret goes on a line of its own.
        false if why.contains('\n') => "\n",
        false => ". ",
    };
    format!("{why}{end}See `{help}`.")
}
