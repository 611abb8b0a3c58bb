//! [`RawBytes`]: an address and a layout of the user's memory, which the transports copy from and to.

mod copy;
mod staged;
#[cfg(test)]
mod tests;
mod transport;

use std::ptr;

use oxmpi_wire::Layout;
use oxmpi_wire::layout::{ByteRuns, Datatype, Locate, StridedRuns};

/// Bytes of the user's memory, with their layout: contiguous, blocks at a stride, or instances of a datatype.
///
/// It is a plain address and borrows nothing. The caller of [`RawBytes::new`] guarantees that the memory
/// outlives every use; all further code is safe.
#[derive(Clone, Copy, Debug)]
pub struct RawBytes {
    /// Where offsets count from.
    start: *mut u8,
    /// Number of packed bytes.
    len: u64,
    /// Length of the first block, within which packed offsets equal offsets in memory. Of instances of a datatype,
    /// the complement of the packed offset at which the bytes begin: it is negative, so that the tests for the first
    /// block send them out of line.
    first: i64,
    /// The stride, as an address without provenance, or the datatype.
    rest: *const Datatype,
}

/// What `first` and `rest` say.
#[derive(Clone, Copy)]
enum Form<'a> {
    /// Blocks, without an end.
    Blocks(StridedRuns),
    /// Instances of a datatype, from this packed byte on.
    Instances(&'a Datatype, u64),
}

// SAFETY: an address and offsets; `RawBytes::new`'s contract holds for every thread.
unsafe impl Send for RawBytes {}
// SAFETY: a shared reference gives no more than a copy, which may be sent.
unsafe impl Sync for RawBytes {}

impl RawBytes {
    /// `len` bytes from `start`.
    ///
    /// # Safety
    /// Until the last use of this value or a copy of it, the range is initialised memory, valid for
    /// reading; valid for writing if a receive, a get or a peer's put or atomic goes there; and nobody else
    /// writes to it (or, when it is written to, reads it), except that words on which peers perform atomics
    /// may be accessed by atomic operations. `start` may be anything if `len` is 0.
    #[must_use]
    pub const unsafe fn new(start: *mut u8, len: usize) -> Self {
        Self::blocks(start, len as u64, len as u64, 0)
    }

    /// The bytes of `layout`, whose offsets count from `start`.
    ///
    /// # Safety
    /// As [`RawBytes::new`], for every byte that the layout names; none is named twice if the bytes
    /// are written.
    #[must_use]
    pub const unsafe fn with_layout(start: *mut u8, layout: Layout) -> Self {
        Self::blocks(start, layout.len(), layout.first(), layout.stride())
    }

    /// The bytes of `count` instances of `datatype`, whose offsets count from `start`.
    ///
    /// # Safety
    /// As [`RawBytes::new`], for every byte of the instances; none is named twice if the bytes are written. The
    /// datatype is neither moved nor dropped until the last use of this value or a copy of it.
    ///
    /// # Panics
    /// If the packed bytes, or an offset, exceed 63 bits: there is no such memory.
    ///
    /// # Cost
    /// No allocation, whatever the count. Contiguous bytes become those of [`RawBytes::new`].
    #[must_use]
    pub unsafe fn with_datatype(start: *mut u8, datatype: &Datatype, count: u64) -> Self {
        let len = datatype.size_of(count).expect("memory is within 63 bits");
        match datatype.contiguous_at(count) {
            _ if len == 0 => Self::empty(),
            Some(at) => Self::blocks(start.wrapping_offset(at as isize), len, len, 0),
            None => Self {
                start,
                len,
                first: !0,
                rest: ptr::from_ref(datatype),
            },
        }
    }

    /// Blocks of `first` bytes from `start`, `len` bytes in all, the starts of the blocks `stride` bytes apart.
    const fn blocks(start: *mut u8, len: u64, first: u64, stride: i64) -> Self {
        Self {
            start,
            len,
            first: first as i64,
            rest: ptr::without_provenance(stride as usize),
        }
    }

    /// No bytes.
    #[must_use]
    pub const fn empty() -> Self {
        Self::blocks(ptr::dangling_mut(), 0, 0, 0)
    }

