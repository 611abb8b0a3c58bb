//! Scatter: the root writes a block for each other rank, which reads its own; or reads it from the root's
//! memory by CMA.

use oxmpi_os::RawBytes;
use oxmpi_resumable::resumable;
use oxmpi_wire::Bytes;

use super::call_kind::CallKind;
use super::catalog::{CallFacts, NodeProtocol};
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::pieces::vector_index;
use super::run::CollectiveRun;

#[resumable]
impl NodeGroup {
    /// Copies each other rank its block of the root's `input`, in rank order. The root's own block is not
    /// moved: the root runs `meanwhile` once the others can read theirs.
    ///
    /// # Errors
    /// When a rank that this one waits for never arrives, or as `meanwhile`.
    ///
    /// # Panics
    /// If the root's input is shorter than a block for each.
    pub async fn scatter<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        (input, block): (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        if self.me == root {
            // The others would read what lies behind the input.
            assert!(input.len() >= self.all(block), "a short input");
        }
        let given = (input, block);
        if block < const { CallKind::Scatter.long_from() } {
            return self
                .scatter_by_buffers(driver, root, given, output, meanwhile)
                .await;
        }
        self.long_scatter(driver, root, given, output, meanwhile)
            .await
    }

    // Not inlined, so that a short call, which does not get here, has the registers.
    #[inline(never)]
    async fn long_scatter<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        given: (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let (input, block) = given;
        let kind = (CallKind::Scatter, CallFacts::of(block));
        let call = self.begin_long(driver, kind).await?;
        match call.protocol {
            NodeProtocol::Cma => {
                let (call, at) = ((CallKind::Scatter, root, block), self.me as u64 * block);
                self.read_from_root(driver, call, (input, at), output, meanwhile)
                    .await
            }
            _ => {
                self.scatter_by_buffers(driver, root, given, output, meanwhile)
                    .await
            }
        }?;
        self.end_long(driver, call).await
    }

    // Inlined, since a short call takes no longer than a function call.
    #[inline(always)]
    async fn scatter_by_buffers<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        (input, block): (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let (me, size) = (self.me, self.size());
        let pieces = self.pieces_for_each(block, size - 1, 1);
        let mut run =
            CollectiveRun::new(self, driver, (CallKind::Scatter, root, block), pieces.path);
        run.follow_root(root, pieces.steps());
        for step in 0..pieces.steps() {
            run.one_writes(step, root);
            if me == root {
                run.wait_until_free(step).await?;
                run.write_blocks(pieces, step, (input, block));
                run.publish(step);
                run.wake_all();
            } else {
                run.wait_for(root, step).await?;
                let place = pieces.place(vector_index(root, me));
                run.read((root, step, place), output, pieces.part(step));
            }
            run.finish(step);
        }
        run.run_on_root(root, meanwhile)
    }
}
