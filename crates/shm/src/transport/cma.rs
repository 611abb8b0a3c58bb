//! Cross-memory attach (CMA): the memory of a peer's process as a source and a sink of bytes.

use oxmpi_os::cma::{self, CmaError, ExpectedAddressSpace};
use oxmpi_wire::{Put, Take};

use crate::segment::Segment;
use crate::segment::area::BulkArea;

/// The process of a peer, and the proof that it is the peer's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerProcess {
    pid: u32,
    proof: ExpectedAddressSpace,
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
    ) -> Option<PeerProcess> {
        if let Self::Unknown = self {
            // A peer without an address-space id may have one later.
            let space = PeerProcess {
                pid: segment.pid(peer),
                proof: area.proof(peer)?,
            };
            *self = match space.check() {
                Ok(()) => Self::Granted(space),
                Err(_) => Self::Denied,
            };
        }
        match *self {
            Self::Granted(space) => Some(space),
            _ => None,
        }
    }
}

impl PeerProcess {
    /// Whether it is this process.
    pub(crate) fn is_this_process(&self) -> bool {
        self.pid == std::process::id()
    }

    /// Checks that the process is still the peer's.
    pub(crate) fn check(&self) -> Result<(), CmaError> {
        cma::read(self.pid, &self.proof, 0, &mut [])
    }
}

/// Bytes in a peer's memory, read or written once from front to back.
pub(crate) struct CmaBytes<'a> {
    space: &'a PeerProcess,
    /// Address and bytes of what is left of a range.
    now: (u64, usize),
    /// The ranges after it.
    rest: &'a [(u64, usize)],
    /// Bytes of all these.
    left: usize,
    /// The process was found to be the peer's just now.
    is_checked: bool,
    result: Result<(), CmaError>,
}

impl<'a> CmaBytes<'a> {
    pub(crate) fn new(space: &'a PeerProcess, at: u64, len: usize) -> Self {
        Self {
            space,
            now: (at, len),
            rest: &[],
            left: len,
            is_checked: false,
            result: Ok(()),
        }
    }

    /// The bytes of several ranges, each an address and a length.
    ///
    /// # Panics
    /// If there are more than [`cma::MAX_RANGES`].
    pub(crate) fn of_ranges(space: &'a PeerProcess, ranges: &'a [(u64, usize)]) -> Self {
        assert!(ranges.len() <= cma::MAX_RANGES, "{} ranges", ranges.len());
        Self {
            rest: ranges,
            left: ranges.iter().map(|&(_, len)| len).sum(),
            ..Self::new(space, 0, 0)
        }
    }

    /// The same, where [`PeerProcess::check`] has just succeeded if `is_checked`: the first write need not repeat it.
    pub(crate) fn after_check(self, is_checked: bool) -> Self {
        Self { is_checked, ..self }
    }

    /// The first error of the copies so far.
    pub(crate) fn result(self) -> Result<(), CmaError> {
        self.result
    }

    /// Takes the ranges of the next `len` bytes off the front. Returns how many there are.
    fn next(&mut self, len: usize, ranges: &mut [(u64, usize); cma::MAX_RANGES]) -> usize {
        self.left -= len;
        let (mut count, mut missing) = (0, len);
        while missing > 0 {
            if self.now.1 == 0
                && let [first, rest @ ..] = self.rest
            {
                (self.now, self.rest) = (*first, rest);
                continue;
            }
            let (at, left) = self.now;
            let len = left.min(missing);
            ranges[count] = (at, len);
            self.now = (at.wrapping_add(len as u64), left - len);
            missing -= len;
            count += 1;
        }
        count
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
        let PeerProcess { pid, proof } = self.space;
        for to in to.chunks_mut(cma::MAX_RANGES) {
            let len = to.iter().map(|to| to.len()).sum();
            assert!(len <= self.left, "more bytes than are left");
            let mut ranges = [(0, 0); cma::MAX_RANGES];
            let count = self.next(len, &mut ranges);
            if self.result.is_ok() {
                self.result = cma::read_each(*pid, proof, &ranges[..count], to);
            }
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
            if self.result.is_ok() && !std::mem::take(&mut self.is_checked) {
                self.result = self.space.check();
            }
            let mut to = [(0, 0); cma::MAX_RANGES];
            let count = self.next(len, &mut to);
            if self.result.is_ok() {
                // SAFETY: the process was just found to be the peer's. The peer named this memory, in a claim, a step
                // of a gather or a window, and lets these bytes be written.
                self.result = unsafe { cma::write_each(self.space.pid, ranges, &to[..count]) };
            }
        }
    }
}