    /// Whether the bytes have gaps between them, or are in another order than in memory.
    #[inline(always)]
    #[must_use]
    pub const fn has_gaps(&self) -> bool {
        self.first as u64 != self.len
    }

    /// The address that offsets count from.
    #[must_use]
    pub const fn start(&self) -> *mut u8 {
        self.start
    }

    /// `times` blocks of `block` bytes, the first at packed byte `at`, their starts `stride` packed bytes apart.
    /// `None` if some lie outside of these bytes, or if these bytes have gaps and the blocks are not a
    /// [range](Self::range).
    #[must_use]
    pub fn part(&self, at: u64, block: u64, stride: i64, times: u32) -> Option<Self> {
        let layout = Layout::strided(block, stride, times)?;
        if layout.is_contiguous() {
            return self.range(at, layout.len());
        }
        let span = layout.span();
        let low = i64::try_from(at).ok()?.checked_add(span.start)?;
        let high = i64::try_from(at).ok()?.checked_add(span.end)?;
        let inside = low >= 0 && high <= self.len as i64 && !self.has_gaps();
        let start = self.start.wrapping_add(at as usize);
        // SAFETY: the blocks are inside of these bytes, which are valid by the contract of `new`.
        inside.then(|| unsafe { Self::with_layout(start, layout) })
    }

    /// The `len` packed bytes from byte `at` on. `None` if some lie outside of these bytes, or if these are blocks
    /// at a stride and the range begins within one and ends in another.
    #[inline]
    #[must_use]
    pub fn range(&self, at: u64, len: u64) -> Option<Self> {
        if at > self.len || len > self.len - at {
            return None;
        }
        if self.has_gaps() {
            return self.range_with_gaps(at, len);
        }
        Some(Self::blocks(
            self.start.wrapping_add(at as usize),
            len,
            len,
            0,
        ))
    }

    #[cold]
    fn range_with_gaps(&self, at: u64, len: u64) -> Option<Self> {
        if len == 0 {
            return Some(Self::empty());
        }
        let runs = self.locate(at);
        let start = self.start.wrapping_offset(runs.offset as isize);
        if len <= runs.len {
            return Some(Self::blocks(start, len, len, 0));
        }
        match self.form() {
            Form::Blocks(blocks) => (runs.len == blocks.len)
                .then(|| Self::blocks(start, len, blocks.len, blocks.stride)),
            Form::Instances(_, first) => Some(Self {
                len,
                first: !((first + at) as i64),
                ..*self
            }),
        }
    }

    /// The packed bytes `at..at + len` as contiguous ranges, in their order.
    ///
    /// # Panics
    /// In debug builds, if some lie outside of these bytes.
    pub fn pieces(&self, at: u64, len: u64) -> impl Iterator<Item = Self> + use<> {
        debug_assert!(at <= self.len && len <= self.len - at);
        let start = self.start;
        ByteRuns::new(*self, at, len).map(move |run| {
            let start = start.wrapping_offset(run.offset as isize);
            Self::blocks(start, run.len, run.len, 0)
        })
    }

    fn form(&self) -> Form<'_> {
        match u64::try_from(self.first) {
            Ok(first) => Form::Blocks(StridedRuns {
                offset: 0,
                len: first,
                stride: self.rest.addr() as i64,
                times: u64::MAX,
            }),
            // SAFETY: only `with_datatype` makes a negative `first`; its caller keeps the datatype.
            Err(_) => Form::Instances(unsafe { &*self.rest }, !self.first as u64),
        }
    }

    /// Calls `with` for the places of the packed bytes `at..at + len`, in order.
    fn visit(&self, at: u64, len: u64, with: &mut impl FnMut(StridedRuns)) {
        match self.form() {
            Form::Blocks(runs) => runs.visit(at, at + len, with),
            Form::Instances(datatype, first) => datatype.visit(first + at, len, with),
        }
    }
}

impl Locate for RawBytes {
    fn locate(&self, at: u64) -> StridedRuns {
        match self.form() {
            Form::Blocks(runs) => runs.after(at),
            Form::Instances(datatype, first) => datatype.locate(first + at),
        }
    }
}
