//! The error of every grammar ([`Error`]), and its display with the text and carets ([`Shown`]).

use crate::printable::printable;
use core::fmt;

/// A range of a text in bytes: from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset past the last byte; equal to `start` for a position between two characters.
    pub end: usize,
}

impl Span {
    /// The part of `text` that the span covers; empty if the span exceeds the text.
    pub fn of<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start..self.end).unwrap_or("")
    }

    /// The span of the whole of `text`.
    pub fn whole(text: &str) -> Self {
        Self {
            start: 0,
            end: text.len(),
        }
    }
}

/// What a grammar expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A description: `a whole number from 1 to 64`.
    Text(&'static str),
    /// One of these, each a word to type or a phrase such as `a number`.
    OneOf(&'static [&'static str]),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::OneOf(words) => {
                for (i, word) in words.iter().enumerate() {
                    let before = match i {
                        0 => "",
                        _ if i + 1 == words.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{before}{word}")?;
                }
                Ok(())
            }
        }
    }
}

/// Why a text was refused: the wrong part, what was expected there, and the nearest known word.
///
/// It is small, `Copy` and borrows nothing from the text. [`Error::show`] displays it together with the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The part of the text that is wrong, in bytes.
    pub span: Span,
    /// What was expected there.
    pub expected: Expected,
    /// The known word nearest to the wrong part.
    pub suggestion: Option<&'static str>,
}

impl Error {
    /// An error at `span`, where `expected` was expected.
    pub fn new(span: Span, expected: &'static str) -> Self {
        Self {
            span,
            expected: Expected::Text(expected),
            suggestion: None,
        }
    }

    /// The same error `by` bytes further right, for a part that was parsed on its own.
    #[must_use]
    pub fn moved(mut self, by: usize) -> Self {
        self.span = Span {
            start: self.span.start + by,
            end: self.span.end + by,
        };
        self
    }

    /// The error with its `text`, for display.
    pub fn show<'a>(&self, text: &'a str) -> Shown<'a> {
        Shown { text, error: *self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.span.start)?;
        suggest(f, self.suggestion)
    }
}

impl core::error::Error for Error {}

/// Displays an error with its text in three lines, the last with carets under the wrong part.
///
/// Control characters appear as U+FFFD, so that the text stays on its line. A long text is cut around the wrong part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown<'a> {
    /// The text that was parsed.
    pub text: &'a str,
    /// The error about it.
    pub error: Error,
}

/// Characters of a long text that are displayed on each side of the wrong part.
const NEIGHBOURHOOD: usize = 40;

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error {
            span,
            expected,
            suggestion,
        } = self.error;
        let found = span.of(self.text);
        write!(f, "expected {expected}, found ")?;
        match found {
            "" if span.start >= self.text.len() => f.write_str("the end")?,
            "" => f.write_str("nothing")?,
            _ => write!(
                f,
                "`{}`",
                Line(found, found.chars().count() > 2 * NEIGHBOURHOOD)
            )?,
        }
        suggest(f, suggestion)?;

        let before = self.text.get(..span.start).unwrap_or(self.text);
        let cut = before
            .char_indices()
            .rev()
            .nth(NEIGHBOURHOOD - 1)
            .map_or(0, |(at, _)| at);
        let shown = self.text.get(cut..).unwrap_or("");
        let end = shown
            .char_indices()
            .nth(2 * NEIGHBOURHOOD)
            .map_or(shown.len(), |(at, _)| at);
        let (lead, tail) = (
            if cut > 0 { "..." } else { "" },
            if end < shown.len() { "..." } else { "" },
        );
        write!(f, "\n  {lead}{}{tail}\n  ", Line(&shown[..end], false))?;
        let blanks = lead.len() + before[cut..].chars().count();
        let carets = found.chars().count().clamp(1, NEIGHBOURHOOD);
        write!(f, "{:blanks$}{:^<carets$}", "", "")
    }
}

impl core::error::Error for Shown<'_> {}

fn suggest(f: &mut fmt::Formatter<'_>, suggestion: Option<&'static str>) -> fmt::Result {
    suggestion.map_or(Ok(()), |word| write!(f, "; did you mean `{word}`?"))
}

/// Displays a text on one line; if the flag is set, only its first characters.
struct Line<'a>(&'a str, bool);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        let limit = if self.1 { NEIGHBOURHOOD } else { usize::MAX };
        for letter in self.0.chars().take(limit) {
            f.write_char(printable(letter))?;
        }
        if self.1 { f.write_str("...") } else { Ok(()) }
    }
}
