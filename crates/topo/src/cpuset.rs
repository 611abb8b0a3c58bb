//! [`CpuSet`]: a set of processor numbers of any size.
//!
//! Some functions use it for numbers of NUMA nodes, and say so. [`text`] parses and prints sets as the
//! kernel's lists and masks.

pub mod text;

#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use core::ops::{BitAnd, BitOr, BitXor, Sub};

const BITS: usize = u64::BITS as usize;

/// A set of numbers that the operating system gives to processors (or to NUMA nodes).
///
/// A set takes one bit per number up to its largest; memory is the only limit. Sets with the same numbers are
/// equal and have equal hashes. Sets are ordered by their smallest number that is in one of them only: the
/// set with it is first.
///
/// ```
/// use oxmpi_topo::CpuSet;
///
/// let set: CpuSet = "0-3,8".parse()?;
/// assert!(set.contains(8) && set.len() == 5);
/// assert_eq!(set.mask().to_string(), "0000010f");
/// assert_eq!((set - CpuSet::range(0, 2)).to_string(), "2-3,8");
/// # Ok::<(), oxmpi_topo::SyntaxError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct CpuSet {
    /// Number `n` is bit `n % 64` of word `n / 64`; the last word is never zero.
    words: Vec<u64>,
}

impl CpuSet {
    /// The empty set; allocates nothing.
    pub const fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// The set of `number` alone.
    pub fn one(number: usize) -> Self {
        let mut set = Self::new();
        set.insert(number);
        set
    }

    /// The numbers from `start` up to, not including, `end`; empty if `end` is not above `start`.
    pub fn range(start: usize, end: usize) -> Self {
        let mut set = Self::new();
        set.insert_range(start, end);
        set
    }

    /// The set with these words, smallest numbers first.
    pub(crate) fn from_words(words: Vec<u64>) -> Self {
        let mut set = Self { words };
        set.trim();
        set
    }

    /// The words of the set, smallest numbers first; the last one is not zero.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Adds `number`.
    pub fn insert(&mut self, number: usize) {
        self.reserve_for(number);
        self.words[number / BITS] |= 1 << (number % BITS);
    }

    /// Adds the numbers from `start` up to, not including, `end`.
    pub fn insert_range(&mut self, start: usize, end: usize) {
        if start >= end {
            return;
        }
        let last = end - 1;
        self.reserve_for(last);
        let (from, to) = (start / BITS, last / BITS);
        for word in from..=to {
            let low = if word == from { start % BITS } else { 0 };
            let high = if word == to { last % BITS } else { BITS - 1 };
            self.words[word] |= (u64::MAX << low) & (u64::MAX >> (BITS - 1 - high));
        }
    }

    /// Removes `number`, if the set has it.
    pub fn remove(&mut self, number: usize) {
        if let Some(word) = self.words.get_mut(number / BITS) {
            *word &= !(1 << (number % BITS));
            self.trim();
        }
    }

    /// Whether `number` is in the set.
    pub fn contains(&self, number: usize) -> bool {
        self.words
            .get(number / BITS)
            .is_some_and(|word| word >> (number % BITS) & 1 == 1)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The smallest number.
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// The largest number.
    pub fn last(&self) -> Option<usize> {
        let word = self.words.last()?;
        Some(self.words.len() * BITS - 1 - word.leading_zeros() as usize)
    }

    /// The numbers in ascending order.
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            words: &self.words,
            at: 0,
            word: self.words.first().copied().unwrap_or(0),
        }
    }

    /// Whether every number of `self` is in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words.len() <= other.words.len()
            && self
                .words
                .iter()
                .zip(&other.words)
                .all(|(a, b)| a & !b == 0)
    }

    /// Whether some number is in both.
    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Applies `op` to both sets word by word, up to the end of the longer one.
    fn zip(&self, other: &Self, op: impl Fn(u64, u64) -> u64) -> Self {
        let word = |set: &Self, at: usize| set.words.get(at).copied().unwrap_or(0);
        let length = self.words.len().max(other.words.len());
        Self::from_words(
            (0..length)
                .map(|at| op(word(self, at), word(other, at)))
                .collect(),
        )
    }

    fn reserve_for(&mut self, number: usize) {
        if number / BITS >= self.words.len() {
            self.words.resize(number / BITS + 1, 0);
        }
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

/// Iterator of [`CpuSet::iter`].
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    words: &'a [u64],
    at: usize,
    word: u64,
}

impl Iterator for Iter<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.at += 1;
            self.word = *self.words.get(self.at)?;
        }
        let bit = self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        debug_assert!(self.word >> bit & 1 == 0, "each number comes once");
        Some(self.at * BITS + bit)
    }
}

impl<'a> IntoIterator for &'a CpuSet {
    type Item = usize;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut set = Self::new();
        set.extend(numbers);
        set
    }
}

impl Extend<usize> for CpuSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, numbers: I) {
        for number in numbers {
            self.insert(number);
        }
    }
}

impl PartialOrd for CpuSet {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CpuSet {
    fn cmp(&self, other: &Self) -> Ordering {
        let mut pairs = self.words.iter().zip(&other.words);
        match pairs.find(|(a, b)| a != b) {
            Some((a, b)) if a >> (a ^ b).trailing_zeros() & 1 == 1 => Ordering::Less,
            Some(_) => Ordering::Greater,
            // The longer set has a number where the other ends.
            None => other.words.len().cmp(&self.words.len()),
        }
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

/// Implements traits of operators for sets by value and by reference, with a function on words.
macro_rules! set_operators {
    ($($(#[$doc:meta])* $trait:ident::$method:ident = $op:expr;)*) => {$(
        $(#[$doc])*
        impl $trait for &CpuSet {
            type Output = CpuSet;
            fn $method(self, other: &CpuSet) -> CpuSet {
                self.zip(other, $op)
            }
        }

        $(#[$doc])*
        impl $trait for CpuSet {
            type Output = CpuSet;
            fn $method(self, other: CpuSet) -> CpuSet {
                (&self).$method(&other)
            }
        }
    )*};
}

set_operators! {
    /// Union: the numbers in either set.
    BitOr::bitor = |a, b| a | b;
    /// Intersection: the numbers in both sets.
    BitAnd::bitand = |a, b| a & b;
    /// Symmetric difference: the numbers in one set only.
    BitXor::bitxor = |a, b| a ^ b;
    /// Difference: the numbers of the first set that are not in the second.
    Sub::sub = |a, b| a & !b;
}
