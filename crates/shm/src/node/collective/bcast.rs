//! Broadcast: the root writes every piece once, all others read it; or the one other rank reads the root's
//! memory by CMA.

use oxmpi_os::RawBytes;
use oxmpi_resumable::resumable;

use super::call_kind::CallKind;
use super::catalog::{CallFacts, NodeProtocol};
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
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
        if given.1 < const { CallKind::Bcast.long_from() } {
            return self.bcast_by_buffers(driver, root, given).await;
        }
        self.long_bcast(driver, root, given).await
    }

    // Not inlined, so that a short call, which does not get here, has the registers.
    #[inline(never)]
    async fn long_bcast<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        given: (&RawBytes, u64),
    ) -> Result<(), D::Error> {
        let (bytes, len) = given;
        let kind = (CallKind::Bcast, CallFacts::of(len));
        let call = self.begin_long(driver, kind).await?;
        match call.protocol {
            NodeProtocol::Cma => {
                let call = (CallKind::Bcast, root, len);
                self.read_from_root(driver, call, (bytes, 0), bytes, |_| Ok(()))
                    .await
            }
            _ => self.bcast_by_buffers(driver, root, given).await,
        }?;
        self.end_long(driver, call).await
    }

    // Inlined, since a short call takes no longer than a function call.
    #[inline(always)]
    async fn bcast_by_buffers<D: CollectiveDriver>(
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
