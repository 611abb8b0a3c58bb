//! Splits a listing into numbered lines, each a rule, a comment, a blank, or text.

use super::Error;
use core::iter::{Enumerate, Peekable};
use core::str;

/// The beginning of a rule.
const RULE: &str = "#--------";

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// `#` and dashes.
    Rule,
    /// The text after a `#` in the first column, without surrounding spaces.
    Comment(&'a str),
    /// Only spaces.
    Blank,
    /// Any other text, without surrounding spaces.
    Text(&'a str),
}

/// One line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// The line's number, from 1.
    pub(super) number: usize,
    pub(super) kind: Kind<'a>,
}

impl Line<'_> {
    /// An error at this line.
    pub(super) fn error(&self, why: impl Into<alloc::string::String>) -> Error {
        Error {
            line: self.number,
            why: why.into(),
        }
    }
}

/// The remaining lines.
pub(super) struct Lines<'a> {
    rest: Peekable<Enumerate<str::Lines<'a>>>,
    /// The number of the last line that was taken.
    passed: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lines {
            rest: text.lines().enumerate().peekable(),
            passed: 0,
        }
    }

    /// The next line, without taking it.
    pub(super) fn peek(&mut self) -> Option<Line<'a>> {
        self.rest.peek().copied().map(line)
    }

    /// Takes the next line if it is a comment, and returns it without its `#`.
    pub(super) fn comment(&mut self) -> Option<&'a str> {
        match self.peek()?.kind {
            Kind::Comment(text) => {
                self.next();
                Some(text)
            }
            _ => None,
        }
    }

    /// Skips blank lines.
    pub(super) fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|line| line.kind == Kind::Blank) {
            self.next();
        }
    }

    /// The error for a text that ends too early.
    pub(super) fn ended(&self, why: &str) -> Error {
        Error {
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

fn line((before, text): (usize, &str)) -> Line<'_> {
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
        number: before + 1,
        kind,
    }
}
