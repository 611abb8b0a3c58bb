//! Broadcast: the root writes every piece once, all others read it; or the one other rank reads the root's
//! memory by CMA.

use oxmpi_os::RawBytes;
use oxmpi_resumable::resumable;

use super::call_kind::CallKind;
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::protocol_trials::CollectiveProtocol;
use super::run::CollectiveRun;

#[resumable]
impl NodeGroup {
    /// Copies the first `len` bytes of `root` to every other rank: the root's bytes are only read, the
    /// others' only written.
    ///
    /// # Errors
    /// When a rank that this one waits for never arrives, or cannot be read.
    ///
    /// # Cost
    /// Up to 56 B: one line written, and read by each rank. The root waits for no rank until one is a ring of
    /// steps behind, except by CMA.
    pub async fn bcast<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        given: (&RawBytes, u64),
    ) -> Result<(), D::Error> {
        if !self.may_bcast_by_cma(given.1) {
            return self.bcast_by_bounce(driver, root, given).await;
        }
        self.bcast_by_best_protocol(driver, root, given).await
    }

    // Not inlined, so that a short call, which does not get here, has the registers.
    #[inline(never)]
    async fn bcast_by_best_protocol<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        given: (&RawBytes, u64),
    ) -> Result<(), D::Error> {
        let (bytes, len) = given;
        let kind = (CallKind::Bcast, len);
        let trial = self.begin_trial(driver, kind).await?;
        match trial.protocol {
            CollectiveProtocol::Bounce => self.bcast_by_bounce(driver, root, given).await,
            CollectiveProtocol::Cma => {
                let call = (CallKind::Bcast, root, len);
                self.read_from_root(driver, call, (bytes, 0), bytes, |_| Ok(()))
                    .await
            }
        }?;
        self.end_trial(driver, kind, trial).await
    }

    // Inlined, since a short call takes no longer than a function call.
    #[inline(always)]
    async fn bcast_by_bounce<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        (bytes, len): (&RawBytes, u64),
    ) -> Result<(), D::Error> {
        let me = self.me;
        let pieces = self.pieces_for_all(len, 1);
        let mut run = CollectiveRun::new(self, driver, (CallKind::Bcast, root, len), pieces.path);
        run.follow_root(root, pieces.steps());
        for step in 0..pieces.steps() {
            run.one_writes(step, root);
            if me == root {
                run.wait_until_free(step).await?;
                run.write(step, bytes, pieces.part(step));
                run.publish(step);
                run.wake_all();
            } else {
                run.wait_for(root, step).await?;
                run.read((root, step, 0), bytes, pieces.part(step));
            }
            run.finish(step);
        }
        Ok(())
    }
}
