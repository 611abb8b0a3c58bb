//! Memory regions: memory that the device reads and writes by itself.

use super::domain::ProtectionDomain;
use super::handle::Handle;
use crate::error::VerbsError;
use crate::ffi::{
    IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_ON_DEMAND, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE,
    ibv_mr, ibv_sge,
};
use oxmpi_os::RawBytes;
use oxmpi_os::copy::copy_to_shared;
use oxmpi_wire::Bytes;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

bitflags::bitflags! {
    /// What may be done to a region, or by the peer of a queue pair, beside local reads.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Access: u32 {
        /// This device writes: receives, and reads of remote memory.
        const LOCAL_WRITE = IBV_ACCESS_LOCAL_WRITE;
        /// Peers write; needs `LOCAL_WRITE`.
        const REMOTE_WRITE = IBV_ACCESS_REMOTE_WRITE;
        /// Peers read.
        const REMOTE_READ = IBV_ACCESS_REMOTE_READ;
        /// No page is pinned: the device asks for each when it needs it, and follows what becomes of the mappings. See
        /// [`OnDemandPaging`](crate::OnDemandPaging).
        const ON_DEMAND = IBV_ACCESS_ON_DEMAND;
    }
}

/// Registered memory: of the region itself, page-aligned and zeroed at first, or of the caller.
///
/// Devices may read and write it at any moment, so there is no slice of it: bytes are copied in and out.
pub struct MemoryRegion {
    region: Handle<ibv_mr>,
    memory: *mut u8,
    length: usize,
    /// `None`: the memory is the caller's.
    owned: Option<Arc<Pages>>,
    domain: ProtectionDomain,
}

/// Memory of regions that own it: of one, or of one of each device.
struct Pages {
    memory: *mut u8,
    layout: Layout,
}

// SAFETY: it only frees the memory.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated by the same layout, and no region has it any more.
        unsafe { dealloc(self.memory, self.layout) };
    }
}

// SAFETY: the memory is only accessed by copies that allow for other writers (`oxmpi_os::copy`).
unsafe impl Send for MemoryRegion {}
// SAFETY: as above.
unsafe impl Sync for MemoryRegion {}

/// Where a peer reads or writes: an address of its own, and the key that its region gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteAddress {
    /// The address in the peer's memory.
    pub address: u64,
    /// The key of the peer's region.
    pub rkey: u32,
}

/// A part of a region for a work request.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Segment<'a> {
    // Read by the device only, through the address of this value.
    _segment: ibv_sge,
    region: PhantomData<&'a MemoryRegion>,
}

impl Segment<'_> {
    /// No bytes.
    pub(super) const NONE: Self = Self {
        _segment: ibv_sge {
            addr: 0,
            length: 0,
            lkey: 0,
        },
        region: PhantomData,
    };
}

/// Pages are not shared with other memory: the device's are pinned.
const PAGE: usize = 4096;

/// Whole pages for `length` bytes.
fn pages(length: usize) -> Layout {
    Layout::from_size_align(length.max(1).next_multiple_of(PAGE), PAGE)
        .expect("less than isize::MAX bytes")
}

impl ProtectionDomain {
    /// Allocates and registers `length` bytes.
    ///
    /// # Errors
    /// When the process may not lock so much memory, or the device has no room for another region.
    ///
    /// # Panics
    /// If `length` is 2^63 or more.
    ///
    /// # Cost
    /// A system call; every page is pinned.
    pub fn register(&self, length: usize, access: Access) -> Result<MemoryRegion, VerbsError> {
        let layout = pages(length);
        // SAFETY: the layout has at least a page.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        let owned = Arc::new(Pages { memory, layout });
        // SAFETY: the memory has this many bytes; it is freed when the region is deregistered.
        let mut region = unsafe { self.register_at(memory, length, access) }?;
        region.owned = Some(owned);
        Ok(region)
    }

    /// Registers the memory of a region that owns it, which may be of another device, once more. It lives as long as either.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    ///
    /// # Panics
    /// If the memory is the caller's.
    ///
    /// # Cost
    /// A system call; every page is pinned once more.
    pub(crate) fn register_again(
        &self,
        other: &MemoryRegion,
        access: Access,
    ) -> Result<MemoryRegion, VerbsError> {
        let owned = other.owned.clone().expect("memory of the region itself");
        // SAFETY: the memory has this many bytes; it is freed when the last region of it is deregistered.
        let mut region = unsafe { self.register_at(other.memory, other.length, access) }?;
        region.owned = Some(owned);
        Ok(region)
    }

    /// Registers the caller's memory. A [`RawBytes`] promises that it lives as long as the region.
    ///
    /// # Errors
    /// As [`register`](Self::register); also when a device may write (`LOCAL_WRITE`) and the memory is read-only.
    ///
    /// # Panics
    /// If the bytes have gaps between them.
    ///
    /// # Cost
    /// A system call; every page is pinned.
    pub fn register_bytes(
        &self,
        bytes: RawBytes,
        access: Access,
    ) -> Result<MemoryRegion, VerbsError> {
        assert!(!bytes.has_gaps(), "bytes side by side");
        // SAFETY: whoever made `bytes` promised that the memory is valid until the last use of them, which is that of
        // the region; nobody else uses what devices write.
        unsafe { self.register_at(bytes.start(), bytes.len() as usize, access) }
    }

