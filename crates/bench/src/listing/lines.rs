//! Splits benchmark listings into numbered lines, each a rule, a comment, a blank or another text. Which of them are
//! of other origin, their readers say.

use super::ListingError;
use alloc::vec::Vec;
use core::iter::{Enumerate, Peekable};
use core::str;

/// The start of a rule; only dashes may follow.
const RULE: &str = "#--------";

/// The end of the line between the first two rules of a listing, after the program's name and version.
pub(super) const PART: &str = " part";

/// The title of a column that every table has.
pub(super) const REPETITIONS: &str = "#repetitions";

/// The beginnings of comments that say nothing about a table, which `oxmpi bench` adds to the original's.
const REMARKS: [&str; 7] = [
    "Data of ",
    "Every message is checked",
    "Messages come from ",
    "Messages walk past ",
    "Rank ",
    "Simulated: ",
    "Wrong",
];

/// The kind of a line, with its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// A separator: `#` and at least eight dashes.
    Rule,
    /// The text after a `#` in the first column, without surrounding spaces.
    Comment(&'a str),
    /// Only spaces, an empty comment, or one of the [`REMARKS`].
    Blank,
    /// Any other text, without surrounding spaces: the columns or a row of a table, or of other origin.
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

/// An iterator over the lines of a text with listings.
pub(super) struct Lines<'a> {
    rest: Peekable<Enumerate<str::Lines<'a>>>,
    /// The number of the last line that `next` returned; 0 before the first.
    passed: usize,
    /// The numbers of the skipped lines of other origin since the last line of the listing before.
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
        let &(index, text) = self.rest.peek()?;
        Some(Line {
            number: index + 1,
            kind: kind(text),
        })
    }

    /// Advances past a line that is of no use here, and notes its number if it is of other origin.
    pub(super) fn skip(&mut self) {
        let line = self.next();
        self.foreign.extend(
            line.filter(|line| line.kind != Kind::Blank)
                .map(|line| line.number),
        );
    }

    /// The name of a program, if a listing begins here: with a rule, the name and a rule.
    pub(super) fn suite(&self) -> Option<&'a str> {
        let mut ahead = self.rest.clone().map(|(_, text)| kind(text));
        if ahead.next()? != Kind::Rule {
            return None;
        }
        let name = ahead.find_map(|kind| match kind {
            Kind::Rule => Some(None),
            Kind::Comment(name) => name.ends_with(PART).then_some(Some(name)),
            Kind::Blank | Kind::Text(_) => None,
        })??;
        ahead.any(|kind| kind == Kind::Rule).then_some(name)
    }

    /// Advances past the rule below the name of the next listing and returns the program's name.
    pub(super) fn next_listing(&mut self) -> Option<&'a str> {
        loop {
            if let Some(suite) = self.suite() {
                for part in [Kind::Rule, Kind::Comment(suite), Kind::Rule] {
                    while self.peek()?.kind != part {
                        self.skip();
                    }
                    self.next();
                }
                return Some(suite);
            }
            self.peek()?;
            self.skip();
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

fn kind(text: &str) -> Kind<'_> {
    if text.starts_with(RULE) && text.trim_end()[1..].bytes().all(|b| b == b'-') {
        return Kind::Rule;
    }
    let (comment, text) = match text.strip_prefix('#') {
        Some(comment) => (true, comment.trim()),
        None => (false, text.trim()),
    };
    match comment {
        _ if text.is_empty() => Kind::Blank,
        true if REMARKS.iter().any(|remark| text.starts_with(remark)) => Kind::Blank,
        true => Kind::Comment(text),
        false => Kind::Text(text),
    }
}

/// Whether a text names the columns of a table.
pub(super) fn are_columns(text: &str) -> bool {
    text.split_whitespace().any(|word| word == REPETITIONS)
}
