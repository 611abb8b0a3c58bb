//! Gather: all but the root write, and the root reads; or the others write their blocks to the root's memory
//! by CMA.

use std::thread::yield_now;

use oxmpi_os::RawBytes;
use oxmpi_os::cma::CmaError;
use oxmpi_resumable::resumable;
use oxmpi_wire::{Bytes, Put, Take};

use super::call_kind::CallKind;
use super::catalog::{CallFacts, NodeProtocol};
use super::cma::{MAX_SYSCALL, Unreached};
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::pieces::PayloadPath;
use super::run::CollectiveRun;
use crate::transport::CmaBytes;

#[resumable]
impl NodeGroup {
    /// Copies the first `block` bytes of every other rank's `input` to the root's `output`, in rank order.
    /// The root's own block there is not written: the root runs `meanwhile` before it reads.
    ///
    /// # Errors
    /// When a rank that this one waits for never arrives, or as `meanwhile`.
    ///
    /// # Panics
    /// If the input is shorter than a block, or the root's output than one for each.
    pub async fn gather<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        (input, block): (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        // Checked before the call: a panic in the middle would end this rank while others write its memory.
        match self.me == root {
            true => assert!(output.len() >= self.all(block), "a short output"),
            false => assert!(input.len() >= block, "a short input"),
        }
        let given = (input, block);
        if block < const { CallKind::Gather.long_from() } {
            return self
                .gather_by_buffers(driver, root, given, output, meanwhile)
                .await;
        }
        self.long_gather(driver, root, given, output, meanwhile)
            .await
    }

    // Not inlined, so that a short call, which does not get here, has the registers.
    #[inline(never)]
    async fn long_gather<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        given: (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let (_, block) = given;
        let kind = (CallKind::Gather, CallFacts::of(block));
        let call = self.begin_long(driver, kind).await?;
        match call.protocol {
            NodeProtocol::Cma => {
                self.gather_by_cma(driver, root, given, output, meanwhile)
                    .await
            }
            _ => {
                self.gather_by_buffers(driver, root, given, output, meanwhile)
                    .await
            }
        }?;
        self.end_long(driver, call).await
    }

    // Inlined, since a short call takes no longer than a function call.
    #[inline(always)]
    async fn gather_by_buffers<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        (input, block): (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let (me, size) = (self.me, self.size());
        let pieces = self.pieces_for_one(block, 1);
        let non_temporal = self.exceeds_caches(CallKind::Gather, self.all(block));
        let mut run =
            CollectiveRun::new(self, driver, (CallKind::Gather, root, block), pieces.path);
        run.run_on_root(root, meanwhile)?;
        for step in 0..pieces.steps() {
            run.others_write(step, root);
            let (at, len) = pieces.part(step);
            if me == root {
                let mut unread: u64 = (u64::MAX >> (u64::BITS as usize - size)) & !(1 << me);
                // While it reads the ranks that have arrived, others arrive.
                for waits in [false, true] {
                    for writer in 0..size {
                        let is_unread = unread >> writer & 1 > 0;
                        if !is_unread || !waits && !run.is_published(writer, step) {
                            continue;
                        }
                        run.wait_for(writer, step).await?;
                        let place = writer as u64 * block + at;
                        run.read_out(non_temporal, (writer, step, 0), output, (place, len));
                        unread &= !(1 << writer);
                    }
                }
                run.wait_for_all(step).await?;
            } else {
                run.wait_until_free(step).await?;
                run.write_to((root, 0), step, input, (at, len));
                run.publish(step);
                run.wake(root);
            }
            run.finish(step);
        }
        Ok(())
    }

    /// The others write their blocks to the root's memory.
    async fn gather_by_cma<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        (input, block): (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let me = self.me;
        let call = (CallKind::Gather, root, block);
        let mut run = CollectiveRun::new(self, driver, call, PayloadPath::Slots);
        // In this step the others enter, too.
        run.all_write(0);
        if me == root {
            run.show_to_all(0, output).await?;
            run.others_write(1, root);
            let written = match meanwhile(run.driver) {
                Ok(()) => run.all_have_written(1).await,
                failed => failed,
            };
            run.close_if_failed(0, written)?;
        } else {
            run.wait_for(root, 0).await?;
            run.others_write(1, root);
            run.deliver((root, 0, me as u64 * block), (input, 0, block))
                .await?;
        }
        run.finish(1);
        if me != root {
            run.driver.yield_to_co_located();
        }
        Ok(())
    }
}

#[resumable]
impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    /// Writes `len` bytes of `bytes`, from byte `from`, to byte `at` of the memory that `rank` has shown in
    /// `step`, and reports it in the next step.
    async fn deliver(
        &mut self,
        (rank, step, at): (usize, u64, u64),
        (bytes, from, len): (&RawBytes, u64, u64),
    ) -> Result<(), D::Error> {
        #[cfg(test)]
        super::record::note(NodeProtocol::Cma.name());
        let first = self.shown(rank, step).wrapping_add(at);
        self.wait_until_free(step + 1).await?;
        self.enter(step);
        let mut result = Ok(());
        for done in (0..len).step_by(MAX_SYSCALL) {
            if result.is_err() || !self.is_kept(rank, step) {
                break;
            }
            let processes = self.group.processes.as_ref().expect("CMA is enabled");
            let piece = (len - done).min(MAX_SYSCALL as u64) as usize;
            let mut remote = CmaBytes::new(&processes[rank], first.wrapping_add(done), piece);
            bytes.drain(from + done, piece, &mut remote);
            result = remote.result();
        }
        // Read now: the next step may be written where the root has shown its memory.
        let kept = self.is_kept(rank, step);
        self.in_slot(self.group.me, step + 1, 0, 1)
            .put_exact([u8::from(result.is_ok())]);
        self.publish(step + 1);
        self.wake(rank);
        // Once this step is finished the root may write over what it has shown.
        let judged = Unreached::judge((rank, kept), result);
        self.finish(step);
        match judged {
            Ok(()) => Ok(()),
            Err(unreached) => Err(self.end_for(unreached).await),
        }
    }

    /// Waits until all others have [delivered](CollectiveRun::deliver), as they report in `step`.
    async fn all_have_written(&mut self, step: u64) -> Result<(), D::Error> {
        self.wait_for_all(step).await?;
        for rank in (0..self.group.size()).filter(|&rank| rank != self.group.me) {
            let [written] = self.in_slot(rank, step, 0, 1).take_exact();
            if written == 0 {
                return Err(self.driver.unreadable(self.group.members[rank].rank));
            }
        }
        Ok(())
    }

    /// Returns `result`; after a failure no rank writes any more to the memory that was shown in `step`,
    /// which is the caller's again.
    ///
    /// # Cost
    /// Waits for a rank that is stopped while it writes.
    fn close_if_failed(&mut self, step: u64, result: Result<(), D::Error>) -> Result<(), D::Error> {
        let result = self.withdraw_if_failed(step, result);
        if result.is_err() {
            let me = self.group.me;
            let processes = self.group.processes.as_ref().expect("CMA is enabled");
            for (rank, process) in processes.iter().enumerate().filter(|&(rank, _)| rank != me) {
                let writes = || self.is_published(rank, step) && !self.is_published(rank, step + 1);
                let is_alive =
                    || !matches!(process.check(), Err(CmaError::Gone | CmaError::Stranger));
                while writes() && is_alive() {
                    yield_now();
                }
            }
        }
        result
    }
}
