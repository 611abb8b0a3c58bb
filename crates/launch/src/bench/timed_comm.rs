//! The communicator of the runtime as the interface that the benchmark kernels use.

use std::time::Instant;

use oxmpi::{Op, Result, collective};
use oxmpi_bench::{Blocks, Comm, Source};

/// A communicator of the runtime with a clock.
pub(crate) struct TimedComm {
    pub(super) comm: oxmpi::Comm,
    pub(super) start: Instant,
}

impl TimedComm {
    pub(crate) fn new(comm: oxmpi::Comm) -> Self {
        TimedComm {
            comm,
            start: Instant::now(),
        }
    }
}

impl Comm for TimedComm {
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
        self.comm.recv(into, source(from), tag).map(drop)
    }

    #[inline]
    fn exchange<const N: usize>(
        &mut self,
        sends: [(&[u8], usize); N],
        receives: [(&mut [u8], Source); N],
        tag: u32,
    ) -> Result<()> {
        self.comm.scope(|scope| {
            let mut started = [const { None }; N];
            for (request, (bytes, to)) in started.iter_mut().zip(sends) {
                *request = Some(scope.isend(bytes, to, tag)?);
            }
            for (into, from) in receives {
                self.comm.recv(into, source(from), tag)?;
            }
            for request in started.into_iter().flatten() {
                request.wait()?;
            }
            Ok(())
        })
    }

    fn split(&mut self, group: Option<u32>, key: u32) -> Result<Option<Self>> {
        // Keys are ranks of a job, of which there are fewer than 2^31.
        let part = self.comm.split(group, key as i32)?;
        Ok(part.map(|comm| TimedComm {
            comm,
            start: self.start,
        }))
    }

    #[inline]
    fn sendrecv(
        &mut self,
        bytes: &[u8],
        to: usize,
        into: &mut [u8],
        from: Source,
        tag: u32,
    ) -> Result<()> {
        let status = (self.comm).sendrecv(bytes, to, tag, into, source(from), tag);
        status.map(drop)
    }

    fn barrier(&mut self) -> Result<()> {
        self.comm.barrier()
    }

    fn bcast(&mut self, bytes: &mut [u8], root: usize) -> Result<()> {
        self.comm.bcast_into(bytes, root)
    }

    fn gather(&mut self, mine: &[u8], all: Option<&mut [u8]>, root: usize) -> Result<()> {
        self.comm.gather_into(mine, all, root)
    }

    fn gatherv(
        &mut self,
        mine: &[u8],
        all: Option<Blocks<'_, &mut [u8]>>,
        root: usize,
    ) -> Result<()> {
        self.comm.gatherv(mine, all.map(packed), root)
    }

    fn scatter(&mut self, all: Option<&[u8]>, mine: &mut [u8], root: usize) -> Result<()> {
        self.comm.scatter_into(all, mine, root)
    }

    fn scatterv(
        &mut self,
        all: Option<Blocks<'_, &[u8]>>,
        mine: &mut [u8],
        root: usize,
    ) -> Result<()> {
        self.comm.scatterv(all.map(packed), mine, root)
    }

    fn allgather(&mut self, mine: &[u8], all: &mut [u8]) -> Result<()> {
        self.comm.allgather_into(mine, all)
    }

    fn allgatherv(&mut self, mine: &[u8], all: Blocks<'_, &mut [u8]>) -> Result<()> {
        self.comm.allgatherv(mine, packed(all))
    }

    fn alltoall(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        self.comm.alltoall_into(out, into)
    }

    fn alltoallv(&mut self, out: Blocks<'_, &[u8]>, into: Blocks<'_, &mut [u8]>) -> Result<()> {
        self.comm.alltoallv(packed(out), packed(into))
    }

    fn reduce_sum(&mut self, from: &[f32], into: Option<&mut [f32]>, root: usize) -> Result<()> {
        self.comm.reduce_into(from, into, Op::SUM, root)
    }

    fn allreduce_sum(&mut self, from: &[f32], into: &mut [f32]) -> Result<()> {
        self.comm.allreduce_into(from, into, Op::SUM)
    }

    fn reduce_scatter_block_sum(&mut self, from: &[f32], into: &mut [f32]) -> Result<()> {
        self.comm.reduce_scatter_block_into(from, into, Op::SUM)
    }

    fn reduce_scatter_sum(
        &mut self,
        from: &[f32],
        items: &[usize],
        into: &mut [f32],
    ) -> Result<()> {
        self.comm.reduce_scatter(from, items, into, Op::SUM)
    }
}

#[inline]
fn source(from: Source) -> oxmpi::Source {
    match from {
        Source::Any => oxmpi::Source::Any,
        Source::Rank(rank) => rank.into(),
    }
}

pub(super) fn packed<'a, S>(blocks: Blocks<'a, S>) -> collective::Blocks<'a, S> {
    collective::Blocks::packed(blocks.bytes, blocks.lengths)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::TimedComm;
    use oxmpi::World;
    use oxmpi_bench::Comm;

    /// The numbers of repetitions follow from the clock: a sample would never end if time stood still.
    #[test]
    fn the_clock_counts_nanoseconds() {
        let world = World::init().expect("a job of one rank");
        let comm = TimedComm::new(world.comm().dup().expect("a communicator"));
        let (first, begin) = (comm.now(), Instant::now());
        while begin.elapsed() < Duration::from_millis(1) {
            std::hint::spin_loop();
        }
        let elapsed = begin.elapsed().as_nanos() as u64;
        assert!(comm.now() - first >= elapsed);
    }
}
