//! The one error of every grammar, and how it is shown.

use crate::printable::printable;
use core::fmt;

/// A part of a text, in bytes: from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte; equal to `start` for a place between two characters.
    pub end: usize,
}

impl Span {
    /// The part of `text` that the span covers; empty when the span does not fit the text.
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

/// What would have been right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// In words: `a whole number from 1 to 64`.
    Text(&'static str),
    /// One of several, each a word to type or a phrase such as `a number`.
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

/// Why a text was not understood: where, what was expected there, and the nearest right word.
///
/// It is small, `Copy` and borrows nothing from the text, so that it may outlive it; [`Error::show`]
/// joins the two again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The part of the text that is wrong, in bytes.
    pub span: Span,
    /// What would have been right there.
    pub expected: Expected,
    /// The known word that is nearest to what was typed.
    pub suggestion: Option<&'static str>,
}

impl Error {
    /// An error at `span` where `expected` would have been right.
    pub fn new(span: Span, expected: &'static str) -> Self {
        Self {
            span,
            expected: Expected::Text(expected),
            suggestion: None,
        }
    }

    /// The same error, `by` bytes further right: for a part that was parsed on its own.
    #[must_use]
    pub fn moved(mut self, by: usize) -> Self {
        self.span = Span {
            start: self.span.start + by,
            end: self.span.end + by,
        };
        self
    }

    /// The error together with the text it is about, for showing.
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

/// An error with its text: three lines, of which the last has carets under the wrong part.
///
/// Control characters are shown as U+FFFD, so that the text stays on its line. Of a long text only
/// the neighbourhood of the wrong part is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown<'a> {
    /// The text that was parsed.
    pub text: &'a str,
    /// What is wrong with it.
    pub error: Error,
}

/// How many characters of a long text are shown on each side of the wrong place.
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

/// A text on one line, cut when asked.
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
