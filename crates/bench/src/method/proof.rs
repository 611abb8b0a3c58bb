//! Repetitions whose data is proven one by one (`-check`).

use super::Method;
use crate::kernels::{Kernel, Sample};
use crate::{Buffers, Comm};

/// Repetitions of one sample, each with a proof of its data.
///
/// The buffers are filled anew for every turn of the roots where the kernel has one, else for every
/// repetition: what a root gives differs from what the root before it gave, so old data is seen.
pub(super) struct Proof {
    kernel: Kernel,
    sample: Sample,
    /// Repetitions that one filling serves.
    turn: usize,
    /// How many of them are still to come.
    left: usize,
    /// The largest difference found so far.
    pub(super) defect: f64,
}

impl Proof {
    /// Nothing is proven yet; other data than that of `sample` is used.
    pub(super) fn new(kernel: Kernel, sample: Sample) -> Self {
        Proof {
            kernel,
            sample,
            turn: if kernel.info().rooted {
                sample.ranks
            } else {
                1
            },
            left: 0,
            defect: 0.0,
        }
    }

    /// Makes one repetition and proves its data; the nanoseconds of the repetition alone. Collective.
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
            self.kernel.fill_for(self.sample, buffers, self.turn);
            self.left = self.turn;
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
    /// Runs `times` repetitions as the timed part does: bare, or each with its proof, whose largest
    /// difference is returned. Collective.
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