    /// Registers the memory at these addresses, which the region does not own.
    ///
    /// # Errors
    /// As [`register_bytes`](Self::register_bytes); also where some of it is not mapped.
    ///
    /// # Safety
    /// Bytes of the region are accessed only while they are mapped: its memory may go before it does.
    pub(crate) unsafe fn register_range(
        &self,
        range: Range<u64>,
        access: Access,
    ) -> Result<MemoryRegion, VerbsError> {
        let start = std::ptr::with_exposed_provenance_mut(range.start as usize);
        // SAFETY: the call itself pins what is mapped, and refuses the rest; for the rest, by the caller's word.
        unsafe { self.register_at(start, (range.end - range.start) as usize, access) }
    }

    /// Registers `length` bytes at `memory`, which the region does not own.
    ///
    /// # Safety
    /// They are memory as long as the region lives; also for writing, if `access` has that.
    unsafe fn register_at(
        &self,
        memory: *mut u8,
        length: usize,
        access: Access,
    ) -> Result<MemoryRegion, VerbsError> {
        let bits = access.bits().cast_signed();
        // SAFETY: the domain is alive; so is the memory, by the caller's word, until the region is deregistered.
        let region = unsafe {
            (self.context().library().reg_mr)(self.as_ptr(), memory.cast(), length, bits)
        };
        let region = Handle::new(region).map_err(|why| {
            let attributes = format!("{length} B for {access:?}");
            VerbsError::io("ibv_reg_mr", self.describe(), attributes, &why)
        })?;
        Ok(MemoryRegion {
            region,
            memory,
            length,
            owned: None,
            domain: self.clone(),
        })
    }
}

impl Drop for MemoryRegion {
    fn drop(&mut self) {
        let library = self.domain.context().library();
        // SAFETY: the region is alive. Requests that still name it end in an error.
        let errno = unsafe { (library.dereg_mr)(self.region.as_ptr()) };
        if errno != 0 {
            // The device may still reach the memory, which is leaked.
            std::mem::forget(self.owned.take());
        }
    }
}

impl MemoryRegion {
    /// Its bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Copies `bytes` to the region, from its byte `at` on.
    ///
    /// # Panics
    /// If they reach beyond its end.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        let to = self.place(at, bytes.len());
        // SAFETY: `place` has checked that the bytes are in the region, whose memory nothing borrows.
        unsafe { copy_to_shared(bytes, to) };
    }

    /// The word at byte `at`, in one piece. What a device has written before the word, as a request's bytes in order, is
    /// visible to later reads.
    ///
    /// # Panics
    /// If it reaches beyond the region's end, or is not aligned. A region that owns its memory begins at a page.
    #[must_use]
    pub fn load(&self, at: usize) -> u64 {
        let place = self.place(at, 8);
        assert!(place.cast::<u64>().is_aligned(), "byte {at} begins no word");
        // SAFETY: `place` has checked that the word is in the region; it is aligned.
        unsafe { word_at(place) }
    }

    /// The part of it that a work request reads or writes.
    ///
    /// # Panics
    /// If the range is not in the region, or has 4 GiB or more.
    #[must_use]
    pub fn segment(&self, range: Range<usize>) -> Segment<'_> {
        let length = range
            .end
            .checked_sub(range.start)
            .expect("a range from its start to its end");
        let address = self.place(range.start, length);
        // SAFETY: the region is alive, and its keys never change.
        let lkey = unsafe { (*self.region.as_ptr()).lkey };
        Segment {
            _segment: ibv_sge {
                addr: address.expose_provenance() as u64,
                length: length.try_into().expect("a segment has less than 4 GiB"),
                lkey,
            },
            region: PhantomData,
        }
    }

    /// Where peers find its byte `at`.
    ///
    /// # Panics
    /// If it has no such byte.
    #[must_use]
    pub fn remote(&self, at: usize) -> RemoteAddress {
        RemoteAddress {
            address: self.place(at, 1).expose_provenance() as u64,
            // SAFETY: as in `segment`.
            rkey: unsafe { (*self.region.as_ptr()).rkey },
        }
    }

    /// The address of `length` bytes from byte `at` on.
    #[inline]
    pub(super) fn place(&self, at: usize, length: usize) -> *mut u8 {
        let inside = at.checked_add(length).is_some_and(|end| end <= self.length);
        if !inside {
            outside(at, length, self.length);
        }
        self.memory.wrapping_add(at)
    }
}

#[cold]
fn outside(at: usize, length: usize, of: usize) -> ! {
    panic!("{length} bytes from byte {at} on are not in a region of {of}")
}

/// The word at `place`, in one piece.
///
/// # Safety
/// It is in a region, whose memory nothing borrows, and aligned.
#[inline]
pub(super) unsafe fn word_at(place: *const u8) -> u64 {
    // SAFETY: by the caller's word.
    let word = unsafe { AtomicU64::from_ptr(place.cast_mut().cast()) };
    word.load(Ordering::Acquire)
}

impl fmt::Debug for MemoryRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B in {:?}", self.length, self.domain)
    }
}
