//! Repetitions whose data is proven one by one (`-check`).

use super::{Method, Workload};
use crate::Comm;
use crate::kernels::{Info, Sample};

/// Repetitions of one sample, each with a proof of its data.
///
/// The buffers are filled anew for each cycle of the roots where the kernel has a root, else for each
/// repetition. Each root sends different data, so old data is detected.
pub(super) struct Proof {
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
    pub(super) fn new(info: &Info, sample: Sample) -> Self {
        Proof {
            sample,
            cycle: if info.rooted { sample.ranks } else { 1 },
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
        work: &mut impl Workload<C>,
        comm: &mut C,
    ) -> Result<u64, C::Error> {
        if self.left == 0 {
            self.sample.seed = self.sample.seed.wrapping_add(1);
            work.fill(comm, self.sample, self.cycle)?;
            self.left = self.cycle;
        }
        self.left -= 1;
        let nanoseconds = work.timed(comm, 1)?;
        let defect = work.check(comm, self.sample)?;
        self.defect = self.defect.max(defect);
        Ok(nanoseconds)
    }
}

impl Method {
    /// Runs `times` repetitions as the timed part does: without proof, or each with its proof; returns the
    /// largest difference. Collective.
    pub(super) fn trial<C: Comm>(
        &self,
        work: &mut impl Workload<C>,
        comm: &mut C,
        sample: Sample,
        times: u32,
    ) -> Result<f64, C::Error> {
        if !self.check {
            work.repeat(comm, times)?;
            return Ok(0.0);
        }
        let mut proof = Proof::new(work.info(), sample);
        for _ in 0..times {
            proof.repeat(work, comm)?;
        }
        Ok(proof.defect)
    }
}
