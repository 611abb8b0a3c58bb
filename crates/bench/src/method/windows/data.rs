//! What the data of a repetition is before and after it: patterns that prove every transfer.

use crate::buffers::floats;
use crate::kernels::pattern::{self, Piece};
use crate::kernels::{Access, Operation, Sample, Targets};

/// The data of a kernel on one rank, for messages of `bytes`.
pub(super) struct Data {
    pub(super) access: Access,
    pub(super) sample: Sample,
    pub(super) bytes: usize,
}

impl Data {
    /// The integer in the memory of the target after `times` exchanges.
    pub(super) fn integer(seed: u32, times: usize) -> i32 {
        (seed >> 2) as i32 + times as i32
    }

    /// What this rank receives, block by block.
    fn received(&self) -> impl Iterator<Item = Piece> {
        let place = (self.sample.rank, self.sample.ranks);
        (self.access.targets).received(self.access.gets(), place, self.bytes)
    }

    fn is_origin(&self) -> bool {
        let Sample { rank, ranks, .. } = self.sample;
        let mut transfers = self.access.targets.transfers(false, rank, ranks);
        transfers.next().is_some()
    }

    /// Fills what this rank puts or accumulates.
    pub(super) fn fill_out(&self, out: &mut [u8]) {
        match self.access.operation {
            Operation::Put => pattern::fill(self.sample, out),
            Operation::Get | Operation::CompareAndSwap => {}
            Operation::Accumulate | Operation::GetAccumulate | Operation::FetchAndAdd => {
                pattern::fill_numbers(self.sample, floats(out), &mut []);
            }
        }
    }

    /// Fills this rank's memory in the window.
    pub(super) fn fill_exposed(&self, exposed: &mut [u8]) {
        match self.access.operation {
            Operation::Put => self.fill_wrong(exposed),
            Operation::Get => pattern::fill(self.sample, exposed),
            Operation::Accumulate | Operation::GetAccumulate | Operation::FetchAndAdd => {
                exposed.fill(0);
            }
            Operation::CompareAndSwap => {
                exposed.copy_from_slice(&Self::integer(self.sample.seed, 0).to_ne_bytes());
            }
        }
    }

    /// Fills what this rank gets with what is wrong; all ones are NaN, and less than any right integer.
    pub(super) fn fill_landing(&self, landing: &mut [u8]) {
        match self.access.operation {
            Operation::Get => self.fill_wrong(landing),
            _ => landing.fill(u8::MAX),
        }
    }

    fn fill_wrong(&self, destination: &mut [u8]) {
        for (block, piece) in self.blocks(destination.len()) {
            pattern::fill_wrong(self.sample, piece, &mut destination[block]);
        }
    }

    /// The blocks of a destination, with what they receive.
    fn blocks(&self, length: usize) -> impl Iterator<Item = (core::ops::Range<usize>, Piece)> {
        let bytes = self.bytes;
        let starts = (0..).map(move |block| block * bytes);
        let blocks = starts.zip(self.received());
        blocks
            .map(move |(start, piece)| (start..start + bytes, piece))
            .take_while(move |(block, _)| block.end <= length)
    }

    fn blocks_error(&self, destination: &[u8]) -> f64 {
        let errors = self
            .blocks(destination.len())
            .map(|(block, piece)| pattern::max_error(self.sample, piece, &destination[block]));
        errors.fold(0.0, f64::max)
    }

    /// The largest difference in this rank's memory in the window, after `times` transfers to this place.
    pub(super) fn exposed_error(&self, exposed: &mut [u8], times: usize) -> f64 {
        let is_target = || self.received().next().is_some();
        match self.access.operation {
            Operation::Put => self.blocks_error(exposed),
            Operation::Get => 0.0,
            Operation::Accumulate | Operation::GetAccumulate | Operation::FetchAndAdd
                if is_target() =>
            {
                self.numbers_error(floats(exposed), times)
            }
            Operation::CompareAndSwap if is_target() => self.integer_error(exposed, times),
            _ => 0.0,
        }
    }

    /// The largest difference in what this rank has got, after `times` transfers to this place.
    pub(super) fn landing_error(&self, landing: &mut [u8], times: usize) -> f64 {
        match self.access.operation {
            Operation::Put | Operation::Accumulate => 0.0,
            Operation::Get => self.blocks_error(landing),
            // What was there before the last transfer.
            Operation::GetAccumulate | Operation::FetchAndAdd if self.is_origin() => {
                self.numbers_error(floats(landing), times - 1)
            }
            Operation::CompareAndSwap if self.is_origin() => self.integer_error(landing, times - 1),
            _ => 0.0,
        }
    }

    fn numbers_error(&self, numbers: &[f32], times: usize) -> f64 {
        let Sample { seed, ranks, .. } = self.sample;
        let one = |at| match self.access.targets {
            Targets::Root => pattern::sum(seed, ranks, at),
            _ => pattern::number(seed, 0, at),
        };
        pattern::max_multiple_error(numbers, times, one)
    }

    fn integer_error(&self, bytes: &[u8], times: usize) -> f64 {
        let wanted = Self::integer(self.sample.seed, times);
        match bytes.try_into().map(i32::from_ne_bytes) {
            Ok(got) => f64::from(got.abs_diff(wanted)),
            Err(_) => f64::INFINITY,
        }
    }
}
