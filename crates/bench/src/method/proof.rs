//! Repetitions whose data is proven one by one (`-check`).

use super::Method;
use crate::kernels::{Kernel, Sample};
use crate::{Buffers, Comm};

/// Repetitions of one sample, each with a proof of its data.
///
/// The buffers are filled anew for each cycle of the roots where the kernel has a root, else for each
/// repetition. Each root sends different data, so old data is detected.
pub(super) struct Proof {
    kernel: Kernel,
    sample: Sample,
    /// The number of repetitions between two fillings.
    cycle: usize,
    /// The number of repetitions until the next filling.
    left: usize,
    /// The largest difference found so far.
    pub(super) defect: f64,
}

impl Proof {
    /// A proof before its first repetition; it uses other data than `sample`.
    pub(super) fn new(kernel: Kernel, sample: Sample) -> Self {
        Proof {
            kernel,
            sample,
            cycle: if kernel.info().rooted {
                sample.ranks
            } else {
                1
            },
            left: 0,
            defect: 0.0,
        }
    }

    /// Runs one repetition and proves its data; returns the nanoseconds of the repetition alone.
    /// Collective.
    ///
    /// # Errors
    /// The first error of the communicator.
    pub(super) fn repeat<C: Comm>(
        &mut self,
        comm: &mut C,
        buffers: &mut Buffers<'_>,
    ) -> Result<u64, C::Error> {
        if self.left == 0 {
            self.sample.seed = self.sample.seed.wrapping_add(1);
            self.kernel.fill_for(self.sample, buffers, self.cycle);
            self.left = self.cycle;
        }
        self.left -= 1;
        let start = comm.now();
        self.kernel.repeat(comm, 1, buffers)?;
        let nanoseconds = comm.now() - start;
        let defect = self.kernel.check(comm, self.sample, buffers)?;
        self.defect = self.defect.max(defect);
        Ok(nanoseconds)
    }
}

impl Method {
    /// Runs `times` repetitions as the timed part does: without proof, or each with its proof; returns the
    /// largest difference. Collective.
    pub(super) fn trial<C: Comm>(
        &self,
        kernel: Kernel,
        comm: &mut C,
        sample: Sample,
        times: u32,
        buffers: &mut Buffers<'_>,
    ) -> Result<f64, C::Error> {
        if !self.check {
            kernel.repeat(comm, times, buffers)?;
            return Ok(0.0);
        }
        let mut proof = Proof::new(kernel, sample);
        for _ in 0..times {
            proof.repeat(comm, buffers)?;
        }
        Ok(proof.defect)
    }
}
