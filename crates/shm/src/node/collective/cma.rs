//! Long calls by cross-memory attach (CMA): a rank reads other ranks' memory by the kernel, or writes the
//! root's.
//!
//! In the first step a rank shows the address of its bytes; in the last each reports that it has read all,
//! and no rank returns before, since a buffer is its caller's again then. A rank that fails withdraws what it
//! has shown, so a rank that has read it meanwhile does not count on it. An alltoall in place uses bounce
//! buffers, since others would read what has been written over.
//!
//! In a gather the root shows its output, and the others write their blocks there at once. Each enters first:
//! from then until it reports that it is done it waits for no rank. A root that fails withdraws what it has
//! shown, and then waits for the living ranks that have entered.
//!
//! At the end of a broadcast, scatter or gather only the root waits. A rank that shares its processor yields
//! there: else it would do its part of the next calls, too, while their roots wait for the ranks beside it.
//!
//! The kernel finds its way page by page, which takes up to three times as long as a copy from shared memory.
//! CMA gains where the copy in costs more: with two ranks that write at once, and with many ranks that write
//! more than their caches hold.
//!
//! Source: H. Jin, S. Sur, L. Chai, D. K. Panda, "LiMIC: Support for High-Performance MPI Intra-Node
//! Communication on Linux Cluster", ICPP 2005.

use oxmpi_os::RawBytes;
use oxmpi_os::cma::{self, CmaError};
use oxmpi_resumable::resumable;
use oxmpi_wire::Bytes;

use super::call_kind::CallKind;
use super::catalog::CMA_FROM;
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::operands::{Operands, contiguous};
use super::pieces::PayloadPath;
use super::run::CollectiveRun;
use super::scratch::SCRATCH_LEN;
use crate::transport::{CmaAccess, CmaBytes};

#[resumable]
impl NodeGroup {
    /// Whether ranks may show their memory in calls on blocks of `block` bytes. What is shown must have no gaps: a range
    /// of its own in another rank's memory costs 500 ns (Zen 5, November 2026).
    #[must_use]
    pub const fn may_show(block: u64) -> bool {
        block >= CMA_FROM
    }

    /// Enables CMA if this rank may read and write the memory of all others, and says whether it does. All
    /// ranks must have made their group.
    pub fn enable_cma(&mut self) -> bool {
        let ranks = self.members.iter().map(|member| member.rank);
        let (segment, area) = (&self.segment, self.segment.area());
        let area = area.filter(|_| cma::may_write());
        let processes = area.and_then(|area| {
            let processes = ranks.map(|rank| CmaAccess::default().process(segment, area, rank));
            processes.collect()
        });
        self.processes = processes;
        self.processes.is_some()
    }

    /// Disables CMA: one of the ranks [cannot use it](NodeGroup::enable_cma).
    pub fn disable_cma(&mut self) {
        self.processes = None;
    }

    /// The root shows `shown`, of which each other rank reads `len` bytes from byte `at` to its `output`; the
    /// root runs `meanwhile`.
    ///
    /// # Errors
    /// When a rank never arrives, or cannot be read.
    pub(super) async fn read_from_root<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (kind, root, len): (CallKind, usize, u64),
        (shown, at): (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let is_root = self.me == root;
        let mut run = CollectiveRun::new(self, driver, (kind, root, len), PayloadPath::Slots);
        run.one_writes(0, root);
        if is_root {
            run.show_to_all(0, shown).await?;
            let read = match meanwhile(run.driver) {
                Ok(()) => run.report_to_root(root, 1).await,
                failed => failed,
            };
            run.withdraw_if_failed(0, read)
        } else {
            run.wait_for(root, 0).await?;
            if let Err(unreached) = run.fetch((root, 0, at), (output, 0, len)) {
                return Err(run.end_for(unreached).await);
            }
            run.finish(0);
            run.report_to_root(root, 1).await?;
            run.driver.yield_to_co_located();
            Ok(())
        }
    }

    /// Every rank shows `shown`, of which each other rank reads `block` bytes from byte `at`, its own, to its `output`, in
    /// rank order, after it has run `meanwhile`: an allgather, or an alltoall that is not in place.
    ///
    /// # Errors
    /// When a rank never comes, or cannot be read, or as `meanwhile`.
    pub(super) async fn exchange_by_cma<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (kind, block): (CallKind, u64),
        (shown, at): (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let call = (kind, BY_CMA, block);
        let mut run = CollectiveRun::new(self, driver, call, PayloadPath::Slots);
        run.all_write(0);
        run.wait_until_free(0).await?;
        run.show(0, shown);
        let read = match meanwhile(run.driver) {
            Ok(()) => run.read_from_all((at, block), output).await,
            failed => failed,
        };
        run.withdraw_if_failed(0, read)
    }

