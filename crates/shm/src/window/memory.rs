//! The memory of a peer in a window, as this rank reaches it: [`WindowMemory`].

use std::sync::Arc;

use oxmpi_os::copy::{copy_from_shared, copy_to_shared};
use oxmpi_wire::Bytes;

use crate::heap::{Heap, RankAreas};
use crate::transport::{CmaBytes, PeerProcess, SharedBytes};

/// Memory of a peer of this node, which this rank reads and writes without the peer's help.
///
/// Offsets are checked by the caller once for each operation: those beyond the memory are a panic.
#[derive(Debug)]
pub struct WindowMemory {
    reach: Reach,
    len: u64,
}

#[derive(Debug)]
enum Reach {
    /// It is mapped in this process.
    Mapped { at: *mut u8, _heap: Arc<Heap> },
    /// By system calls, at this address of the peer.
    Process(PeerProcess, u64),
}

// SAFETY: an address of mapped memory that is only accessed by the opaque copies, and stays mapped while the heap is kept.
unsafe impl Send for WindowMemory {}
// SAFETY: as above.
unsafe impl Sync for WindowMemory {}

/// Most runs of an access to several.
pub const MOST_RUNS: usize = oxmpi_os::cma::MAX_RANGES;

/// The system does not let this rank access the memory any more: the peer has ended, or has unmapped it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreached;

impl WindowMemory {
    /// The `len` bytes at this offset of a rank's area of the heap, if they are within it.
    #[must_use]
    pub fn mapped(areas: &RankAreas, rank: u32, offset: u64, len: u64) -> Option<Self> {
        let at = areas.place(rank, offset, len)?;
        let _heap = Arc::clone(areas.heap());
        let reach = Reach::Mapped { at, _heap };
        Some(Self { reach, len })
    }

    /// The `len` bytes at this address of a peer's process.
    pub(crate) const fn of_process(process: PeerProcess, address: u64, len: u64) -> Self {
        let reach = Reach::Process(process, address);
        Self { reach, len }
    }

    /// Whether each access is a system call.
    #[must_use]
    pub const fn is_by_system_calls(&self) -> bool {
        matches!(self.reach, Reach::Process(..))
    }

