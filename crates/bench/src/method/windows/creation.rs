//! Window: makes a window, puts a byte to oneself in an epoch of fences, and frees the window.

use crate::comm::Done;
use crate::kernels::pattern::{self, Piece};
use crate::kernels::{Info, Sample, Schedule, WindowKernel};
use crate::method::Workload;
use crate::{Window, Windows};

/// The kernel with the memory of its windows on one rank.
pub(crate) struct CreationWork<C: Windows> {
    kernel: &'static WindowKernel,
    /// `None` after an error.
    memory: Option<C::Memory>,
    /// The byte that is put, and how many there are: none into a window without memory.
    byte: [u8; 1],
    count: usize,
}

impl<C: Windows> CreationWork<C> {
    /// The kernel for windows of `bytes`.
    ///
    /// # Errors
    /// That of the communicator.
    pub(crate) fn new(
        comm: &mut C,
        kernel: &'static WindowKernel,
        bytes: usize,
    ) -> Result<Self, C::Error> {
        Ok(CreationWork {
            kernel,
            memory: Some(comm.alloc(bytes)?),
            byte: [0],
            count: bytes.min(1),
        })
    }
}

impl<C: Windows> Workload<C> for CreationWork<C> {
    fn info(&self) -> &'static Info {
        &self.kernel.info
    }

    fn schedule(&self) -> Schedule {
        self.kernel.schedule(None)
    }

    fn fill(&mut self, _: &mut C, sample: Sample, _: usize) -> Done<C> {
        pattern::fill(sample, &mut self.byte);
        if let Some(memory) = &mut self.memory {
            pattern::fill_wrong(sample, Piece::all(sample.rank), &mut memory[..self.count]);
        }
        Ok(())
    }

    fn repeat(&mut self, comm: &mut C, times: u32) -> Done<C> {
        let rank = comm.rank();
        for _ in 0..times {
            let Some(memory) = self.memory.take() else {
                return Ok(());
            };
            let mut window = comm.window(memory, 0)?;
            window.fence(true)?;
            window.put(&self.byte[..self.count], rank, 0)?;
            window.fence(false)?;
            self.memory = Some(window.free()?);
        }
        Ok(())
    }

    fn check(&mut self, _: &mut C, sample: Sample) -> Result<f64, C::Error> {
        Ok(self.memory.as_ref().map_or(f64::INFINITY, |memory| {
            pattern::max_error(sample, Piece::all(sample.rank), &memory[..self.count])
        }))
    }
}
