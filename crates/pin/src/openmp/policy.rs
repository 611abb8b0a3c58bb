//! `OMP_PROC_BIND`: how threads are shared out to places.
//!
//! Source: OpenMP 5.2, sections 21.1.6 (the variable) and 10.1.3 (the policies).

use alloc::vec;
use alloc::vec::Vec;

use oxmpi_text::{Error, Scanner, Words};

use crate::openmp::Levels;

/// How threads are shared out to places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Threads are not bound.
    False,
    /// Bound, as the runtime likes: as far from each other as can be.
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
const NAMES: Words = Words(&["false", "true", "primary", "master", "close", "spread"]);

impl Policy {
    /// Reads the setting, of whose list only the first counts here: the others are for regions inside.
    ///
    /// # Errors
    /// Where it is no policy.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let mut scanner = Scanner::new(text);
        let first = policy(&mut scanner)?;
        while scanner.eat(',') {
            policy(&mut scanner)?;
        }
        scanner.end("policies with commas between them")?;
        Ok(first)
    }

    /// The place of each of `threads` threads, of `places` places, the first thread at the first.
    pub(crate) fn deal(self, threads: usize, places: usize, levels: Levels) -> Vec<usize> {
        match self {
            Self::False | Self::Primary => vec![0; threads],
            _ if threads > places => crowded(threads, places),
            Self::Close => (0..threads).collect(),
            Self::True | Self::Spread => match levels {
                // What runtimes do since 2021, observed.
                Levels::Current => (0..threads)
                    .map(|thread| thread * (places + 1) / threads)
                    .collect(),
                Levels::Documented => partitions(threads, places),
            },
        }
    }
}

/// A policy and the blanks around it.
fn policy(scanner: &mut Scanner<'_>) -> Result<Policy, Error> {
    scanner.skip_blanks();
    let word = scanner.word();
    scanner.skip_blanks();
    let found = NAMES.find(&word.text.to_ascii_lowercase());
    let found = found.map_err(|error| Error {
        span: word.span,
        ..error
    })?;
    Ok(POLICIES[found])
}

/// More threads than places: some places get one thread more than others, at equal distances. The standard leaves open
/// which; these are those of LLVM's runtimes. libgomp 12 starts at the first place again with the threads that are left.
fn crowded(threads: usize, places: usize) -> Vec<usize> {
    let counts = shares(threads, places);
    let repeated = |(place, count)| core::iter::repeat_n(place, count);
    (0..places).zip(counts).flat_map(repeated).collect()
}

/// As many partitions as threads, some one place longer, at equal distances: each thread at the first of its own.
fn partitions(threads: usize, places: usize) -> Vec<usize> {
    let mut next = 0;
    let first = |share| {
        let first = next;
        next += share;
        first
    };
    shares(places, threads).map(first).collect()
}

/// How `all` are shared out to `takers`: who gets one more stand at equal distances.
fn shares(all: usize, takers: usize) -> impl Iterator<Item = usize> {
    let (share, more) = (all / takers, all % takers);
    let gap = takers.checked_div(more).unwrap_or(takers);
    let gets_more = move |taker: usize| taker.is_multiple_of(gap) && taker / gap < more;
    (0..takers).map(move |taker| share + usize::from(gets_more(taker)))
}
