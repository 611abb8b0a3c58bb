//! Registered buffers of messages, and copies from and to registered memory.

use super::frame_head::HEAD;
use crate::error::VerbsError;
use crate::objects::{Access, MemoryRegion, ProtectionDomain, RegionPart, Segment};
use oxmpi_wire::{Put, Take};

/// Buffers of equal length in one region.
#[derive(Debug)]
pub(super) struct Buffers {
    region: MemoryRegion,
    /// Bytes from one to the next.
    stride: usize,
    /// Those that hold nothing and are not posted.
    pub(super) free: Vec<u32>,
}

impl Buffers {
    /// Registers `count` buffers for a head and `size` bytes each.
    pub(super) fn new(
        domain: &ProtectionDomain,
        count: u32,
        size: u32,
    ) -> Result<Self, VerbsError> {
        let stride = Self::stride(size);
        Ok(Self {
            region: domain.register(count as usize * stride, Access::LOCAL_WRITE)?,
            stride,
            free: Vec::with_capacity(count as usize),
        })
    }

    /// Bytes of a buffer for a head and `size` bytes.
    pub(super) const fn stride(size: u32) -> usize {
        (HEAD + size as usize).next_multiple_of(64)
    }

    /// As [`Buffers::new`]; all are free.
    pub(super) fn all_free(
        domain: &ProtectionDomain,
        count: u32,
        size: u32,
    ) -> Result<Self, VerbsError> {
        let mut buffers = Self::new(domain, count, size)?;
        buffers.free.extend(0..count);
        Ok(buffers)
    }

    /// Takes `count` of those that are free, whole.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub(super) fn take_free(&mut self, count: usize) -> impl Iterator<Item = (u32, Segment<'_>)> {
        let Self {
            region,
            stride,
            free,
        } = self;
        let (region, stride) = (&*region, *stride);
        let kept = free.len().checked_sub(count);
        let taken = free.drain(kept.expect("as many free buffers")..);
        taken.map(move |buffer| {
            let at = buffer as usize * stride;
            (buffer, region.segment(at..at + stride))
        })
    }

    /// All of a buffer.
    pub(super) fn segment(&self, buffer: u32) -> Segment<'_> {
        self.part(buffer, self.stride)
    }

    /// The first `len` bytes of a buffer.
    pub(super) fn part(&self, buffer: u32, len: usize) -> Segment<'_> {
        let at = buffer as usize * self.stride;
        self.region.segment(at..at + len)
    }

    /// Writes to a buffer, from its byte `at` on.
    pub(super) fn write(&self, buffer: u32, at: usize, bytes: &[u8]) {
        self.region.write(buffer as usize * self.stride + at, bytes);
    }

    pub(super) fn read<const N: usize>(&self, buffer: u32, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        self.region
            .read(buffer as usize * self.stride + at, &mut bytes);
        bytes
    }

    /// Copies bytes of a buffer, from its byte `at` on.
    pub(super) fn read_part(&self, buffer: u32, at: usize, to: &mut [u8]) {
        self.region.read(buffer as usize * self.stride + at, to);
    }

    /// The message in a buffer, and what is behind it there.
    #[inline]
    pub(super) fn message(&self, buffer: u32) -> Stored<'_> {
        Stored::new(&self.region, buffer as usize * self.stride, self.stride)
    }

    /// The body of the frame in a buffer.
    pub(super) fn body(&self, buffer: u32, len: usize) -> Stored<'_> {
        Stored::new(&self.region, buffer as usize * self.stride + HEAD, len)
    }
}

/// Bytes of a region, to take once.
pub(super) struct Stored<'a>(RegionPart<'a>);

impl<'a> Stored<'a> {
    /// `len` bytes from byte `at` on.
    ///
    /// # Panics
    /// If they are not in the region.
    #[inline]
    pub(super) fn new(region: &'a MemoryRegion, at: usize, len: usize) -> Self {
        Self(RegionPart::new(region, at, len))
    }

    /// Leaves the first `len` bytes only.
    ///
    /// # Panics
    /// If fewer are left.
    #[inline]
    pub(super) fn shorten(&mut self, len: usize) {
        self.0.shorten(len);
    }
}

impl Take for Stored<'_> {
    #[inline]
    fn left(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn take(&mut self, to: &mut [u8]) {
        self.0.take(to);
    }
}

/// Bytes of a region, to put once.
pub(super) struct Filled<'a> {
    region: &'a MemoryRegion,
    at: usize,
    room: usize,
}

impl<'a> Filled<'a> {
    pub(super) fn new(region: &'a MemoryRegion, at: usize, room: usize) -> Self {
        Self { region, at, room }
    }
}

impl Put for Filled<'_> {
    fn room(&self) -> usize {
        self.room
    }

    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room, "more than there is room for");
        self.region.write(self.at, bytes);
        self.at += bytes.len();
        self.room -= bytes.len();
    }
}
