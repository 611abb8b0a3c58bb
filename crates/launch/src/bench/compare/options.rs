//! The command line of `oxmpi bench report`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::options::*;

#[rustfmt::skip]
pub(super) const OPTIONS: OptionTable<Options> = OptionTable {
    command: "oxmpi bench report",
    intro: "\
Usage: oxmpi bench report [--text] [-o FILE [--force]] FILE...

Compares results of benchmarks, as a page for browsers or as text. Each FILE is the output of `oxmpi bench
--json`, the raw data of `cargo xtask compare`, or listings of the Intel MPI Benchmarks. The first run is
compared with the best of the other runs: the ratio of the times, the spread, and the rows that the first run
loses. The data of `cargo xtask compare` have one run for each implementation, and the floor: what the machine
reaches without MPI. Lines of other programs inside a listing are skipped with a warning.

The page has plots of time and bandwidth over sizes and of time over ranks. It needs no network and no script.
",
    groups: &[OptionGroup { title: "Options", rows: &[
        value(&["o", "output"], &["FILE"], "write the page to FILE instead of standard output", |o, v| { o.output = Some(v.path()); Ok(()) }),
        flag(&["force"], "overwrite that file", |o| o.force = true),
        flag(&["text"], "text instead of a page", |o| o.text = true),
        help(),
    ] }],
    operands: Operands::Each(|o, v| { o.files.push(v.path()); Ok(()) }),    ..OptionTable::GNU
};

/// The command line.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Options {
    pub(super) files: Vec<PathBuf>,
    /// Whether the report is text instead of a page.
    pub(super) text: bool,
    /// File for the report; default: standard output.
    pub(super) output: Option<PathBuf>,
    pub(super) force: bool,
}

/// Reads the words after `oxmpi bench report`. `None`: print the help.
///
/// # Errors
/// A sentence that says what is wrong and what was expected.
pub(super) fn parse(arguments: &[OsString]) -> Result<Option<Options>, String> {
    let mut options = Options::default();
    if OPTIONS.read(arguments, &mut options)? != Parsed::Run(&[]) {
        return Ok(None);
    }
    if options.files.is_empty() {
        return Err(OPTIONS.with_help("a file with results is missing"));
    }
    if options.force && options.output.is_none() {
        return Err(OPTIONS.with_help("--force needs --output: standard output is not overwritten"));
    }
    Ok(Some(options))
}

#[cfg(test)]
mod tests {
    use super::{Options, parse};
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
        let request = words("a.json --text -o page.html b.json --force");
        let expected = Options {
            files: ["a.json".into(), "b.json".into()].into(),
            text: true,
            output: Some("page.html".into()),
            force: true,
        };
        assert_eq!(request, Ok(Some(expected)));
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
