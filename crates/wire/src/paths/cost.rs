//! What a message costs on a path, as a function of its size.

use super::Path;

/// Straight pieces of one cost at most.
const PIECES: usize = 3;

/// From `from` bytes on: a fixed time, and a time for each byte of the whole message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    from: u64,
    ns: u32,
    ps_per_byte: u32,
}

/// Time that a message takes one way, as a function of its size: straight pieces.
///
/// Whole numbers, so that two ends with the same figures draw the same conclusions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost([Piece; PIECES]);

impl Cost {
    /// `ns` nanoseconds and `ps_per_byte` picoseconds for each byte; 100 ps a byte are 10 GB/s.
    #[must_use]
    pub const fn line(ns: u32, ps_per_byte: u32) -> Self {
        let unused = Piece {
            from: u64::MAX,
            ns,
            ps_per_byte,
        };
        Self([Piece { from: 0, ..unused }, unused, unused])
    }

    /// The same up to `from` bytes, and from there on `ns` and `ps_per_byte` for the whole message:
    /// where an engine takes over from the processor, or a cache is full.
    ///
    /// # Panics
    /// If there are three pieces already, or an earlier one starts at `from` or later.
    #[must_use]
    pub const fn then(mut self, from: u64, ns: u32, ps_per_byte: u32) -> Self {
        let mut at = 1;
        while self.0[at].from != u64::MAX {
            at += 1;
        }
        assert!(self.0[at - 1].from < from, "pieces in the order of sizes");
        self.0[at] = Piece {
            from,
            ns,
            ps_per_byte,
        };
        self
    }

    /// Picoseconds for `len` bytes.
    #[must_use]
    pub fn ps(&self, len: u64) -> u128 {
        let piece = self.0.iter().rev().find(|piece| piece.from <= len);
        let Piece {
            ns, ps_per_byte, ..
        } = piece.unwrap_or(&self.0[0]);
        u128::from(*ns) * 1000 + u128::from(*ps_per_byte) * u128::from(len)
    }

    /// Nanoseconds for `len` bytes, rounded up.
    #[must_use]
    pub fn ns(&self, len: u64) -> u64 {
        u64::try_from(self.ps(len).div_ceil(1000)).unwrap_or(u64::MAX)
    }

    /// The first size in `first..=last` at which `other` takes less time, if there is one.
    pub(super) fn beaten(&self, other: &Self, first: u64, last: u64) -> Option<u64> {
        let less = |len| other.ps(len) < self.ps(len);
        let starts = self.0.iter().chain(&other.0).map(|piece| piece.from);
        let mut at = first;
        // Between two starts the difference is straight: it changes its sign once at most.
        while at <= last {
            let next = starts.clone().filter(|from| *from > at).min();
            let end = next.map_or(u64::MAX, |from| from - 1).min(last);
            if less(at) {
                return Some(at);
            }
            if less(end) {
                let (mut not, mut yes) = (at, end);
                while yes - not > 1 {
                    let middle = not + (yes - not) / 2;
                    if less(middle) {
                        yes = middle;
                    } else {
                        not = middle;
                    }
                }
                return Some(yes);
            }
            at = end.checked_add(1)?;
        }
        None
    }
}

/// What each path to a peer costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathCosts {
    /// E0.
    pub short: Cost,
    /// E1.
    pub frame: Cost,
    /// R0.
    pub get: Cost,
    /// R1.
    pub put: Cost,
}

impl PathCosts {
    /// PathCosts of a medium that nobody has measured: each path is taken as far as it reaches, before
    /// the next one.
    pub const IN_ORDER: Self = Self {
        short: Cost::line(0, 0),
        frame: Cost::line(1, 0),
        get: Cost::line(2, 0),
        put: Cost::line(3, 0),
    };

    /// That of one path.
    #[must_use]
    pub const fn of(&self, path: Path) -> &Cost {
        match path {
            Path::E0 => &self.short,
            Path::E1 => &self.frame,
            Path::R0 => &self.get,
            Path::R1 => &self.put,
        }
    }
}
