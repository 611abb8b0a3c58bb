//! [`SyntaxError`]: a syntax error in a text or a file that describes a machine, with its position.

use alloc::string::{String, ToString};
use core::fmt;
use core::num::NonZero;
use oxmpi_text::Span;

/// A syntax error in a text or file that describes a machine: the file, the position, and what is expected
/// there. Displayed with a caret under the position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    file: Option<String>,
    line: Option<NonZero<usize>>,
    text: String,
    cause: oxmpi_text::Error,
}

impl SyntaxError {
    pub(crate) fn new(text: &str, cause: oxmpi_text::Error) -> Self {
        Self {
            file: None,
            line: None,
            text: text.to_string(),
            cause,
        }
    }

    /// An error in a text of many lines: keeps only the line where `cause` begins, with its number, and
    /// blanks for tabs.
    pub(crate) fn in_lines(text: &str, cause: oxmpi_text::Error) -> Self {
        let before = text.get(..cause.span.start).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = text[start..].lines().next().unwrap_or("");
        let within = |at: usize| at.saturating_sub(start).min(line.len());
        let span = Span {
            start: within(cause.span.start),
            end: within(cause.span.end),
        };
        Self {
            file: None,
            line: NonZero::new(before.matches('\n').count() + 1),
            text: line.replace('\t', " "),
            cause: oxmpi_text::Error { span, ..cause },
        }
    }

    pub(crate) fn in_file(mut self, path: &str) -> Self {
        self.file = Some(path.to_string());
        self
    }

    /// The same error with the file's name below `directory`, the directory of a recorded machine.
    #[cfg(feature = "std")]
    pub(crate) fn below(mut self, directory: &str) -> Self {
        match &mut self.file {
            Some(file) => file.insert_str(0, directory.trim_end_matches('/')),
            None => self.file = Some(directory.trim_end_matches(['/', ':']).to_string()),
        }
        self
    }

    /// The file with the error, if the text is from a file.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The number of the line with the error, from 1, in a text of many lines.
    pub fn line(&self) -> Option<usize> {
        self.line.map(NonZero::get)
    }

    /// The text with the error; of a text with many lines only the [`line`](Self::line), with blanks for
    /// tabs.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The position in the text, and what is expected there.
    pub fn cause(&self) -> oxmpi_text::Error {
        self.cause
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        write!(f, "{}", self.cause.show(&self.text))
    }
}

impl core::error::Error for SyntaxError {}

#[cfg(test)]
mod tests {
    //! In a text with many lines, only the line with the error is kept.

    use super::SyntaxError;
    use alloc::string::ToString;
    use oxmpi_text::Span;

    #[test]
    fn a_line_is_named_and_shown() {
        let text = "cores: 4\r\nthreads:\tzwölf\r\n";
        let at = text.find("zw").unwrap();
        let span = Span {
            start: at,
            end: at + 6,
        };
        let error = SyntaxError::in_lines(text, oxmpi_text::Error::new(span, "a number"));
        assert_eq!((error.line(), error.text()), (Some(2), "threads: zwölf"));
        assert_eq!(
            error.in_file("machine").to_string(),
            "machine:2: expected a number, found `zwölf`\n  threads: zwölf\n           ^^^^^"
        );
    }

    #[test]
    fn the_end_of_a_text_is_its_last_line() {
        for (text, line) in [("", 1), ("a", 1), ("a\n", 2), ("a\nb", 2)] {
            let span = Span {
                start: text.len(),
                end: text.len(),
            };
            let error = SyntaxError::in_lines(text, oxmpi_text::Error::new(span, "more"));
            assert_eq!(error.line(), Some(line), "{text:?}");
        }
    }
}
