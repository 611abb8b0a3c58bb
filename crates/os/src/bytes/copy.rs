//! Copies between two [`RawBytes`]: packing, unpacking, and both at once.

use oxmpi_wire::layout::{Locate, StridedRuns};

use super::RawBytes;

/// Where the blocks of a copy begin.
#[derive(Clone, Copy)]
struct Blocks {
    at: *mut u8,
    /// Bytes from one block to the next.
    stride: i64,
}

impl RawBytes {
    /// Copies `from` to these bytes, as many as both have: packs if these bytes are contiguous, unpacks if `from`
    /// is. The result for overlapping ranges is unspecified.
    ///
    /// # Cost
    /// Blocks of 1, 2, 4, 8, 12, 16, 24 or 32 bytes are moves of a fixed size in a loop, longer ones a call each.
    #[inline]
    pub fn copy_from(&self, from: &Self) {
        let len = self.len.min(from.len);
        if len as i64 > self.first.min(from.first) {
            return self.copy_runs(from, len);
        }
        // SAFETY: as many bytes as the first blocks have, which are valid by the contract of `new`; they may
        // overlap.
        unsafe { std::ptr::copy(from.start, self.start, len as usize) };
    }

    /// Copies `len` bytes of `from` to these bytes, run by run. Both have at least `len`.
    #[cold]
    fn copy_runs(&self, from: &Self, len: u64) {
        if len as i64 <= self.first {
            // SAFETY: the first block has `len` bytes, writable by the contract of `new`.
            return unsafe { from.pack(0, len, self.start) };
        }
        if len as i64 <= from.first {
            // SAFETY: the first block has `len` bytes, readable by the contract of `new`.
            return unsafe { self.unpack(0, len, from.start) };
        }
        let mut at = 0;
        while at < len {
            let source = from.locate(at).clip(len - at);
            let target = self.locate(at).clip(len - at);
            let block = source.len.min(target.len);
            let ((source, n), (target, m)) = (from.cut(source, block), self.cut(target, block));
            let times = n.min(m);
            // SAFETY: both have so many blocks of so many bytes, valid by the contract of `new`.
            unsafe { copy_blocks(source, target, block, times) };
            at += block * times;
        }
    }

    /// Ranges as blocks of `len` bytes, which is not more than one of them has; and how many blocks: of the first
    /// range alone if the blocks are shorter.
    const fn cut(&self, runs: StridedRuns, len: u64) -> (Blocks, u64) {
        let at = self.start.wrapping_offset(runs.offset as isize);
        let (stride, times) = if runs.len == len {
            (runs.stride, runs.times)
        } else {
            (len as i64, runs.len / len)
        };
        (Blocks { at, stride }, times)
    }

    /// Copies the packed bytes `at..at + len` to the memory from `to` on.
    ///
    /// # Safety
    /// They are within these bytes, and `to` is valid for writing `len` bytes.
    pub(super) unsafe fn pack(&self, at: u64, len: u64, mut to: *mut u8) {
        self.visit(at, len, &mut |runs| {
            let (source, times) = self.cut(runs, runs.len);
            let stride = runs.len as i64;
            // SAFETY: the layout names the ranges, readable by the contract of `new`; `to` advances by what is
            // copied, which is `len` bytes in all.
            unsafe { copy_blocks(source, Blocks { at: to, stride }, runs.len, times) };
            to = to.wrapping_add(runs.bytes() as usize);
        });
    }

    /// Copies the memory from `from` on to the packed bytes `at..at + len`.
    ///
    /// # Safety
    /// They are within these bytes, and `from` is valid for reading `len` bytes.
    pub(super) unsafe fn unpack(&self, at: u64, len: u64, from: *const u8) {
        let mut from = from.cast_mut();
        self.visit(at, len, &mut |runs| {
            let (target, times) = self.cut(runs, runs.len);
            let stride = runs.len as i64;
            // SAFETY: the layout names the ranges, writable by the contract of `new`; `from` advances by what is
            // copied, which is `len` bytes in all.
            unsafe { copy_blocks(Blocks { at: from, stride }, target, runs.len, times) };
            from = from.wrapping_add(runs.bytes() as usize);
        });
    }
}

/// Copies `times` blocks of `len` bytes. The result for overlapping ones is unspecified.
///
/// # Safety
/// All blocks of `from` are valid for reading, those of `to` for writing.
#[inline]
unsafe fn copy_blocks(from: Blocks, to: Blocks, len: u64, times: u64) {
    // SAFETY: by the caller's word, in each arm.
    unsafe {
        match len {
            1 => move_blocks::<1>(from, to, times),
            2 => move_blocks::<2>(from, to, times),
            4 => move_blocks::<4>(from, to, times),
            8 => move_blocks::<8>(from, to, times),
            12 => move_blocks::<12>(from, to, times),
            16 => move_blocks::<16>(from, to, times),
            24 => move_blocks::<24>(from, to, times),
            32 => move_blocks::<32>(from, to, times),
            _ => each_block(from, to, times, |from, to| {
                std::ptr::copy(from, to, len as usize);
            }),
        }
    }
}

/// As [`copy_blocks`], for blocks of `N` bytes.
///
/// # Safety
/// As for [`copy_blocks`].
#[inline]
unsafe fn move_blocks<const N: usize>(from: Blocks, to: Blocks, times: u64) {
    each_block(from, to, times, |from, to| {
        // SAFETY: the block is valid for reading by the caller's word.
        let bytes = unsafe { from.cast::<[u8; N]>().read_unaligned() };
        // SAFETY: the block is valid for writing by the caller's word.
        unsafe { to.cast::<[u8; N]>().write_unaligned(bytes) };
    });
}

/// Calls `with` for the addresses of each pair of blocks.
#[inline(always)]
fn each_block(mut from: Blocks, mut to: Blocks, times: u64, with: impl Fn(*mut u8, *mut u8)) {
    for _ in 0..times {
        with(from.at, to.at);
        from.at = from.at.wrapping_offset(from.stride as isize);
        to.at = to.at.wrapping_offset(to.stride as isize);
    }
}
