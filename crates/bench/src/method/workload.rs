//! What a sample repeats: a kernel with its memory on one rank.

use crate::comm::Done;
use crate::kernels::{Info, Kernel, Sample, Schedule};
use crate::{Buffers, Comm};

/// A kernel with its memory on one rank of `C`, as [`prepare`](super::prepare) and [`measure`](super::measure) repeat it.
/// Every call is collective.
pub trait Workload<C: Comm> {
    /// Describes the kernel.
    fn info(&self) -> &'static Info;

    /// How the repetitions of a sample complete.
    fn schedule(&self) -> Schedule;

    /// Writes this rank's pattern where it sends from, and wrong data where it receives, for the next `repetitions`
    /// repetitions; they are counted from here on.
    ///
    /// # Errors
    /// The first error of the communicator.
    fn fill(&mut self, comm: &mut C, sample: Sample, repetitions: usize) -> Done<C>;

    /// Runs the measured pattern `times` times.
    ///
    /// # Errors
    /// The first error of the communicator.
    fn repeat(&mut self, comm: &mut C, times: u32) -> Done<C>;

    /// As [`Workload::repeat`]; returns the nanoseconds that count.
    ///
    /// # Errors
    /// The first error of the communicator.
    #[inline]
    fn timed(&mut self, comm: &mut C, times: u32) -> Result<u64, C::Error> {
        let start = comm.now();
        self.repeat(comm, times)?;
        Ok(comm.now() - start)
    }

    /// The largest difference between the data last received and the right data: see [`Kernel::check`].
    ///
    /// # Errors
    /// The first error of the communicator.
    fn check(&mut self, comm: &mut C, sample: Sample) -> Result<f64, C::Error>;
}

/// A kernel over messages with its buffers.
#[derive(Debug)]
pub struct Messages<'a, 'b> {
    kernel: Kernel,
    buffers: &'a mut Buffers<'b>,
}

impl<'a, 'b> Messages<'a, 'b> {
    /// `kernel` on `buffers`, which have the kernel's [`BufferSizes`](crate::kernels::BufferSizes) for a length of messages.
    pub fn new(kernel: Kernel, buffers: &'a mut Buffers<'b>) -> Self {
        Messages { kernel, buffers }
    }
}

impl<C: Comm> Workload<C> for Messages<'_, '_> {
    fn info(&self) -> &'static Info {
        self.kernel.info()
    }

    fn schedule(&self) -> Schedule {
        Schedule::Many
    }

    fn fill(&mut self, _: &mut C, sample: Sample, repetitions: usize) -> Done<C> {
        self.kernel.fill_for(sample, self.buffers, repetitions);
        Ok(())
    }

    #[inline]
    fn repeat(&mut self, comm: &mut C, times: u32) -> Done<C> {
        self.kernel.repeat(comm, times, self.buffers)
    }

    fn check(&mut self, comm: &mut C, sample: Sample) -> Result<f64, C::Error> {
        self.kernel.check(comm, sample, self.buffers)
    }
}
