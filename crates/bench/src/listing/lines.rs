//! Splits benchmark listings into numbered lines and says of each whether it is a rule, a comment, blank, text of a
//! table, or of other origin.

use super::ListingError;
use alloc::vec::Vec;
use core::iter::{Enumerate, Peekable};
use core::str;

/// The start of a rule; only dashes may follow.
const RULE: &str = "#--------";

/// The end of the line between the first two rules of a listing, after the program's name and version.
pub(super) const PART: &str = " part";

/// The title that names the columns of every table.
const REPETITIONS: &str = "#repetitions";

/// The end of the first word of the reason why a row was not measured, such as `time-out.;`.
const REASON: &str = ".;";

/// The kind of a line, with its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// A separator: `#` and at least eight dashes.
    Rule,
    /// The text after a `#` in the first column, without surrounding spaces.
    Comment(&'a str),
    /// Only spaces.
    Blank,
    /// The columns or a row of a table, without surrounding spaces.
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

/// An iterator over the lines of listings, without those of other origin.
pub(super) struct Lines<'a> {
    rest: Peekable<Enumerate<str::Lines<'a>>>,
    /// The number of the last line that `next` returned; 0 before the first.
    passed: usize,
    /// The numbers of the skipped lines of other origin since the start of this listing.
    pub(super) foreign: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lines {
            rest: text.lines().enumerate().peekable(),
            passed: 0,
            foreign: Vec::new(),
        }
    }

    /// The next line, without advancing.
    pub(super) fn peek(&mut self) -> Option<Line<'a>> {
        loop {
            let &(index, text) = self.rest.peek()?;
            let number = index + 1;
            if let Some(kind) = kind(text) {
                return Some(Line { number, kind });
            }
            self.foreign.push(number);
            self.rest.next();
        }
    }

    /// The name of a program between two rules, if these are the next three lines: a listing begins with them.
    pub(super) fn suite(&self) -> Option<&'a str> {
        let mut ahead = self.rest.clone().filter_map(|(_, text)| kind(text));
        match (ahead.next()?, ahead.next()?, ahead.next()?) {
            (Kind::Rule, Kind::Comment(name), Kind::Rule) if name.ends_with(PART) => Some(name),
            _ => None,
        }
    }

    /// Advances past the first three lines of the next listing and returns the program's name.
    pub(super) fn next_listing(&mut self) -> Option<&'a str> {
        while self.peek().is_some() {
            if let Some(suite) = self.suite() {
                self.foreign.clear();
                self.nth(2);
                return Some(suite);
            }
            self.next();
        }
        None
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
        let line = self.peek()?;
        self.rest.next();
        self.passed = line.number;
        Some(line)
    }
}

/// The kind of a line with this text; `None` if it is of other origin.
fn kind(text: &str) -> Option<Kind<'_>> {
    if text.starts_with(RULE) && text.trim_end()[1..].bytes().all(|b| b == b'-') {
        Some(Kind::Rule)
    } else if let Some(comment) = text.strip_prefix('#') {
        Some(Kind::Comment(comment.trim()))
    } else if text.trim().is_empty() {
        Some(Kind::Blank)
    } else {
        is_of_table(text).then_some(Kind::Text(text.trim()))
    }
}

/// Whether a text names the columns of a table, or begins as a row does: with two numbers, or with one number that is
/// alone or has a reason behind it.
fn is_of_table(text: &str) -> bool {
    let mut words = text.split_whitespace();
    if words.clone().any(|word| word == REPETITIONS) {
        return true;
    }
    let is_number =
        |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.parse::<f64>().is_ok();
    words.next().is_some_and(is_number)
        && words
            .next()
            .is_none_or(|word| is_number(word) || word.ends_with(REASON))
}
