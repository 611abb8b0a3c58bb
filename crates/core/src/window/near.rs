//! Memory that this rank reaches itself: [`Near`].

use std::sync::Arc;

use oxmpi_os::RawBytes;
use oxmpi_shm::window::{Unreached, WindowMemory, WindowWords, each_run};
use oxmpi_wire::{Bytes, Width};

use crate::bytes::{source, target};

/// The memory of a rank of this node, and its locks.
#[derive(Debug)]
pub(super) struct Near {
    memory: NearMemory,
    words: Arc<WindowWords>,
}

#[derive(Debug)]
enum NearMemory {
    /// This rank's own, which is nowhere else.
    Own(RawBytes),
    Reached(WindowMemory),
}

impl Near {
    pub(super) const fn own(memory: RawBytes, words: Arc<WindowWords>) -> Self {
        let memory = NearMemory::Own(memory);
        Self { memory, words }
    }

    pub(super) const fn reached(memory: WindowMemory, words: Arc<WindowWords>) -> Self {
        let memory = NearMemory::Reached(memory);
        Self { memory, words }
    }

    #[inline]
    pub(super) fn words(&self) -> &WindowWords {
        &self.words
    }

    pub(super) const fn shared_words(&self) -> &Arc<WindowWords> {
        &self.words
    }

    /// Where it is mapped in this process.
    pub(super) const fn address(&self) -> Option<*mut u8> {
        match &self.memory {
            NearMemory::Own(memory) => Some(memory.start()),
            NearMemory::Reached(memory) => memory.address(),
        }
    }

    /// Where the word at this offset is, if it is mapped in this process and aligned.
    #[inline]
    pub(super) fn word(&self, at: u64, width: Width) -> Option<*mut u8> {
        let (start, len) = match &self.memory {
            NearMemory::Own(memory) => (memory.start(), memory.len()),
            NearMemory::Reached(memory) => (memory.address()?, memory.bytes()),
        };
        let place = start.wrapping_add(at as usize);
        let is_within = at <= len && width.bytes() <= len - at;
        let is_aligned = place.addr().is_multiple_of(width.bytes() as usize);
        (is_within && is_aligned).then_some(place)
    }

    /// Writes the `len` packed bytes of `from` from `first` on, at offset `at`, where the caller has checked that they are
    /// within the memory.
    #[inline]
    pub(super) fn write(&self, at: u64, from: (&RawBytes, u64, u64)) -> Result<(), Unreached> {
        match &self.memory {
            NearMemory::Reached(memory) => memory.write(at, from),
            NearMemory::Own(memory) => {
                let (from, first, len) = from;
                let mut place = memory.range(at, len).ok_or(Unreached)?;
                for piece in from.pieces(first, len) {
                    place.copy_from(&piece);
                    place = rest(&place, piece.len());
                }
                Ok(())
            }
        }
    }

    /// Reads `len` bytes from offset `at` on to the packed bytes of `to` from `first` on; as [`Near::write`].
    #[inline]
    pub(super) fn read(&self, at: u64, to: (&RawBytes, u64, u64)) -> Result<(), Unreached> {
        match &self.memory {
            NearMemory::Reached(memory) => memory.read(at, to),
            NearMemory::Own(memory) => {
                let (to, first, len) = to;
                let mut place = memory.range(at, len).ok_or(Unreached)?;
                for piece in to.pieces(first, len) {
                    piece.copy_from(&place);
                    place = rest(&place, piece.len());
                }
                Ok(())
            }
        }
    }

    /// As [`Near::write`], to `runs`, each an offset and a length, at most [`MOST_RUNS`](oxmpi_shm::window::MOST_RUNS).
    pub(super) fn write_runs(
        &self,
        runs: &[(u64, u64)],
        from: (&RawBytes, u64, u64),
    ) -> Result<(), Unreached> {
        match &self.memory {
            NearMemory::Reached(memory) => memory.write_runs(runs, from),
            NearMemory::Own(_) => each_run(runs, from.1, |at, first, len| {
                self.write(at, (from.0, first, len))
            }),
        }
    }

    /// As [`Near::read`], from `runs`.
    pub(super) fn read_runs(
        &self,
        runs: &[(u64, u64)],
        to: (&RawBytes, u64),
    ) -> Result<(), Unreached> {
        match &self.memory {
            NearMemory::Reached(memory) => memory.read_runs(runs, to),
            NearMemory::Own(_) => each_run(runs, to.1, |at, first, len| {
                self.read(at, (to.0, first, len))
            }),
        }
    }

    /// Reads into `scratch` from offset `at` on, and writes it back where `change` says that it has changed it. The caller
    /// has locked the bytes.
    pub(super) fn update(
        &self,
        at: u64,
        scratch: &mut [u8],
        change: impl FnOnce(&mut [u8]) -> bool,
    ) -> Result<(), Unreached> {
        match &self.memory {
            NearMemory::Reached(memory) => memory.update(at, scratch, change),
            NearMemory::Own(memory) => {
                let place = memory.range(at, scratch.len() as u64).ok_or(Unreached)?;
                target(scratch).copy_from(&place);
                if change(scratch) {
                    place.copy_from(&source(scratch));
                }
                Ok(())
            }
        }
    }
}

/// What comes after the first `len` bytes of a contiguous range.
fn rest(bytes: &RawBytes, len: u64) -> RawBytes {
    (bytes.range(len, bytes.len() - len)).unwrap_or(RawBytes::empty())
}
