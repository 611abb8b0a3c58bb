//! Ranges of memory that packed bytes occupy: one ([`ByteRun`]) or many at equal distances ([`StridedRuns`]).

use core::ops::Range;

/// A contiguous range of memory: `len` bytes from `offset`, counted from the layout's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRun {
    /// Offset of the first byte.
    pub offset: i64,
    /// Number of bytes.
    pub len: u64,
}

/// Contiguous ranges of equal length at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedRuns {
    /// Offset of the first byte.
    pub offset: i64,
    /// Bytes of one range, at least 1.
    pub len: u64,
    /// Bytes from the start of one range to the start of the next.
    pub stride: i64,
    /// Number of ranges.
    pub times: u64,
}

impl StridedRuns {
    /// One range.
    #[inline]
    #[must_use]
    pub const fn one(offset: i64, len: u64) -> Self {
        Self {
            offset,
            len,
            stride: 0,
            times: 1,
        }
    }

    /// Bytes of all ranges together.
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.len * self.times
    }

    /// What begins with byte `at` of the ranges: whole ranges, or the rest of the one that `at` is within.
    #[inline]
    #[must_use]
    pub const fn after(self, at: u64) -> Self {
        let (index, within) = (at / self.len, at % self.len);
        let distance = (index as i64).wrapping_mul(self.stride);
        let offset = self.offset.wrapping_add(distance);
        if within > 0 {
            return Self::one(offset.wrapping_add(within as i64), self.len - within);
        }
        Self {
            offset,
            times: self.times - index,
            ..self
        }
    }

    /// The first `limit` bytes, or fewer: whole ranges, or the start of one.
    #[inline]
    #[must_use]
    pub const fn clip(self, limit: u64) -> Self {
        let whole = limit / self.len;
        if whole >= self.times {
            self
        } else if whole == 0 {
            Self::one(self.offset, limit)
        } else {
            Self {
                times: whole,
                ..self
            }
        }
    }

    /// The offsets that the ranges of bytes `from..to` occupy, gaps included. `None` if there are no bytes, or an offset
    /// exceeds 63 bits. The ranges may be those of a stranger, but for their length.
    #[must_use]
    pub fn span(&self, from: u64, to: u64) -> Option<Range<i64>> {
        let last = to.checked_sub(1).filter(|&last| from <= last)?;
        let [first, last] = [from, last].map(|at| {
            let index = i64::try_from(at / self.len).ok()?;
            index.checked_mul(self.stride)?.checked_add(self.offset)
        });
        let (low, high) = (first?.min(last?), first?.max(last?));
        Some(low..high.checked_add_unsigned(self.len)?)
    }

    /// Calls `with` for the bytes `from..to` of the ranges, in order: the end of one range, whole ranges, the start
    /// of one.
    #[inline]
    pub fn visit(self, mut from: u64, to: u64, with: &mut impl FnMut(Self)) {
        while from < to {
            let next = self.after(from).clip(to - from);
            with(next);
            from += next.bytes();
        }
    }
}

/// Packed bytes whose places in memory are known.
pub trait Locate {
    /// The place of packed byte `at`, and of those after it as far as they are ranges of equal length at equal
    /// distances. They may reach beyond the end of the packed bytes.
    ///
    /// # Panics
    /// Possibly, if there is no byte `at`.
    fn locate(&self, at: u64) -> StridedRuns;
}

impl<L: Locate + ?Sized> Locate for &L {
    fn locate(&self, at: u64) -> StridedRuns {
        (**self).locate(at)
    }
}

/// Iterator of the places of a range of packed bytes, in order.
///
/// # Cost
/// One [`Locate::locate`] an item.
#[derive(Clone, Debug)]
pub struct Batches<L> {
    map: L,
    at: u64,
    left: u64,
}

impl<L: Locate> Batches<L> {
    /// The places of the `len` packed bytes of `map` from byte `at` on.
    #[must_use]
    pub const fn new(map: L, at: u64, len: u64) -> Self {
        Self { map, at, left: len }
    }
}

impl<L: Locate> Iterator for Batches<L> {
    type Item = StridedRuns;

    fn next(&mut self) -> Option<StridedRuns> {
        if self.left == 0 {
            return None;
        }
        let batch = self.map.locate(self.at).clip(self.left);
        self.at += batch.bytes();
        self.left -= batch.bytes();
        Some(batch)
    }
}

/// Iterator of the contiguous ranges that packed bytes occupy, in order.
///
/// # Cost
/// An addition for each range of a [`StridedRuns`], one [`Locate::locate`] for each of these.
#[derive(Clone, Debug)]
pub struct ByteRuns<L> {
    batches: Batches<L>,
    batch: StridedRuns,
}

impl<L: Locate> ByteRuns<L> {
    /// The ranges of the `len` packed bytes of `map` from byte `at` on.
    #[must_use]
    pub const fn new(map: L, at: u64, len: u64) -> Self {
        Self {
            batches: Batches::new(map, at, len),
            batch: StridedRuns {
                times: 0,
                ..StridedRuns::one(0, 1)
            },
        }
    }
}

impl<L: Locate> Iterator for ByteRuns<L> {
    type Item = ByteRun;

    fn next(&mut self) -> Option<ByteRun> {
        if self.batch.times == 0 {
            self.batch = self.batches.next()?;
        }
        let StridedRuns { offset, len, .. } = self.batch;
        self.batch.offset = offset.wrapping_add(self.batch.stride);
        self.batch.times -= 1;
        Some(ByteRun { offset, len })
    }
}