    /// How many bytes it has.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.len
    }

    /// The address of its first byte in this process, if it is mapped here.
    #[must_use]
    pub const fn address(&self) -> Option<*mut u8> {
        match self.reach {
            Reach::Mapped { at, .. } => Some(at),
            Reach::Process(..) => None,
        }
    }

    #[inline]
    fn check(&self, at: u64, len: u64) {
        assert!(
            at <= self.len && len <= self.len - at,
            "{len} B at {at} of {} B",
            self.len
        );
    }

    /// Writes the `len` packed bytes of `from` from `first` on, at offset `at`.
    ///
    /// # Errors
    /// [`Unreached`]; then some bytes may have been written.
    ///
    /// # Panics
    /// If they end beyond the memory.
    #[inline]
    pub fn write(
        &self,
        at: u64,
        (from, first, len): (&impl Bytes, u64, u64),
    ) -> Result<(), Unreached> {
        self.check(at, len);
        match &self.reach {
            Reach::Mapped { at: start, .. } => {
                let to = start.wrapping_add(at as usize);
                // SAFETY: within the mapped memory, as was just checked.
                let mut to = unsafe { SharedBytes::new(to, len as usize) };
                from.drain(first, len as usize, &mut to);
                Ok(())
            }
            Reach::Process(process, address) => {
                let mut to = CmaBytes::new(process, address.wrapping_add(at), len as usize);
                from.drain(first, len as usize, &mut to);
                to.result().map_err(|_| Unreached)
            }
        }
    }

    /// Reads `len` bytes from offset `at` on into the packed bytes of `to` from `first` on.
    ///
    /// # Errors
    /// [`Unreached`]; then some bytes of `to` may have changed.
    ///
    /// # Panics
    /// If they end beyond the memory.
    #[inline]
    pub fn read(
        &self,
        at: u64,
        (to, first, len): (&impl Bytes, u64, u64),
    ) -> Result<(), Unreached> {
        self.check(at, len);
        match &self.reach {
            Reach::Mapped { at: start, .. } => {
                let from = start.wrapping_add(at as usize);
                // SAFETY: within the mapped memory, as was just checked.
                let mut from = unsafe { SharedBytes::new(from, len as usize) };
                to.fill(first, &mut from);
                Ok(())
            }
            Reach::Process(process, address) => {
                let mut from = CmaBytes::new(process, address.wrapping_add(at), len as usize);
                to.fill(first, &mut from);
                from.result().map_err(|_| Unreached)
            }
        }
    }

    /// Writes the `len` packed bytes of `from` from `first` on to `runs`, each an offset and a length, which have as many: by
    /// one system call where the memory is reached so.
    ///
    /// # Errors
    /// As [`WindowMemory::write`].
    ///
    /// # Panics
    /// If one ends beyond the memory; if there are more than [`MOST_RUNS`].
    pub fn write_runs(
        &self,
        runs: &[(u64, u64)],
        (from, first, len): (&impl Bytes, u64, u64),
    ) -> Result<(), Unreached> {
        match &self.reach {
            Reach::Mapped { .. } => each_run(runs, first, |at, first, len| {
                self.write(at, (from, first, len))
            }),
            Reach::Process(process, address) => {
                let (ranges, count) = self.ranges(*address, runs);
                let mut to = CmaBytes::of_ranges(process, &ranges[..count]);
                from.drain(first, len as usize, &mut to);
                to.result().map_err(|_| Unreached)
            }
        }
    }

    /// Reads `runs` into the packed bytes of `to`; the reverse of [`WindowMemory::write_runs`].
    ///
    /// # Errors
    /// As [`WindowMemory::read`].
    ///
    /// # Panics
    /// As [`WindowMemory::write_runs`].
    pub fn read_runs(
        &self,
        runs: &[(u64, u64)],
        (to, first): (&impl Bytes, u64),
    ) -> Result<(), Unreached> {
        match &self.reach {
            Reach::Mapped { .. } => each_run(runs, first, |at, first, len| {
                self.read(at, (to, first, len))
            }),
            Reach::Process(process, address) => {
                let (ranges, count) = self.ranges(*address, runs);
                let mut from = CmaBytes::of_ranges(process, &ranges[..count]);
                to.fill(first, &mut from);
                from.result().map_err(|_| Unreached)
            }
        }
    }

    /// The addresses and lengths of runs of memory at this address.
    fn ranges(&self, address: u64, runs: &[(u64, u64)]) -> ([(u64, usize); MOST_RUNS], usize) {
        let mut ranges = [(0, 0); MOST_RUNS];
        for (range, &(at, len)) in ranges[..runs.len()].iter_mut().zip(runs) {
            self.check(at, len);
            *range = (address.wrapping_add(at), len as usize);
        }
        (ranges, runs.len())
    }

    /// Reads the bytes at offset `at` into `scratch`, has `change` change them, and writes them back if it says so. The
    /// caller has locked them.
    ///
    /// # Errors
    /// [`Unreached`].
    ///
    /// # Panics
    /// If they end beyond the memory.
    pub fn update(
        &self,
        at: u64,
        scratch: &mut [u8],
        change: impl FnOnce(&mut [u8]) -> bool,
    ) -> Result<(), Unreached> {
        self.check(at, scratch.len() as u64);
        match &self.reach {
            Reach::Mapped { at: start, .. } => {
                let place = start.wrapping_add(at as usize);
                // SAFETY: within the mapped memory, as was just checked; the scratch is no shared memory.
                unsafe { copy_from_shared(place, scratch) };
                if change(scratch) {
                    // SAFETY: as above.
                    unsafe { copy_to_shared(scratch, place) };
                }
                Ok(())
            }
            Reach::Process(process, address) => {
                use oxmpi_wire::{Put, Take};
                let len = scratch.len();
                let mut from = CmaBytes::new(process, address.wrapping_add(at), len);
                from.take(scratch);
                from.result().map_err(|_| Unreached)?;
                if change(scratch) {
                    let mut to = CmaBytes::new(process, address.wrapping_add(at), len);
                    to.put(scratch);
                    to.result().map_err(|_| Unreached)?;
                }
                Ok(())
            }
        }
    }
}

/// Calls `with` for each of `runs`, of which the first has packed byte `first`: its offset, its first packed byte, and its
/// length.
///
/// # Errors
/// The first of `with`.
pub fn each_run(
    runs: &[(u64, u64)],
    mut first: u64,
    mut with: impl FnMut(u64, u64, u64) -> Result<(), Unreached>,
) -> Result<(), Unreached> {
    for &(at, len) in runs {
        with(at, first, len)?;
        first += len;
    }
    Ok(())
}
