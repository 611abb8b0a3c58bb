//! Parses `OMP_PLACES`: the name of a part of the machine, or a list of places.
//!
//! Source: OpenMP 5.2, section 21.1.6. [`by_list`] and [`by_name`] turn the result into sets of processors.

pub(crate) mod by_list;
pub(crate) mod by_name;

use alloc::vec::Vec;

use oxmpi_text::{Error, Expected, Scanner, Span, Words};

use crate::openmp::message::Message;

pub(crate) use by_list::{Interval, Range};
pub(crate) use by_name::Part;

/// The value of `OMP_PLACES`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// One place for each part of the machine, at most this number.
    Parts(Part, usize),
    /// Places by the operating system's numbers of processors.
    List(Vec<Interval>),
}

const PARTS: [Part; 5] = [
    Part::Threads,
    Part::Cores,
    Part::Sockets,
    Part::LastCaches,
    Part::NumaDomains,
];
const NAMES: Words = Words(&[
    "threads",
    "cores",
    "sockets",
    "ll_caches",
    "numa_domains",
    "a list of places, such as {0,1},{2,3} or {0:2}:4:2",
]);

/// The most processors that a list may name: limits the memory that a hostile value takes.
const MOST: u64 = 1 << 16;

/// Why parsing failed: the runtime's message, and where in the text.
pub(crate) struct PlacesError(pub(crate) Message, pub(crate) Error);

impl From<Error> for PlacesError {
    fn from(error: Error) -> Self {
        Self(Message::PlacesSyntax, error)
    }
}

impl Places {
    /// Parses the setting.
    ///
    /// # Errors
    /// If the text is neither a name nor a list of places.
    pub(crate) fn parse(text: &str) -> Result<Self, PlacesError> {
        let mut scanner = Scanner::new(text);
        scanner.skip_blanks();
        if matches!(scanner.peek(), Some('{' | '!')) {
            return list(scanner).map(Self::List);
        }
        let word = scanner.word();
        let found = NAMES.find(&word.text.to_ascii_lowercase());
        let found = found.map_err(|error| Error {
            span: word.span,
            ..error
        })?;
        scanner.skip_blanks();
        let mut count = usize::MAX;
        if scanner.eat('(') {
            scanner.skip_blanks();
            let number = scanner.number("a number of places")?;
            // 0 places mean all.
            count = usize::try_from(number).unwrap_or(count);
            count = if count == 0 { usize::MAX } else { count };
            scanner.skip_blanks();
            expect(&mut scanner, ')', "`)` behind the number of places")?;
        }
        scanner.skip_blanks();
        scanner.end("nothing behind the name of places but how many: cores(4)")?;
        Ok(Self::Parts(PARTS[found], count))
    }
}

/// Reads places with commas between them, each perhaps repeated or excluded: `{0,1}:4:2,!{2,3}`.
fn list(mut scanner: Scanner<'_>) -> Result<Vec<Interval>, PlacesError> {
    let mut places = Vec::new();
    let mut total = 0;
    loop {
        scanner.skip_blanks();
        let start = scanner.at();
        let is_excluded = scanner.eat('!');
        let place = place(&mut scanner)?;
        let width: u64 = place.iter().map(|range| range.count).sum();
        let (count, stride) = interval(&mut scanner)?;
        total += width.max(1).saturating_mul(count);
        if total > MOST {
            return Err(too_long(start, &scanner, "at most 65536 processors in all"));
        }
        places.push(Interval {
            is_excluded,
            place,
            count,
            stride,
        });
        scanner.skip_blanks();
        if !scanner.eat(',') {
            break;
        }
    }
    scanner.end("places with commas between them")?;
    Ok(places)
}

/// Reads one place: `{0,1}`, `{0:4}`, `{0:4:2,!2}`.
fn place(scanner: &mut Scanner<'_>) -> Result<Vec<Range>, PlacesError> {
    expect(scanner, '{', "`{` and the processors of a place")?;
    let mut place = Vec::new();
    loop {
        scanner.skip_blanks();
        let is_excluded = scanner.eat('!');
        let from = processor(scanner)?;
        let (count, stride) = interval(scanner)?;
        place.push(Range {
            is_excluded,
            from,
            count,
            stride,
        });
        scanner.skip_blanks();
        if !scanner.eat(',') {
            break;
        }
    }
    expect(scanner, '}', "`}` at the end of a place")?;
    Ok(place)
}

/// Reads a processor's number or a stride, at most the largest number that runtimes hold.
fn processor(scanner: &mut Scanner<'_>) -> Result<i64, Error> {
    let number = scanner.number("a number of a processor")?;
    Ok(i32::try_from(number).unwrap_or(i32::MAX).into())
}

/// Reads `:count[:stride]`: how many repetitions, and their distance; each 1 if left out.
fn interval(scanner: &mut Scanner<'_>) -> Result<(u64, i64), PlacesError> {
    let (mut count, mut stride) = (1, 1);
    scanner.skip_blanks();
    if scanner.eat(':') {
        scanner.skip_blanks();
        let start = scanner.at();
        count = scanner.number("how many, at most 65536")?;
        if count > MOST {
            return Err(too_long(start, scanner, "how many, at most 65536"));
        }
        scanner.skip_blanks();
        if scanner.eat(':') {
            scanner.skip_blanks();
            let sign = if scanner.eat('-') { -1 } else { 1 };
            stride = sign * processor(scanner)?;
        }
    }
    Ok((count, stride))
}

/// The error for the text from `start` to here, which names too many processors.
fn too_long(start: usize, scanner: &Scanner<'_>, expected: &'static str) -> PlacesError {
    let span = Span {
        start,
        end: scanner.at(),
    };
    PlacesError(Message::PlacesTooLong(MOST), Error::new(span, expected))
}

fn expect(scanner: &mut Scanner<'_>, wanted: char, expected: &'static str) -> Result<(), Error> {
    match scanner.eat(wanted) {
        true => Ok(()),
        false => Err(scanner.wrong(Expected::Text(expected))),
    }
}
