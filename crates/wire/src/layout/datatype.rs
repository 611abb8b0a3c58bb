//! [`Datatype`]: a derived datatype.

use super::bounds::Bounds;
use super::runs::{ByteRuns, Locate, StridedRuns};
use super::shape::Placed;
use super::signature::Signature;

/// A committed derived datatype (MPI 5.0, chapter 5): which bytes relative to a buffer's start belong to a message,
/// in which order, of which basic datatypes.
///
/// Its memory grows with the description, not with the number of blocks: lists have an entry for each block that was
/// named, strides none. Clones share it. All offsets, sizes and distances fit 63 bits. Several instances of a
/// datatype follow each other at distances of its extent; their packed bytes are numbered through.
///
/// ```
/// use oxmpi_wire::layout::{Basic, ByteRun, Datatype};
///
/// // The first column of a matrix of 3 by 5 doubles.
/// let double = Datatype::basic(Basic::new(1, 8, 8));
/// let column = double.vector(3, 1, 5)?;
/// assert_eq!((column.size(), column.extent()), (24, 88));
/// let rest: Vec<ByteRun> = column.runs(12, 12).collect();
/// assert_eq!(rest, [ByteRun { offset: 44, len: 4 }, ByteRun { offset: 80, len: 8 }]);
/// assert_eq!(column.signature(), double.contiguous(3)?.signature());
/// # Ok::<(), oxmpi_wire::layout::DatatypeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Datatype {
    pub(super) bytes: Placed,
    pub(super) bounds: Bounds,
    pub(super) signature: Signature,
}

impl Datatype {
    /// Packed bytes of one instance.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.bytes.shape.size
    }

    /// Lower bound: an offset in bytes.
    #[must_use]
    pub const fn lower_bound(&self) -> i64 {
        self.bounds.low()
    }

    /// Bytes from one instance to the next.
    #[must_use]
    pub const fn extent(&self) -> i64 {
        self.bounds.extent()
    }

    /// Offset of the lowest byte; 0 if there is none.
    #[must_use]
    pub const fn true_lower_bound(&self) -> i64 {
        self.bounds.of_bytes().0
    }

    /// Bytes from the lowest byte to the end of the highest one, gaps included.
    #[must_use]
    pub const fn true_extent(&self) -> i64 {
        self.bounds.of_bytes().1
    }

    /// The sequence of basic datatypes.
    #[must_use]
    pub const fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Offset of the first packed byte if the bytes of `count` instances are contiguous; `None` if there are gaps,
    /// or they are in another order.
    #[must_use]
    pub const fn contiguous_at(&self, count: u64) -> Option<i64> {
        let Placed { offset, shape } = &self.bytes;
        let touch = count <= 1 || shape.size == 0 || shape.size as i64 == self.extent();
        if shape.is_run() && touch {
            Some(*offset)
        } else {
            None
        }
    }

    /// Number of packed bytes of `count` instances. `None` if it, or an offset of a byte of theirs, exceeds 63 bits.
    #[must_use]
    pub fn size_of(&self, count: u64) -> Option<u64> {
        let size = i128::from(self.size()) * i128::from(count);
        let last = i128::from(count.saturating_sub(1)) * i128::from(self.extent());
        let moved = self.bounds.moved(last.min(0), last.max(0));
        (size == 0 || moved.is_ok()).then_some(i64::try_from(size).ok()? as u64)
    }

    /// The packed bytes `at..at + len` of instances, as contiguous ranges, in order.
    #[must_use]
    pub const fn runs(&self, at: u64, len: u64) -> ByteRuns<&Self> {
        ByteRuns::new(self, at, if self.size() == 0 { 0 } else { len })
    }

    /// Calls `with` for the places of the packed bytes `at..at + len` of instances, in order.
    ///
    /// # Cost
    /// O(depth) to begin, then O(1) for each call: less than that of an iterator.
    pub fn visit(&self, at: u64, len: u64, with: &mut impl FnMut(StridedRuns)) {
        let Placed { offset, shape } = &self.bytes;
        if len > 0 && shape.size > 0 {
            shape.visit_repeated(self.extent(), *offset, at, at + len, with);
        }
    }
}

impl Locate for Datatype {
    fn locate(&self, at: u64) -> StridedRuns {
        let Placed { offset, shape } = &self.bytes;
        let extent = self.extent();
        if shape.is_run() {
            return shape.repeated(*offset, extent, u64::MAX).after(at);
        }
        let (instance, within) = (at / shape.size, at % shape.size);
        shape.locate(offset + instance as i64 * extent, within)
    }
}
