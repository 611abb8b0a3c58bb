//! Splits a benchmark listing into numbered lines and says of each whether it is a rule, a comment, blank or text.

use super::ListingError;
use core::iter::{Enumerate, Peekable};
use core::str;

/// The start of a rule; only dashes may follow.
const RULE: &str = "#--------";

/// The kind of a line, with its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// A separator: `#` and at least eight dashes.
    Rule,
    /// The text after a `#` in the first column, without surrounding spaces.
    Comment(&'a str),
    /// Only spaces.
    Blank,
    /// Any other text, without surrounding spaces.
    Text(&'a str),
}

/// One line of the listing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// The line number, from 1.
    pub(super) number: usize,
    pub(super) kind: Kind<'a>,
}

impl Line<'_> {
    /// An error at this line; `why` says what is wrong.
    pub(super) fn error(&self, why: impl Into<alloc::string::String>) -> ListingError {
        ListingError {
            line: self.number,
            why: why.into(),
        }
    }
}

/// An iterator over the lines of a listing.
pub(super) struct Lines<'a> {
    rest: Peekable<Enumerate<str::Lines<'a>>>,
    /// The number of the last line that `next` returned; 0 before the first.
    passed: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lines {
            rest: text.lines().enumerate().peekable(),
            passed: 0,
        }
    }

    /// The next line, without advancing.
    pub(super) fn peek(&mut self) -> Option<Line<'a>> {
        self.rest.peek().copied().map(line)
    }

    /// If the next line is a comment, advances and returns it without its `#`.
    pub(super) fn comment(&mut self) -> Option<&'a str> {
        match self.peek()?.kind {
            Kind::Comment(text) => {
                self.next();
                Some(text)
            }
            _ => None,
        }
    }

    /// Advances to the next line that is not blank.
    pub(super) fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|line| line.kind == Kind::Blank) {
            self.next();
        }
    }

    /// An error after the last returned line, for a text that ends too early.
    pub(super) fn ended(&self, why: &str) -> ListingError {
        ListingError {
            line: self.passed + 1,
            why: why.into(),
        }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let line = line(self.rest.next()?);
        self.passed = line.number;
        Some(line)
    }
}

/// Classifies a line, given its index from 0 and its text.
fn line((index, text): (usize, &str)) -> Line<'_> {
    let kind = if text.starts_with(RULE) && text.trim_end()[1..].bytes().all(|b| b == b'-') {
        Kind::Rule
    } else if let Some(comment) = text.strip_prefix('#') {
        Kind::Comment(comment.trim())
    } else if text.trim().is_empty() {
        Kind::Blank
    } else {
        Kind::Text(text.trim())
    };
    Line {
        number: index + 1,
        kind,
    }
}
