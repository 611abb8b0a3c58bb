//! The command line of `oxmpi bench report`.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::prelude::*;

use crate::complain;
use crate::target::Target;

/// What `oxmpi bench report --help` prints.
pub(super) const HELP: &str = "\
oxmpi bench report: results held against each other

Usage: oxmpi bench report [--text] [-o FILE [--force]] FILE...

Each FILE is what `oxmpi bench --json` has written, the raw data of a comparison
(crates/bench/runs/*/runs.csv), or a listing of the Intel MPI Benchmarks. The first run is held against
the best of the others: how much longer it takes, within what spread, and which rows it has lost. A
comparison has a run for each implementation, and the floor, what the machine reaches without MPI.

The page has plots of time and bandwidth over sizes and of time over ranks. It needs no network
and no script.

  -o, --output FILE     write the page there instead of to standard output
      --force           overwrite that file
      --text            text instead of a page
  -h, --help            this text
";

const NAMES: [&str; 4] = ["--force", "--help", "--output", "--text"];

const HELP_AT: &str = "oxmpi bench report --help";

/// What the user asked for.
#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    /// Hold these against each other.
    Run(Options),
    /// Print [`HELP`].
    Help,
}

/// Which files, and where the report goes.
#[derive(Debug, PartialEq)]
pub(super) struct Options {
    pub(super) files: Vec<PathBuf>,
    /// Whether it is text instead of a page.
    pub(super) text: bool,
    pub(super) target: Target,
}

/// Reads the words after `oxmpi bench report`.
///
/// # Errors
/// A sentence that says what is wrong and what would be right.
pub(super) fn parse(arguments: Vec<OsString>) -> Result<Wish, String> {
    let (mut files, mut text, mut output, mut force) = (Vec::new(), false, None, false);
    let mut parser = lexopt::Parser::from_args(arguments);
    let with_help = |why: lexopt::Error| complain::with_help(why, HELP_AT);
    while let Some(word) = parser.next().map_err(with_help)? {
        match word {
            Short('h') | Long("help") => return Ok(Wish::Help),
            Long("text") => text = true,
            Long("force") => force = true,
            Short('o') | Long("output") => {
                output = Some(PathBuf::from(parser.value().map_err(with_help)?));
            }
            Value(file) => files.push(PathBuf::from(file)),
            Long(name) => {
                let name = format!("--{name}");
                return Err(complain::unknown_text("option", &name, NAMES, HELP_AT));
            }
            Short(letter) => {
                let name = format!("-{letter}");
                return Err(complain::unknown_text("option", &name, NAMES, HELP_AT));
            }
        }
    }
    if files.is_empty() {
        return Err(complain::with_help(
            "no file with results is named",
            HELP_AT,
        ));
    }
    if force && output.is_none() {
        return Err(complain::with_help(
            "--force without --output: nothing is overwritten",
            HELP_AT,
        ));
    }
    Ok(Wish::Run(Options {
        files,
        text,
        target: Target::new(output, force),
    }))
}

#[cfg(test)]
mod tests {
    use super::{Options, Wish, parse};
    use crate::target::Target;
    use std::ffi::OsString;

    fn words(line: &str) -> Result<Wish, String> {
        parse(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn files_and_options_in_any_order() {
        let wish = words("a.json --text -o page.html b.json --force");
        let expected = Options {
            files: ["a.json".into(), "b.json".into()].into(),
            text: true,
            target: Target::new(Some("page.html".into()), true),
        };
        assert_eq!(wish, Ok(Wish::Run(expected)));
        assert_eq!(words("--help --wrong"), Ok(Wish::Help));
    }

    #[test]
    fn errors_say_where_to_read_on() {
        for (line, part) in [
            ("", "no file with results"),
            ("--txt a", "did you mean `--text`?"),
            ("-q a", "unknown option `-q`"),
            ("a -o", "missing argument"),
            ("a --force", "--force without --output"),
        ] {
            let why = words(line).unwrap_err();
            assert!(why.contains(part), "{line}: {why}");
            assert!(why.contains("oxmpi bench report --help"), "{line}: {why}");
        }
    }
}
