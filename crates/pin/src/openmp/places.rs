//! `OMP_PLACES` and `OMP_PROC_BIND`: places by name or by list, and threads shared out to them.
//!
//! Source: OpenMP 5.2, sections 21.1.6 and 21.2.2 (the variables) and 10.1.3 (the policies).

use alloc::vec::Vec;

use oxmpi_text::{Error, Scanner, Span, Words, whole};

use crate::openmp::Levels;
use crate::openmp::proclist::Item;

/// Where threads may be put, as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// One for each part of the machine, at most so many.
    Parts(Part, Option<usize>),
    /// These, by the operating system's numbers.
    List(Vec<Item>),
}

/// A part of the machine that is a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Threads,
    Cores,
    Sockets,
    LastCaches,
    NumaDomains,
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

/// How threads are shared out to places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Threads are not bound.
    False,
    /// Bound, as the runtime likes.
    True,
    /// All at the place of the first.
    Primary,
    /// Neighbours next to each other.
    Close,
    /// As far from each other as can be.
    Spread,
}

const POLICIES: [Policy; 6] = [
    Policy::False,
    Policy::True,
    Policy::Primary,
    Policy::Primary,
    Policy::Close,
    Policy::Spread,
];
const POLICY_NAMES: Words = Words(&["false", "true", "primary", "master", "close", "spread"]);

/// The most processors that a list may name, so that a hostile one stays small.
const MOST: usize = 1 << 16;
const LONG: &str = "at most 65536 processors in all";
const NUMBER: &str = "a number of a processor";

impl Places {
    /// Reads `OMP_PLACES`.
    ///
    /// # Errors
    /// Where the text is neither a name nor a list of places.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let mut scanner = Scanner::new(text);
        scanner.skip_blanks();
        if matches!(scanner.peek(), Some('{' | '!')) {
            return list(scanner).map(Self::List);
        }
        let word = scanner.word();
        let found = NAMES.find(&word.text.to_ascii_lowercase());
        // The lowered copy is gone, so the suggestion stays and the span is that of the word.
        let found = found.map_err(|error| Error {
            span: word.span,
            ..error
        })?;
        scanner.skip_blanks();
        let mut count = None;
        if scanner.eat('(') {
            scanner.skip_blanks();
            let number = scanner.word();
            let read = whole(
                number.text,
                1..=MOST as u64,
                "a number of places from 1 to 65536",
            );
            let read = read.map_err(|error| Error {
                span: number.span,
                ..error
            })?;
            count = Some(read as usize);
            scanner.skip_blanks();
            expect(&mut scanner, ')', "`)` behind the number of places")?;
        }
        scanner.skip_blanks();
        scanner.end("nothing behind the name of places but how many: cores(4)")?;
        Ok(Self::Parts(PARTS[found], count))
    }
}

impl Policy {
    /// Reads `OMP_PROC_BIND`, of whose list only the first counts here: the others are for regions inside.
    ///
    /// # Errors
    /// Where it is no policy.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let mut first = None;
        let mut scanner = Scanner::new(text);
        loop {
            scanner.skip_blanks();
            let word = scanner.word();
            let found = POLICY_NAMES.find(&word.text.to_ascii_lowercase());
            let found = found.map_err(|error| Error {
                span: word.span,
                ..error
            })?;
            first = first.or(Some(POLICIES[found]));
            scanner.skip_blanks();
            if !scanner.eat(',') {
                break;
            }
        }
        scanner.end("policies with commas between them")?;
        Ok(first.unwrap_or(Policy::False))
    }

    /// The place of each of `threads` threads, of `places` places, the first thread at the first.
    pub(crate) fn deal(self, threads: usize, places: usize, levels: Levels) -> Vec<usize> {
        match self {
            Self::False | Self::Primary => alloc::vec![0; threads],
            _ if threads > places => crowded(threads, places),
            Self::True | Self::Close => (0..threads).collect(),
            Self::Spread => match levels {
                // What runtimes do since 2021, observed.
                Levels::Current => (0..threads)
                    .map(|thread| thread * (places + 1) / threads)
                    .collect(),
                Levels::Documented => partitions(threads, places),
            },
        }
    }
}

/// More threads than places: some places get one thread more than others, at equal distances.
fn crowded(threads: usize, places: usize) -> Vec<usize> {
    let (share, more) = (threads / places, threads % places);
    let gap = places.checked_div(more).unwrap_or(places);
    let is_larger = |place: usize| place.is_multiple_of(gap) && place / gap < more;
    let count = |place| share + usize::from(is_larger(place));
    (0..places)
        .flat_map(|place| core::iter::repeat_n(place, count(place)))
        .collect()
}

