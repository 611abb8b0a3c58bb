//! Cross-memory attach (CMA): the memory of a peer's process as a source and a sink of bytes.

use std::time::{Duration, Instant};

use oxmpi_os::cma::{self, CmaError, ExpectedAddressSpace};
use oxmpi_wire::{Put, Take};

use crate::segment::Segment;
use crate::segment::area::BulkArea;

/// How long a process is taken for the peer's after it was found to be: a pid names no other process until all pids are used
/// once more, and looking costs as much as copying 8 KiB.
const CHECK_LASTS: Duration = Duration::from_millis(1);

/// The process of a peer, and the proof that it is the peer's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerProcess {
    pid: u32,
    proof: ExpectedAddressSpace,
    is_this_process: bool,
    /// When it was last found to be the peer's.
    checked: Instant,
}

/// Whether this process may read and write a peer's memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum CmaAccess {
    /// Not tried yet.
    #[default]
    Unknown,
    Granted(PeerProcess),
    Denied,
}

impl CmaAccess {
    /// The process of `peer`, if access is granted; tries at the first use.
    pub(crate) fn process(
        &mut self,
        segment: &Segment,
        area: &BulkArea,
        peer: u32,
    ) -> Option<&mut PeerProcess> {
        if let Self::Unknown = self {
            // A peer without an address-space id may have one later.
            let process = PeerProcess {
                pid: segment.pid(peer),
                proof: area.proof(peer)?,
                is_this_process: segment.pid(peer) == std::process::id(),
                checked: Instant::now(),
            };
            *self = match process.check() {
                Ok(()) => Self::Granted(process),
                Err(_) => Self::Denied,
            };
        }
        self.granted()
    }

    /// The process, if access was granted before.
    pub(crate) const fn granted(&mut self) -> Option<&mut PeerProcess> {
        match self {
            Self::Granted(process) => Some(process),
            _ => None,
        }
    }
}

impl PeerProcess {
    /// Whether it is this process.
    pub(crate) const fn is_this_process(&self) -> bool {
        self.is_this_process
    }

    /// Checks that the process is still the peer's.
    pub(crate) fn check(&self) -> Result<(), CmaError> {
        cma::read(self.pid, &self.proof, 0, &mut [])
    }

    /// Checks the same, unless that was seen less than a millisecond ago.
    pub(crate) fn confirm(&mut self) -> Result<(), CmaError> {
        let now = Instant::now();
        if !self.is_confirmed(now) {
            self.check()?;
            self.checked = now;
        }
        Ok(())
    }

    fn is_confirmed(&self, now: Instant) -> bool {
        now.duration_since(self.checked) < CHECK_LASTS
    }

    fn read(&mut self, from: u64, to: &mut [&mut [u8]]) -> Result<(), CmaError> {
        let now = Instant::now();
        if self.is_confirmed(now) {
            return cma::read_each(self.pid, None, from, to);
        }
        cma::read_each(self.pid, Some(&self.proof), from, to)?;
        self.checked = now;
        Ok(())
    }
}

/// Bytes in a peer's memory, read or written once from front to back.
pub(crate) struct CmaBytes<'a> {
    process: &'a mut PeerProcess,
    at: u64,
    left: usize,
    result: Result<(), CmaError>,
}

impl<'a> CmaBytes<'a> {
    pub(crate) fn new(process: &'a mut PeerProcess, at: u64, len: usize) -> Self {
        Self {
            process,
            at,
            left: len,
            result: Ok(()),
        }
    }

    /// The first error of the copies so far.
    pub(crate) fn result(self) -> Result<(), CmaError> {
        self.result
    }

    fn skip(&mut self, len: usize) {
        self.at = self.at.wrapping_add(len as u64);
        self.left -= len;
    }
}

impl Take for CmaBytes<'_> {
    fn left(&self) -> usize {
        self.left
    }

    fn take(&mut self, to: &mut [u8]) {
        self.take_each(&mut [to]);
    }

    fn take_each(&mut self, to: &mut [&mut [u8]]) {
        for to in to.chunks_mut(cma::MAX_RANGES) {
            let len = to.iter().map(|to| to.len()).sum();
            assert!(len <= self.left, "more bytes than are left");
            if self.result.is_ok() {
                self.result = self.process.read(self.at, to);
            }
            self.skip(len);
        }
    }
}

/// Memory of a peer that the peer lets this process write.
impl Put for CmaBytes<'_> {
    fn room(&self) -> usize {
        self.left
    }

    fn put(&mut self, bytes: &[u8]) {
        self.put_each(&[bytes]);
    }

    fn put_each(&mut self, ranges: &[&[u8]]) {
        for ranges in ranges.chunks(cma::MAX_RANGES) {
            let len = ranges.iter().map(|range| range.len()).sum();
            assert!(len <= self.left, "more bytes than room");
            if self.result.is_ok() {
                self.result = self.process.confirm();
            }
            if self.result.is_ok() {
                // SAFETY: the process was found to be the peer's not a millisecond ago. The peer named this memory, in a claim or
                // a step of a gather, and waits for these bytes.
                self.result = unsafe { cma::write_each(self.process.pid, ranges, self.at) };
            }
            self.skip(len);
        }
    }
}
