//! The command line of `oxmpi bench report`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::destination::Destination;
use crate::options::*;

#[rustfmt::skip]
pub(super) const OPTIONS: OptionTable<Typed> = OptionTable {
    command: "oxmpi bench report",
    intro: "\
Usage: oxmpi bench report [--text] [-o FILE [--force]] FILE...

Compares results of benchmarks, as a page for browsers or as text. Each FILE is the output of `oxmpi bench
--json`, the raw data of `cargo xtask compare`, or a listing of the Intel MPI Benchmarks. The first run is
compared with the best of the other runs: the ratio of the times, the spread, and the rows that the first run
loses. The data of `cargo xtask compare` have one run for each implementation, and the floor: what the machine
reaches without MPI.

The page has plots of time and bandwidth over sizes and of time over ranks. It needs no network and no script.
",
    groups: &[OptionGroup { title: "Options", rows: &[
        value(&["o", "output"], &["FILE"], "write the page to FILE instead of standard output", |o, v| { o.output = Some(v.path()); Ok(()) }),
        flag(&["force"], "overwrite that file", |o| o.force = true),
        flag(&["text"], "text instead of a page", |o| o.text = true),
        help(),
    ] }],
    outro: "",
    single_dash: SingleDash::Letters,
    operands: Operands::Each(|o, v| { o.files.push(v.path()); Ok(()) }),
};

/// The options as typed.
#[derive(Default)]
pub(super) struct Typed {
    files: Vec<PathBuf>,
    text: bool,
    output: Option<PathBuf>,
    force: bool,
}

/// The files with results, and the destination of the report.
#[derive(Debug, PartialEq)]
pub(super) struct Options {
    pub(super) files: Vec<PathBuf>,
    /// Whether the report is text instead of a page.
    pub(super) text: bool,
    pub(super) target: Destination,
}

/// Reads the words after `oxmpi bench report`. `None`: print the help.
///
/// # Errors
/// A sentence that says what is wrong and what was expected.
pub(super) fn parse(arguments: &[OsString]) -> Result<Option<Options>, String> {
    let mut typed = Typed::default();
    if OPTIONS.read(arguments, &mut typed)? != Parsed::Run(&[]) {
        return Ok(None);
    }
    let Typed {
        files,
        text,
        output,
        force,
    } = typed;
    if files.is_empty() {
        return Err(OPTIONS.with_help("a file with results is missing"));
    }
    if force && output.is_none() {
        return Err(OPTIONS.with_help("--force needs --output: standard output is not overwritten"));
    }
    Ok(Some(Options {
        files,
        text,
        target: Destination::new(output, force),
    }))
}

#[cfg(test)]
mod tests {
    use super::{Options, parse};
    use crate::destination::Destination;
    use std::ffi::OsString;

    fn words(line: &str) -> Result<Option<Options>, String> {
        parse(
            &line
                .split_whitespace()
                .map(OsString::from)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn files_and_options_in_any_order() {
        let wish = words("a.json --text -o page.html b.json --force");
        let expected = Options {
            files: ["a.json".into(), "b.json".into()].into(),
            text: true,
            target: Destination::new(Some("page.html".into()), true),
        };
        assert_eq!(wish, Ok(Some(expected)));
        assert_eq!(words("--help --wrong"), Ok(None));
    }

    #[test]
    fn errors_name_the_help_command() {
        super::OPTIONS.assert_sound();
        for (line, part) in [
            ("", "a file with results"),
            ("--txt a", "did you mean `--text`?"),
            ("-q a", "unknown option `-q`"),
            ("a -o", "-o needs FILE"),
            ("a --force", "--force needs --output"),
        ] {
            let why = words(line).unwrap_err();
            assert!(why.contains(part), "{line}: {why}");
            assert!(why.contains("oxmpi bench report --help"), "{line}: {why}");
        }
    }
}
