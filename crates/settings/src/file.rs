//! Reads settings files: the subset of TOML that a flat list of settings needs.

use oxmpi_text::{Error, Expected, Scanner, Span};

/// One line `name = value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry<'a> {
    /// The name.
    pub name: &'a str,
    /// The value without quotes.
    pub value: &'a str,
    /// The line, from 1.
    pub line: usize,
}

const NAME: &str = "`name = value`, with a setting's name in lower case";
const VALUE: &str = "a number, true, false or a text in quotes, such as \"64K\"";

/// The entries of a file of lines `name = value`, blank lines and comments from `#`. A value is a number,
/// `true`, `false`, or a text in double or single quotes without escapes.
///
/// # Errors
/// The number of the first malformed line (from 1), its text, and what is wrong with it.
pub fn entries(content: &str) -> Result<Vec<FileEntry<'_>>, (usize, &str, Error)> {
    let lines = (1..).zip(content.lines());
    lines
        .filter_map(|(line, text)| match entry(text, line) {
            Ok(entry) => entry.map(Ok),
            Err(error) => Some(Err((line, text, error))),
        })
        .collect()
}

fn entry(text: &str, line: usize) -> Result<Option<FileEntry<'_>>, Error> {
    let mut scanner = Scanner::new(text);
    scanner.skip_blanks();
    if scanner.is_done() || scanner.peek() == Some('#') {
        return Ok(None);
    }
    let name = scanner.word();
    scanner.skip_blanks();
    if name.text.is_empty() || !scanner.eat('=') {
        return Err(scanner.wrong(Expected::Text(NAME)));
    }
    scanner.skip_blanks();
    let value = match scanner.peek() {
        Some(quote @ ('"' | '\'')) => {
            let start = scanner.at();
            scanner.eat(quote);
            let value = scanner.take_while(|c| c != quote && c != '\\');
            if !scanner.eat(quote) {
                let span = Span {
                    start,
                    end: text.len(),
                };
                return Err(Error::new(
                    span,
                    "a text without `\\`, closed by the quote that opened it",
                ));
            }
            value.text
        }
        _ => {
            let value = scanner.word();
            let is_number =
                !value.text.is_empty() && value.text.bytes().all(|c| c.is_ascii_digit());
            if !is_number && value.text != "true" && value.text != "false" {
                return Err(Error::new(
                    Span {
                        end: text.len(),
                        ..value.span
                    },
                    VALUE,
                ));
            }
            value.text
        }
    };
    scanner.skip_blanks();
    if scanner.peek() != Some('#') {
        scanner.end("the end of the line")?;
    }
    Ok(Some(FileEntry {
        name: name.text,
        value,
        line,
    }))
}
