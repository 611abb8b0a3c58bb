//! The timed loop of a kernel over nonblocking collectives.

use super::Workload;
use super::compute::Computation;
use crate::comm::Done;
use crate::kernels::{Info, Kernel, NonblockingKernel, Sample, Schedule, barrier};
use crate::{Buffers, Collective, Comm, Nonblocking};
use core::hint::spin_loop;

/// The most tests by which a repetition completes before it is waited for; with fewer processors than ranks, waiting is
/// shorter.
const TESTS: u32 = 1000;

/// How repetitions of a nonblocking collective complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartedOptions {
    /// Whether a barrier that is not timed follows each repetition.
    pub synchronises: bool,
    /// Whether every second cycle of roots completes by tests, the others by a wait; else all complete by a wait.
    pub tests: bool,
}

/// A kernel over a nonblocking collective with its buffers on one rank. Each repetition is timed alone, from its start to the end of the wait.
#[derive(Debug)]
pub struct StartedWork<'a, 'b> {
    kernel: &'static NonblockingKernel,
    buffers: &'a mut Buffers<'b>,
    options: StartedOptions,
    /// What is computed in each repetition: a number of columns.
    computation: Option<(Computation, u64)>,
    /// Nanoseconds that the computation has taken since they were asked for.
    computed: u64,
    repetitions: usize,
}

impl<'a, 'b> StartedWork<'a, 'b> {
    /// `kernel` without a computation on `buffers`, which have the kernel's [`BufferSizes`](crate::kernels::BufferSizes) for a
    /// length of messages.
    pub fn new(
        kernel: &'static NonblockingKernel,
        buffers: &'a mut Buffers<'b>,
        options: StartedOptions,
    ) -> Self {
        StartedWork {
            kernel,
            buffers,
            options,
            computation: None,
            computed: 0,
            repetitions: 0,
        }
    }

    /// From here on, this rank computes in each repetition for so many nanoseconds. Returns those that the computation takes
    /// outside of repetitions, the least of `trials`.
    pub fn compute_for<C: Comm>(&mut self, comm: &C, nanoseconds: u64, trials: u32) -> u64 {
        let mut computation = Computation::new();
        let columns = computation.columns_in(nanoseconds, || comm.now());
        let alone = computation.least(columns, trials, || comm.now());
        self.computation = Some((computation, columns));
        alone
    }

    /// Nanoseconds that the computation has taken since the last call.
    pub fn take_computed(&mut self) -> u64 {
        core::mem::take(&mut self.computed)
    }
}

impl<C: Nonblocking> Workload<C> for StartedWork<'_, '_> {
    fn info(&self) -> &'static Info {
        &self.kernel.info
    }

    fn schedule(&self) -> Schedule {
        Schedule::Many
    }

    fn fill(&mut self, _: &mut C, sample: Sample, repetitions: usize) -> Done<C> {
        self.kernel
            .blocking
            .fill_for(sample, self.buffers, repetitions);
        Ok(())
    }

    fn repeat(&mut self, comm: &mut C, times: u32) -> Done<C> {
        self.timed(comm, times).map(drop)
    }

    fn timed(&mut self, comm: &mut C, times: u32) -> Result<u64, C::Error> {
        let (rank, ranks) = (comm.rank(), comm.size());
        let mut nanoseconds = 0;
        for _ in 0..times {
            let root = self.buffers.repetitions() % ranks;
            let call = (self.kernel.call)(rank, self.buffers.advance(), root);
            let by_tests = self.options.tests && (self.repetitions / ranks) % 2 == 1;
            self.repetitions += 1;
            let start = comm.now();
            comm.overlap(call, |started| {
                if let Some((computation, columns)) = &mut self.computation {
                    let start = started.now();
                    computation.run(*columns);
                    self.computed += started.now() - start;
                }
                let mut tests = if by_tests { TESTS } else { 0 };
                while tests > 0 && !started.test()? {
                    tests -= 1;
                    spin_loop();
                }
                Ok(())
            })?;
            nanoseconds += comm.now() - start;
            if self.options.synchronises {
                comm.barrier()?;
            }
        }
        Ok(nanoseconds)
    }

    fn check(&mut self, comm: &mut C, sample: Sample) -> Result<f64, C::Error> {
        match self.kernel.blocking {
            Kernel::Barrier => {
                barrier::check_of(comm, |comm| comm.overlap(Collective::Barrier, |_| Ok(())))
            }
            kernel => kernel.check(comm, sample, self.buffers),
        }
    }
}