/// As many partitions as threads, some one place longer, at equal distances: each thread at the first of its own.
fn partitions(threads: usize, places: usize) -> Vec<usize> {
    let (share, more) = (places / threads, places % threads);
    let gap = threads.checked_div(more).unwrap_or(threads);
    let is_longer = |thread: usize| thread.is_multiple_of(gap) && thread / gap < more;
    let mut next = 0;
    let first = |thread| {
        let first = next;
        next += share + usize::from(is_longer(thread));
        first
    };
    (0..threads).map(first).collect()
}

fn expect(scanner: &mut Scanner<'_>, wanted: char, what: &'static str) -> Result<(), Error> {
    match scanner.eat(wanted) {
        true => Ok(()),
        false => Err(Error::new(
            Span {
                start: scanner.at(),
                end: scanner.at(),
            },
            what,
        )),
    }
}

/// Places with commas between them, each perhaps repeated: `{0,1}:4:2`.
fn list(mut scanner: Scanner<'_>) -> Result<Vec<Item>, Error> {
    let mut places: Vec<Item> = Vec::new();
    let mut total = 0;
    loop {
        scanner.skip_blanks();
        let start = scanner.at();
        let excluded = scanner.eat('!');
        let place = place(&mut scanner)?;
        let (count, stride) = interval(&mut scanner, place.len() as i64)?;
        total += place.len().max(1).saturating_mul(count);
        if total > MOST {
            return Err(Error::new(
                Span {
                    start,
                    end: scanner.at(),
                },
                LONG,
            ));
        }
        for step in 0..count as i64 {
            let moved = place.iter().map(|cpu| *cpu as i64 + step * stride);
            let moved: Option<Item> = moved.map(|cpu| u64::try_from(cpu).ok()).collect();
            let moved = moved.ok_or(Error::new(
                Span {
                    start,
                    end: scanner.at(),
                },
                "places whose processors have numbers from 0 on",
            ))?;
            match excluded {
                true => places.retain(|other| *other != moved),
                false => places.push(moved),
            }
        }
        scanner.skip_blanks();
        if !scanner.eat(',') {
            break;
        }
    }
    scanner.end("places with commas between them")?;
    Ok(places)
}

/// `{0,1}`, `{0:4}`, `{0:4:2,!2}`.
fn place(scanner: &mut Scanner<'_>) -> Result<Item, Error> {
    expect(scanner, '{', "`{` and the processors of a place")?;
    let mut place = Item::new();
    loop {
        scanner.skip_blanks();
        let start = scanner.at();
        let excluded = scanner.eat('!');
        let from = saturated_number(scanner)?;
        let (count, stride) = interval(scanner, 1)?;
        if place.len() + count > MOST {
            return Err(Error::new(
                Span {
                    start,
                    end: scanner.at(),
                },
                LONG,
            ));
        }
        for step in 0..count as i64 {
            let cpu = u64::try_from(from as i64 + step * stride);
            let cpu = cpu.map_err(|_| {
                Error::new(
                    Span {
                        start,
                        end: scanner.at(),
                    },
                    "processors with numbers from 0 on",
                )
            })?;
            match excluded {
                true => place.retain(|other| *other != cpu),
                false => place.push(cpu),
            }
        }
        scanner.skip_blanks();
        if !scanner.eat(',') {
            break;
        }
    }
    expect(scanner, '}', "`}` at the end of a place")?;
    Ok(place)
}

fn saturated_number(scanner: &mut Scanner<'_>) -> Result<u64, Error> {
    scanner
        .number(NUMBER)
        .map(|number| number.min(i32::MAX as u64))
}

/// `:length[:stride]` behind something: how many times, and how far apart.
fn interval(scanner: &mut Scanner<'_>, stride: i64) -> Result<(usize, i64), Error> {
    let mut interval = (1, stride.max(1));
    scanner.skip_blanks();
    if scanner.eat(':') {
        scanner.skip_blanks();
        let start = scanner.at();
        let length = scanner.number("how many, at least 1")?;
        if length == 0 || length > MOST as u64 {
            return Err(Error::new(
                Span {
                    start,
                    end: scanner.at(),
                },
                "how many, from 1 to 65536",
            ));
        }
        interval.0 = length as usize;
        scanner.skip_blanks();
        if scanner.eat(':') {
            scanner.skip_blanks();
            let sign = if scanner.eat('-') { -1 } else { 1 };
            interval.1 = sign * saturated_number(scanner)? as i64;
        }
    }
    Ok(interval)
}
