//! Alltoall: every rank writes a block for each other rank, and reads its own blocks.

use oxmpi_os::RawBytes;
use oxmpi_resumable::resumable;

use super::call_kind::CallKind;
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::pieces::vector_index;
use super::protocol_trials::CollectiveProtocol;
use super::run::CollectiveRun;

#[resumable]
impl NodeGroup {
    /// Copies this rank's block of every other rank's `input` to its `output`, in rank order. Its own block
    /// there is not written: it runs `meanwhile` once the others can read. `in_place`: input and output are the
    /// same memory, on every rank.
    ///
    /// # Errors
    /// When a rank never arrives, or as `meanwhile`.
    ///
    /// # Panics
    /// If the input is shorter than a block for each.
    pub async fn alltoall<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (input, block, in_place): (&RawBytes, u64, bool),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        if in_place || !self.may_use_cma(block) {
            return self
                .alltoall_by_bounce(driver, (input, block, in_place), output, meanwhile)
                .await;
        }
        self.alltoall_by_best_protocol(driver, (input, block, in_place), output, meanwhile)
            .await
    }

    // Not inlined, so that a short call, which does not get here, has the registers.
    #[inline(never)]
    async fn alltoall_by_best_protocol<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (input, block, in_place): (&RawBytes, u64, bool),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let kind = (CallKind::Alltoall, block);
        let trial = self.begin_trial(driver, kind).await?;
        match trial.protocol {
            CollectiveProtocol::Bounce => {
                self.alltoall_by_bounce(driver, (input, block, in_place), output, meanwhile)
                    .await
            }
            CollectiveProtocol::Cma => {
                let (call, at) = ((CallKind::Alltoall, block), self.me as u64 * block);
                self.exchange_by_cma(driver, call, (input, at), output, meanwhile)
                    .await
            }
        }?;
        self.end_trial(driver, kind, trial).await
    }

    async fn alltoall_by_bounce<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (input, block, in_place): (&RawBytes, u64, bool),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let (me, size) = (self.me, self.size());
        let pieces = self.pieces_for_each(block, size - 1, 1);
        let buffers = if in_place { 1 } else { 2 };
        let non_temporal = self.exceeds_caches(self.all(block).saturating_mul(buffers));
        let mut run = CollectiveRun::new(self, driver, (CallKind::Alltoall, 0, block), pieces.path);
        run.exchange(
            pieces,
            |run, step| run.write_blocks(pieces, step, (input, block)),
            meanwhile,
            |run, step| {
                let (at, len) = pieces.part(step);
                for writer in (me + 1..size).chain(0..me) {
                    let place = pieces.place(vector_index(writer, me));
                    let part = (writer as u64 * block + at, len);
                    run.read_out(non_temporal, (writer, step, place), output, part);
                }
            },
        )
        .await
    }
}
