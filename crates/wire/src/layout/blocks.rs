//! [`Layout`]: contiguous bytes, or equal blocks at equal distances.

use core::ops::Range;

use super::runs::{ByteRuns, Locate, StridedRuns};

/// Blocks of equal length at equal distances, as `MPI_Type_vector` of bytes (MPI 5.0, section 5.1.2). One
/// block is the contiguous case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Bytes of all blocks together.
    len: u64,
    /// Bytes of one block; `len` is a multiple of it, or less where there is one block.
    block: u64,
    /// Bytes from the start of one block to the start of the next; negative: towards lower
    /// addresses.
    stride: i64,
}

impl Layout {
    /// `len` contiguous bytes.
    #[inline]
    #[must_use]
    pub const fn contiguous(len: u64) -> Self {
        Self {
            len,
            block: len,
            stride: 0,
        }
    }

    /// `times` blocks of `block` bytes, their starts `stride` bytes apart. `None` if the total length or an
    /// offset exceeds 63 bits.
    #[must_use]
    pub const fn strided(block: u64, stride: i64, times: u32) -> Option<Self> {
        let times = times as u64;
        let (Some(len), Some(reach)) = (block.checked_mul(times), stride.checked_mul(times as i64))
        else {
            return None;
        };
        if len > i64::MAX as u64 || reach.checked_add_unsigned(block).is_none() {
            return None;
        }
        Some(if times <= 1 || block as i64 == stride {
            Self::contiguous(len)
        } else {
            Self { len, block, stride }
        })
    }

    /// Number of packed bytes.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no bytes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Length of the first block in bytes. Within it packed offsets equal offsets in memory.
    #[inline]
    #[must_use]
    pub const fn first(&self) -> u64 {
        self.block
    }

    /// Bytes from the start of one block to the start of the next.
    #[inline]
    #[must_use]
    pub const fn stride(&self) -> i64 {
        self.stride
    }

    /// Whether all bytes are contiguous.
    #[inline]
    #[must_use]
    pub const fn is_contiguous(&self) -> bool {
        self.block == self.len
    }

    /// The range of offsets that the bytes occupy, gaps included.
    #[must_use]
    pub const fn span(&self) -> Range<i64> {
        if self.is_contiguous() {
            return 0..self.len as i64;
        }
        let last = self.stride * (self.len / self.block - 1) as i64;
        let (low, high) = if last < 0 { (last, 0) } else { (0, last) };
        low..high + self.block as i64
    }

    /// The packed bytes `at..at + len` as contiguous ranges, in order.
    ///
    /// # Panics
    /// In debug builds, if the range exceeds the layout.
    #[must_use]
    pub const fn runs(&self, at: u64, len: u64) -> ByteRuns<Self> {
        debug_assert!(at <= self.len && len <= self.len - at);
        ByteRuns::new(*self, at, len)
    }
}

impl Locate for Layout {
    #[inline]
    fn locate(&self, at: u64) -> StridedRuns {
        let Self { len, block, stride } = *self;
        let blocks = StridedRuns {
            offset: 0,
            len: block,
            stride,
            times: len / block,
        };
        blocks.after(at)
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;
    use crate::layout::ByteRun;

    #[test]
    fn runs_cover_the_requested_range() {
        let layout = Layout::strided(3, 10, 4).expect("small");
        let mut bytes = (0..4i64).flat_map(|block| (0..3i64).map(move |byte| block * 10 + byte));
        let expected: [i64; 12] = core::array::from_fn(|_| bytes.next().expect("12 bytes"));
        for at in 0..=12u64 {
            for len in 0..=12 - at {
                let mut seen = at as usize;
                for ByteRun { offset, len } in layout.runs(at, len) {
                    for byte in 0..len as i64 {
                        assert_eq!(offset + byte, expected[seen]);
                        seen += 1;
                    }
                }
                assert_eq!(seen as u64, at + len);
            }
        }
    }

    #[test]
    fn backwards_and_dense() {
        let back = Layout::strided(2, -6, 3).expect("small");
        assert_eq!(back.span(), -12..2);
        assert_eq!(
            back.runs(4, 2).next(),
            Some(ByteRun {
                offset: -12,
                len: 2
            })
        );
        assert_eq!(Layout::strided(4, 4, 3), Some(Layout::contiguous(12)));
        assert_eq!(Layout::strided(4, -9, 1), Some(Layout::contiguous(4)));
    }

    #[test]
    fn too_large_is_refused() {
        assert_eq!(Layout::strided(u64::MAX, 1, 2), None);
        assert_eq!(Layout::strided(1, i64::MAX, 2), None);
        assert_eq!(Layout::strided(i64::MAX as u64, 1, 1), None);
    }
}
