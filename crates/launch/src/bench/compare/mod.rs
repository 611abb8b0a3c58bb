//! `oxmpi bench report`: compares benchmark results, as a page for browsers or as text.
//!
//! This module reads and writes the files; `oxmpi_bench::compare` compares and draws.

mod options;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use oxmpi_bench::compare::{Report, read};
use oxmpi_os::file::read_text;

use crate::destination::{self, Destination};
use crate::diagnostics::{self, CommandError};
use options::Options;

/// The largest file in bytes.
const BYTES_MAX: u64 = 256 << 20;

/// Runs `oxmpi bench report` with these arguments.
pub(super) fn main(arguments: Vec<OsString>) -> ExitCode {
    diagnostics::exit_code(match options::parse(&arguments) {
        Ok(None) => return diagnostics::print(options::OPTIONS.help()),
        Ok(Some(options)) => run(&options),
        Err(why) => Err(CommandError::Usage(why)),
    })
}

fn run(options: &Options) -> Result<(), CommandError> {
    let mut runs = Vec::new();
    for path in &options.files {
        let text = content(path).map_err(CommandError::Io)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let wrong = |why| CommandError::Io(format!("{}: {why}", path.display()));
        let read = read(&stem, &text).map_err(wrong)?;
        let skipped: Vec<usize> = read.iter().flat_map(|run| run.foreign.clone()).collect();
        if !skipped.is_empty() {
            diagnostics::error(format!("{}: {}", path.display(), skipped_lines(&skipped)));
        }
        runs.extend(read);
    }
    let report = Report::new(runs).map_err(|why| CommandError::Usage(why.to_string()))?;
    let text = if options.text {
        report.text()
    } else {
        report.page()
    };
    let to = Destination::new(options.output.clone(), options.force);
    destination::write(&text, &to).map_err(CommandError::Io)
}

/// The warning of lines that were skipped, with the first of these numbers.
fn skipped_lines(numbers: &[usize]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = numbers.iter().take(SHOWN).map(usize::to_string).collect();
    let (count, shown) = (numbers.len(), shown.join(", "));
    let more = if count > SHOWN { ", ..." } else { "" };
    let lines = if count == 1 { "line" } else { "lines" };
    format!(
        "warning: skips {count} {lines} of other origin: {shown}{more}; check that none is a damaged row"
    )
}

/// The text of a file.
fn content(path: &Path) -> Result<String, String> {
    read_text(path, BYTES_MAX).map_err(|why| format!("{}: cannot be read: {why}", path.display()))
}
