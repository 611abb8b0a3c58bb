//! The runtime as the kernels see it.

use std::time::Instant;

use oxmpi::{Op, Result};
use oxmpi_bench::{Comm, Source};

/// A communicator of the runtime with a clock.
pub(crate) struct Bound {
    comm: oxmpi::Comm,
    start: Instant,
}

impl Bound {
    pub(crate) fn new(comm: oxmpi::Comm) -> Self {
        Bound {
            comm,
            start: Instant::now(),
        }
    }
}

impl Comm for Bound {
    type Error = oxmpi::Error;

    #[inline]
    fn rank(&self) -> usize {
        self.comm.rank()
    }

    #[inline]
    fn size(&self) -> usize {
        self.comm.size()
    }

    #[inline]
    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    #[inline]
    fn send(&mut self, bytes: &[u8], to: usize, tag: u32) -> Result<()> {
        self.comm.send(bytes, to, tag)
    }

    #[inline]
    fn recv(&mut self, into: &mut [u8], from: Source, tag: u32) -> Result<()> {
        let source = match from {
            Source::Any => oxmpi::Source::Any,
            Source::Rank(rank) => rank.into(),
        };
        self.comm.recv(into, source, tag).map(drop)
    }

    fn barrier(&mut self) -> Result<()> {
        self.comm.barrier()
    }

    fn allreduce_sum(&mut self, from: &[f32], into: &mut [f32]) -> Result<()> {
        self.comm.allreduce_into(from, into, Op::SUM)
    }

    fn split(&mut self, group: Option<u32>, key: u32) -> Result<Option<Self>> {
        // Keys are ranks of a job, of which there are fewer than 2^31.
        let part = self.comm.split(group, key as i32)?;
        Ok(part.map(|comm| Bound {
            comm,
            start: self.start,
        }))
    }
}
