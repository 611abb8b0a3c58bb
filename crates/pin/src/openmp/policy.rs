//! `OMP_PROC_BIND`: the policy by which threads are assigned to places.
//!
//! Source: OpenMP 5.2, sections 21.1.6 (the variable) and 10.1.3 (the policies).

use alloc::vec;
use alloc::vec::Vec;

use oxmpi_text::{Error, Scanner, Words};

use crate::openmp::Levels;

/// The policy by which threads are assigned to places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Threads are not bound.
    False,
    /// Bound as the runtime prefers: as far from each other as possible.
    True,
    /// All threads at the place of the first.
    Primary,
    /// Consecutive threads at neighbouring places.
    Close,
    /// As far from each other as possible.
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
    /// Parses the setting. Only the first policy of a list counts here: the others are for nested regions.
    ///
    /// # Errors
    /// If the text is no policy.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let mut scanner = Scanner::new(text);
        let first = policy(&mut scanner)?;
        while scanner.eat(',') {
            policy(&mut scanner)?;
        }
        scanner.end("policies with commas between them")?;
        Ok(first)
    }

    /// The place of each of `threads` threads, as an index below `places`; thread 0 is at place 0.
    pub(crate) fn deal(self, threads: usize, places: usize, levels: Levels) -> Vec<usize> {
        match self {
            Self::False | Self::Primary => vec![0; threads],
            _ if threads > places => oversubscribed(threads, places),
            Self::Close => (0..threads).collect(),
            Self::True | Self::Spread => match levels {
                // Observed in runtimes since 2021.
                Levels::Current => (0..threads)
                    .map(|thread| thread * (places + 1) / threads)
                    .collect(),
                Levels::Documented => partitions(threads, places),
            },
        }
    }
}

/// Reads a policy and the blanks around it.
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

/// For more threads than places: some places get one more thread, at equal distances. The standard leaves
/// open which places; LLVM's runtimes take these. libgomp 12 gives the remaining threads to the first places.
fn oversubscribed(threads: usize, places: usize) -> Vec<usize> {
    let counts = shares(threads, places);
    let repeated = |(place, count)| core::iter::repeat_n(place, count);
    (0..places).zip(counts).flat_map(repeated).collect()
}

/// For no more threads than places: one partition of places for each thread, some one place longer, at equal
/// distances. Each thread takes the first place of its partition.
fn partitions(threads: usize, places: usize) -> Vec<usize> {
    let mut next = 0;
    let first = |share| {
        let first = next;
        next += share;
        first
    };
    shares(places, threads).map(first).collect()
}

/// Divides `all` into `takers` shares; those that are larger by one stand at equal distances.
fn shares(all: usize, takers: usize) -> impl Iterator<Item = usize> {
    let (share, more) = (all / takers, all % takers);
    let gap = takers.checked_div(more).unwrap_or(takers);
    let gets_more = move |taker: usize| taker.is_multiple_of(gap) && taker / gap < more;
    (0..takers).map(move |taker| share + usize::from(gets_more(taker)))
}
