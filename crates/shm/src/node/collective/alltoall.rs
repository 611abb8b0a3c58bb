//! Alltoall: every rank writes a block for each other rank, and reads its own blocks.

use oxmpi_os::RawBytes;
use oxmpi_resumable::resumable;

use super::call_kind::CallKind;
use super::catalog::{CallFacts, NodeProtocol};
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::pieces::vector_index;
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
        if block < const { CallKind::Alltoall.long_from() } {
            return self
                .alltoall_by_buffers(driver, (input, block, in_place), output, meanwhile)
                .await;
        }
        self.long_alltoall(driver, (input, block, in_place), output, meanwhile)
            .await
    }

    // Not inlined, so that a short call, which does not get here, has the registers.
    #[inline(never)]
    async fn long_alltoall<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (input, block, in_place): (&RawBytes, u64, bool),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let facts = CallFacts {
            in_place,
            ..CallFacts::of(block)
        };
        let call = self.begin_long(driver, (CallKind::Alltoall, facts)).await?;
        match call.protocol {
            NodeProtocol::Cma => {
                let (call, at) = ((CallKind::Alltoall, block), self.me as u64 * block);
                self.exchange_by_cma(driver, call, (input, at), output, meanwhile)
                    .await
            }
            _ => {
                self.alltoall_by_buffers(driver, (input, block, in_place), output, meanwhile)
                    .await
            }
        }?;
        self.end_long(driver, call).await
    }

    async fn alltoall_by_buffers<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (input, block, in_place): (&RawBytes, u64, bool),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let (me, size) = (self.me, self.size());
        let pieces = self.pieces_for_each(block, size - 1, 1);
        let buffers = if in_place { 1 } else { 2 };
        let non_temporal =
            self.exceeds_caches(CallKind::Alltoall, self.all(block).saturating_mul(buffers));
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
