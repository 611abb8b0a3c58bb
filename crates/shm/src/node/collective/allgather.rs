//! Allgather: every rank writes its block, and reads all others.

use oxmpi_os::RawBytes;
use oxmpi_resumable::resumable;

use super::call_kind::CallKind;
use super::catalog::{CallFacts, NodeProtocol};
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::operands::contiguous;
use super::run::CollectiveRun;

#[resumable]
impl NodeGroup {
    /// Copies the `block` bytes of every other rank, from byte `at` of its `input`, to this rank's `output`,
    /// in rank order. This rank's own block in the output is not written: it runs `meanwhile` once the others
    /// can read.
    ///
    /// # Errors
    /// When a rank never arrives, or as `meanwhile`.
    ///
    /// # Panics
    /// If the input is too short.
    pub async fn allgather<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (input, from, block): (&RawBytes, u64, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        if block < const { CallKind::Allgather.long_from() } {
            return self
                .allgather_by_buffers(driver, (input, from, block), output, meanwhile)
                .await;
        }
        self.long_allgather(driver, (input, from, block), output, meanwhile)
            .await
    }

    // Not inlined, so that a short call, which does not get here, has the registers.
    #[inline(never)]
    async fn long_allgather<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (input, from, block): (&RawBytes, u64, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let kind = (CallKind::Allgather, CallFacts::of(block));
        let call = self.begin_long(driver, kind).await?;
        match call.protocol {
            NodeProtocol::Cma => {
                let (call, own) = (CallKind::Allgather, contiguous(input, from, block as usize));
                self.exchange_by_cma(driver, (call, block), (&own, 0), output, meanwhile)
                    .await
            }
            _ => {
                self.allgather_by_buffers(driver, (input, from, block), output, meanwhile)
                    .await
            }
        }?;
        self.end_long(driver, call).await
    }

    async fn allgather_by_buffers<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (input, from, block): (&RawBytes, u64, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let (me, size) = (self.me, self.size());
        let pieces = self.pieces_for_all(block, 1);
        let own = if input.start() == output.start() {
            0
        } else {
            block
        };
        let non_temporal =
            self.exceeds_caches(CallKind::Allgather, self.all(block).saturating_add(own));
        let mut run =
            CollectiveRun::new(self, driver, (CallKind::Allgather, 0, block), pieces.path);
        run.exchange(
            pieces,
            |run, step| {
                let (at, len) = pieces.part(step);
                run.write(step, input, (from + at, len));
            },
            meanwhile,
            |run, step| {
                let (at, len) = pieces.part(step);
                for writer in (me + 1..size).chain(0..me) {
                    let place = writer as u64 * block + at;
                    run.read_out(non_temporal, (writer, step, 0), output, (place, len));
                }
            },
        )
        .await
    }
}
