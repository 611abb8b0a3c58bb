//! Lists of numbers and ranges as the Linux kernel writes CPU lists, `0-3,8,10-14:2`: parser ([`Ranges`]) and display
//! ([`NumberList`]).

use core::fmt;
use core::iter::StepBy;
use core::ops::RangeInclusive;

use crate::{Error, Expected, Scanner, Span};

const LIST: &str = "numbers and ranges such as 0-3,8,10-14:2";

/// One entry of a list: `first`, `first + step` and so on, up to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first number.
    pub first: u32,
    /// The upper bound, at least `first`; `step` may leave it out.
    pub last: u32,
    /// At least 1.
    pub step: u32,
}

impl IntoIterator for Range {
    type Item = u32;
    type IntoIter = StepBy<RangeInclusive<u32>>;

    fn into_iter(self) -> Self::IntoIter {
        (self.first..=self.last).step_by(self.step.max(1) as usize)
    }
}

/// Iterator that parses a list entry by entry and stops after the first error. An empty text is an error.
///
/// ```
/// use oxmpi_text::{NumberList, Ranges};
///
/// let mut all = Vec::new();
/// for range in Ranges::new("0-3,8,10-14:2") {
///     all.extend(range?);
/// }
/// assert_eq!(all, [0, 1, 2, 3, 8, 10, 12, 14]);
/// assert_eq!(NumberList(all.iter().copied()).to_string(), "0-3,8,10,12,14");
/// # Ok::<(), oxmpi_text::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ranges<'a> {
    scanner: Scanner<'a>,
    done: bool,
}

impl<'a> Ranges<'a> {
    /// Parses `text`, which must be a list as a whole.
    pub fn new(text: &'a str) -> Self {
        Self {
            scanner: Scanner::new(text),
            done: false,
        }
    }

    fn entry(&mut self) -> Result<Range, Error> {
        let start = self.scanner.at();
        let first = self.number()?;
        let mut range = Range {
            first,
            last: first,
            step: 1,
        };
        if self.scanner.eat('-') {
            range.last = self.number()?;
            if range.last < first {
                let span = Span {
                    start,
                    end: self.scanner.at(),
                };
                return Err(Error::new(span, "a range that goes up, such as 0-3"));
            }
            if self.scanner.eat(':') {
                let before = self.scanner.clone();
                range.step = self.number()?;
                if range.step == 0 {
                    return Err(before.wrong(Expected::Text("a step of at least 1")));
                }
            }
        }
        self.done = self.scanner.is_done();
        if !self.done && !self.scanner.eat(',') {
            return Err(self.scanner.wrong(Expected::Text(LIST)));
        }
        Ok(range)
    }

    fn number(&mut self) -> Result<u32, Error> {
        let before = self.scanner.clone();
        let value = self.scanner.number(LIST)?;
        let too_large = |_| before.wrong(Expected::Text("a number below 2^32"));
        u32::try_from(value).map_err(too_large)
    }
}

impl Iterator for Ranges<'_> {
    type Item = Result<Range, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let entry = self.entry();
        self.done |= entry.is_err();
        Some(entry)
    }
}

/// Displays numbers as a list, consecutive ones as a range; [`Ranges`] parses it back in the same order. No numbers
/// give an empty text.
#[derive(Clone, Copy, Debug)]
pub struct NumberList<I>(pub I);

impl<I: Iterator<Item = u32> + Clone> fmt::Display for NumberList<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut numbers = self.0.clone().peekable();
        let mut comma = "";
        while let Some(first) = numbers.next() {
            let mut last = first;
            while let Some(next) = numbers.next_if(|&n| last.checked_add(1) == Some(n)) {
                last = next;
            }
            write!(f, "{comma}{first}")?;
            if last > first {
                write!(f, "-{last}")?;
            }
            comma = ",";
        }
        Ok(())
    }
}