    /// [`NodeGroup::reduce_scatter`] by CMA, of more than two ranks.
    ///
    /// # Errors
    /// When a rank never comes, or cannot be read.
    pub(super) async fn reduce_scatter_by_cma<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        let (me, size, block) = (self.me, self.size(), operands.len);
        let call = (CallKind::ReduceScatter, BY_CMA, block);
        let mut run = CollectiveRun::new(self, driver, call, PayloadPath::Slots);
        run.wait_until_free(0).await?;
        run.show(0, &contiguous(operands.input, 0, block as usize * size));
        let read = run.combine_from_all(me as u64 * block, operands).await;
        run.withdraw_if_failed(0, read)
    }
}

/// In the mark of a call without a root: CMA. A rank that calls in place goes by bounce buffers.
const BY_CMA: usize = 1;

/// Bytes of one system call at most; the kernel moves less than 2 GiB a call.
pub(super) const MAX_SYSCALL: usize = 256 << 20;

/// A step after the last of every call here.
const NEVER: u64 = 2;

#[resumable]
impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    /// Reads `block` bytes from byte `at` of the memory that each other rank shows, in rank order into
    /// `output`, and waits until all ranks have read.
    async fn read_from_all(
        &mut self,
        (at, block): (u64, u64),
        output: &RawBytes,
    ) -> Result<(), D::Error> {
        let (me, size) = (self.group.me, self.group.size());
        self.wait_for_all(0).await?;
        self.wake_all();
        for writer in (me + 1..size).chain(0..me) {
            let place = (output, writer as u64 * block, block);
            if let Err(unreached) = self.fetch((writer, 0, at), place) {
                return Err(self.end_for(unreached).await);
            }
        }
        self.wait_until_all_have_read().await
    }

    /// Combines the block of `operands` from byte `from` of the memory that all ranks show, and waits until
    /// all have combined theirs.
    async fn combine_from_all(
        &mut self,
        from: u64,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        self.wait_for_all(0).await?;
        self.wake_all();
        let longest = SCRATCH_LEN / operands.element * operands.element;
        for at in (0..operands.len).step_by(longest) {
            let len = longest.min((operands.len - at) as usize);
            let own = contiguous(operands.input, from + at, len);
            let into = contiguous(operands.output, at, len);
            let among = (self.group.me, self.group.size());
            let combined = self.combine_all(among, own, into, |run, rank, to| {
                run.fetch((rank, 0, from + at), (to, 0, len as u64))
            });
            if let Err(unreached) = combined {
                return Err(self.end_for(unreached).await);
            }
        }
        self.wait_until_all_have_read().await
    }

    /// Reports that this rank has read the memory shown in step 0, and waits until all others have.
    async fn wait_until_all_have_read(&mut self) -> Result<(), D::Error> {
        self.finish(0);
        self.meet(1).await
    }

    /// Reads `len` bytes from byte `at` of the memory that `rank` has shown in `step`, to byte `to` of
    /// `bytes`.
    fn fetch(
        &self,
        (rank, step, at): (usize, u64, u64),
        (bytes, to, len): (&RawBytes, u64, u64),
    ) -> Result<(), Unreached> {
        #[cfg(test)]
        super::record::note(super::catalog::NodeProtocol::Cma.name());
        let first = self.shown(rank, step).wrapping_add(at);
        let processes = self.group.processes.as_ref().expect("CMA is enabled");
        let mut result = Ok(());
        for done in (0..len).step_by(MAX_SYSCALL) {
            let piece = (len - done).min(MAX_SYSCALL as u64) as usize;
            let mut remote = CmaBytes::new(&processes[rank], first.wrapping_add(done), piece);
            bytes.fill(to + done, &mut remote);
            result = result.and(remote.result());
        }
        Unreached::judge((rank, self.is_kept(rank, step)), result)
    }

    /// Why the call ends when a rank's memory was not reached. A rank that has failed or is lost is waited for, which
    /// returns the reason.
    #[cold]
    pub(super) async fn end_for(&mut self, unreached: Unreached) -> D::Error {
        let Unreached { rank, is_gone } = unreached;
        if is_gone && let Err(why) = self.wait_for(rank, NEVER).await {
            return why;
        }
        self.driver.unreadable(self.group.members[rank].rank)
    }
}

/// A rank whose memory was not read or written.
pub(super) struct Unreached {
    rank: usize,
    /// It is lost, or has failed and so withdrawn what it had shown. Otherwise the system refused.
    is_gone: bool,
}

impl Unreached {
    /// Judges an access to the memory of `rank`: its result, and whether `rank` kept the memory shown until
    /// then.
    pub(super) fn judge(
        (rank, kept): (usize, bool),
        result: Result<(), CmaError>,
    ) -> Result<(), Self> {
        let is_gone = match result {
            Ok(()) if kept => return Ok(()),
            Ok(()) | Err(CmaError::Gone | CmaError::Stranger) => true,
            Err(_) => false,
        };
        Err(Unreached { rank, is_gone })
    }
}
