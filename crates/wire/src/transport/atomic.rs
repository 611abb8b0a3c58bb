//! Atomic operations on one word of memory: what they are ([`Atomic`]), and what they compute.
//!
//! The arithmetic is a pure function, [`Atomic::apply`]. `oxmpi-os` performs it on memory by the processor's
//! atomic instructions.

use super::Bytes;

/// The width of the word that an [`Atomic`] changes. The word is aligned to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// 32 bits.
    Bits32,
    /// 64 bits.
    Bits64,
}

impl Width {
    /// The width of a word of `len` bytes, if there is one.
    #[must_use]
    pub const fn of_bytes(len: u64) -> Option<Self> {
        match len {
            4 => Some(Self::Bits32),
            8 => Some(Self::Bits64),
            _ => None,
        }
    }

    /// Number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }

    /// The bits of `word` that a word of this width has.
    #[must_use]
    pub const fn truncate(self, word: u64) -> u64 {
        match self {
            Self::Bits32 => word as u32 as u64,
            Self::Bits64 => word,
        }
    }

    /// The word as a signed number.
    const fn signed(self, word: u64) -> i64 {
        match self {
            Self::Bits32 => word as u32 as i32 as i64,
            Self::Bits64 => word as i64,
        }
    }

    /// Writes `word` to packed offset `at` of `bytes`, in the byte order of this machine.
    pub fn fill(self, bytes: &impl Bytes, at: u64, word: u64) {
        match self {
            Self::Bits32 => bytes.fill(at, &mut &(word as u32).to_ne_bytes()[..]),
            Self::Bits64 => bytes.fill(at, &mut &word.to_ne_bytes()[..]),
        }
    }
}

/// An atomic operation on a word, with its operands. A word of 32 bits takes their lower halves.
///
/// The names in brackets are those of the operations of MPI (MPI 5.0, sections 6.9.2 and 12.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atomic {
    /// Changes nothing (`MPI_NO_OP`).
    Fetch,
    /// Stores the operand (`MPI_REPLACE`).
    Swap(u64),
    /// Adds, wrapping around (`MPI_SUM` of integers).
    Add(u64),
    /// The bits that both have (`MPI_BAND`).
    And(u64),
    /// The bits that either has (`MPI_BOR`).
    Or(u64),
    /// The bits that exactly one has (`MPI_BXOR`).
    Xor(u64),
    /// The smaller unsigned number (`MPI_MIN`).
    Min(u64),
    /// The greater unsigned number (`MPI_MAX`).
    Max(u64),
    /// The smaller signed number (`MPI_MIN`).
    SignedMin(u64),
    /// The greater signed number (`MPI_MAX`).
    SignedMax(u64),
    /// Stores `new` if the word is `expected` (`MPI_Compare_and_swap`).
    CompareSwap {
        /// The word that must be there.
        expected: u64,
        /// The word to store.
        new: u64,
    },
}

impl Atomic {
    /// The word after the operation, where it was `old`.
    #[must_use]
    pub const fn apply(self, old: u64, width: Width) -> u64 {
        let new = match self {
            Self::Fetch => old,
            Self::Swap(operand) => operand,
            Self::Add(operand) => old.wrapping_add(operand),
            Self::And(operand) => old & operand,
            Self::Or(operand) => old | operand,
            Self::Xor(operand) => old ^ operand,
            Self::Min(operand) if width.truncate(operand) < old => operand,
            Self::Max(operand) if width.truncate(operand) > old => operand,
            Self::SignedMin(operand) if width.signed(operand) < width.signed(old) => operand,
            Self::SignedMax(operand) if width.signed(operand) > width.signed(old) => operand,
            Self::CompareSwap { expected, new } if width.truncate(expected) == old => new,
            _ => old,
        };
        width.truncate(new)
    }

    /// The operation as a code from 1 on and two operands, for a frame.
    #[must_use]
    pub const fn words(self) -> (u8, [u64; 2]) {
        match self {
            Self::Fetch => (1, [0, 0]),
            Self::Swap(operand) => (2, [operand, 0]),
            Self::Add(operand) => (3, [operand, 0]),
            Self::And(operand) => (4, [operand, 0]),
            Self::Or(operand) => (5, [operand, 0]),
            Self::Xor(operand) => (6, [operand, 0]),
            Self::Min(operand) => (7, [operand, 0]),
            Self::Max(operand) => (8, [operand, 0]),
            Self::SignedMin(operand) => (9, [operand, 0]),
            Self::SignedMax(operand) => (10, [operand, 0]),
            Self::CompareSwap { expected, new } => (11, [expected, new]),
        }
    }

    /// The reverse of [`Atomic::words`], of words that a peer sent; `None` if they are none.
    #[must_use]
    pub const fn from_words(code: u8, operands: [u64; 2]) -> Option<Self> {
        let [operand, second] = operands;
        Some(match (code, second) {
            (1, 0) if operand == 0 => Self::Fetch,
            (2, 0) => Self::Swap(operand),
            (3, 0) => Self::Add(operand),
            (4, 0) => Self::And(operand),
            (5, 0) => Self::Or(operand),
            (6, 0) => Self::Xor(operand),
            (7, 0) => Self::Min(operand),
            (8, 0) => Self::Max(operand),
            (9, 0) => Self::SignedMin(operand),
            (10, 0) => Self::SignedMax(operand),
            (11, new) => Self::CompareSwap {
                expected: operand,
                new,
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_computes_the_word() {
        let low = u64::from(u32::MAX);
        for (atomic, old, narrow, wide) in [
            (Atomic::Fetch, 7, 7, 7),
            (Atomic::Swap(low + 6), 7, 5, low + 6),
            (Atomic::Add(low), 2, 1, low + 2),
            (Atomic::And(6), 3, 2, 2),
            (Atomic::Or(6), 3, 7, 7),
            (Atomic::Xor(6), 3, 5, 5),
            (Atomic::Min(low), 3, 3, 3),
            (Atomic::Max(low), 3, low, low),
            (Atomic::SignedMin(low), 3, low, 3),
            (Atomic::SignedMax(low), 3, 3, low),
            (
                Atomic::CompareSwap {
                    expected: 3,
                    new: 9,
                },
                3,
                9,
                9,
            ),
            (
                Atomic::CompareSwap {
                    expected: 4,
                    new: 9,
                },
                3,
                3,
                3,
            ),
            (
                Atomic::CompareSwap {
                    expected: low + 4,
                    new: 9,
                },
                3,
                9,
                3,
            ),
        ] {
            let words = [Width::Bits32, Width::Bits64].map(|width| atomic.apply(old, width));
            assert_eq!(words, [narrow, wide], "{atomic:?}");
        }
    }

    #[test]
    fn words_there_and_back() {
        let mut known = 0;
        for code in 0..=u8::MAX {
            for operands in [[0, 0], [5, 0], [5, 6]] {
                if let Some(atomic) = Atomic::from_words(code, operands) {
                    assert_eq!(atomic.words(), (code, operands));
                    known += 1;
                }
            }
        }
        assert_eq!(known, 1 + 9 * 2 + 3);
    }
}
