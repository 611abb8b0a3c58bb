//! Long calls without a copy in between: each rank reads what it needs straight from the others' own
//! memory, by the kernel, or writes what one of them needs.
//!
//! In the first step a rank shows where its bytes are; in the last it tells that it has read all, and
//! nobody returns before, since a buffer is its caller's again then. Who fails takes back what it has
//! shown, so whoever has read it meanwhile does not count on it. An alltoall in place stays with cells,
//! since others would read what has been written over.
//!
//! In a gather the root shows where the blocks belong, and the others write them, at once. Each of them
//! enters before: from then until it tells that it is done it waits for nobody. A root that fails takes
//! back what it has shown, and then waits for those who have entered, unless they are dead.
//!
//! Nobody waits in the end of a broadcast, scatter or gather but its root. A rank that shares its processor makes way there:
//! it would else do its part of the next calls, too, while the roots of all of them wait for those beside.
//!
//! The kernel finds its way page by page, which takes up to three times as long as a copy from shared
//! memory. It gains where the copy in costs more: with two ranks that both write at once, and with many
//! that write more than their caches hold.
//!
//! Source: H. Jin, S. Sur, L. Chai, D. K. Panda, "LiMIC: Support for High-Performance MPI Intra-Node
//! Communication on Linux Cluster", ICPP 2005.

use oxmpi_os::RawBytes;
use oxmpi_os::vm::{self, Denied};
use oxmpi_wire::Bytes;

use super::call_kind::CallKind;
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::operands::{Operands, contiguous};
use super::pieces::PayloadPath;
use super::run::CollectiveRun;
use super::scratch::SCRATCH_LEN;
use crate::transport::{CmaAccess, CmaBytes};

/// Bytes of a block from which on it may be faster, on some processors: on an Emerald Rapids two ranks took 0.55 of
/// the time for a broadcast of 64 KiB and 0.62 for an alltoall, and sixteen 0.36 for a scatter. Between two processors of a
/// Zen 4 that share a cache such a broadcast takes three times as long, which trials find out. Shorter blocks gain
/// little anywhere, as the kernel must be asked.
const MIN_CMA_BLOCK: u64 = 64 << 10;

impl NodeGroup {
    /// Whether a broadcast of so many bytes may be read directly. With more ranks all would read the root's memory,
    /// page by page: four took 1.6 times as long so on an Emerald Rapids, and sixteen six times.
    #[inline]
    pub(super) fn may_bcast_by_cma(&self, len: u64) -> bool {
        self.may_use_cma(len) && self.size() == 2
    }

    /// Whether a reduction of such blocks, each for its rank, may be read directly: with eight ranks on two processors of
    /// a Cascade Lake 128 KiB took three quarters of the time so, and with four as long as through cells.
    pub(super) fn may_reduce_by_cma(&self, block: u64) -> bool {
        self.may_use_cma(block) && self.size() > 2
    }

    /// Whether blocks of so many bytes may be read from the others' memory, or written to the root's: they are long,
    /// and all can be reached.
    #[inline]
    pub(super) fn may_use_cma(&self, block: u64) -> bool {
        block >= MIN_CMA_BLOCK && self.spaces.is_some()
    }
}

impl NodeGroup {
    /// Whether this rank may read and write all others' memory. All must have made their team.
    pub fn enable_cma(&mut self) -> bool {
        let ranks = self.members.iter().map(|member| member.rank);
        let (segment, area) = (&self.segment, self.segment.area());
        let area = area.filter(|_| vm::may_write());
        let spaces = area.and_then(|area| {
            let spaces = ranks.map(|rank| CmaAccess::default().process(segment, area, rank));
            spaces.collect()
        });
        self.spaces = spaces;
        self.spaces.is_some()
    }

    /// Gives up reading the others' memory: one of them [cannot](NodeGroup::enable_cma).
    pub fn disable_cma(&mut self) {
        self.spaces = None;
    }

    /// The root shows `shown`, of which each other rank reads `len` bytes from its byte `at` on, to its `output`; the
    /// root does something else `meanwhile`.
    ///
    /// # Errors
    /// When a rank never comes, or cannot be read, or as `meanwhile`.
    pub(super) fn read_from_root<D: CollectiveDriver>(
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
            run.show_to_all(0, shown)?;
            let read = meanwhile(run.driver).and_then(|()| run.all_tell(root, 1));
            run.withdraw_if_failed(0, read)
        } else {
            run.wait_for(root, 0)?;
            run.fetch((root, 0, at), (output, 0, len))?;
            run.finish(0);
            run.all_tell(root, 1)?;
            run.driver.yield_to_colocated();
            Ok(())
        }
    }

    /// As [`NodeGroup::allgather`], `own` being the block of this rank.
    ///
    /// # Errors
    /// When a rank never comes, or cannot be read, or as `meanwhile`.
    pub(super) fn allgather_by_cma<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (own, block): (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let mut run = CollectiveRun::new(
            self,
            driver,
            (CallKind::Allgather, DIRECTLY, block),
            PayloadPath::Slots,
        );
        run.all_write(0);
        run.room(0)?;
        run.show(0, own);
        let read = meanwhile(run.driver).and_then(|()| run.read_from_all((0, block), output));
        run.withdraw_if_failed(0, read)
    }

    /// As [`NodeGroup::alltoall`], not in place.
    ///
    /// # Errors
    /// When a rank never comes, or cannot be read, or as `meanwhile`.
    pub(super) fn alltoall_by_cma<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (input, block): (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let me = self.me;
        let mut run = CollectiveRun::new(
            self,
            driver,
            (CallKind::Alltoall, DIRECTLY, block),
            PayloadPath::Slots,
        );
        run.all_write(0);
        run.room(0)?;
        run.show(0, input);
        let read = meanwhile(run.driver)
            .and_then(|()| run.read_from_all((me as u64 * block, block), output));
        run.withdraw_if_failed(0, read)
    }
}

impl NodeGroup {
    /// As [`NodeGroup::reduce_scatter`], of more than two ranks.
    ///
    /// # Errors
    /// When a rank never comes, or cannot be read.
    pub(super) fn reduce_scatter_by_cma<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        let (me, size, block) = (self.me, self.size(), operands.len);
        let call = (CallKind::ReduceScatter, DIRECTLY, block);
        let mut run = CollectiveRun::new(self, driver, call, PayloadPath::Slots);
        run.room(0)?;
        run.show(0, &contiguous(operands.input, 0, block as usize * size));
        let read = run.combine_from_all(me as u64 * block, operands);
        run.withdraw_if_failed(0, read)
    }
}

/// Stands for the root in the mark of a call without one: whoever is in place goes another way.
const DIRECTLY: usize = 1;

/// Bytes of one call of the kernel at most, which moves less than 2 GiB.
pub(super) const MOST: usize = 256 << 20;

/// After the last step of any call here.
const NEVER: u64 = 2;

impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    /// Reads `block` bytes from byte `at` of what each other rank shows, in rank order into `output`, and
    /// waits until all have read.
    fn read_from_all(
        &mut self,
        (at, block): (u64, u64),
        output: &RawBytes,
    ) -> Result<(), D::Error> {
        let (me, size) = (self.group.me, self.group.size());
        self.wait_for_all(0)?;
        self.wake_all();
        for writer in (me + 1..size).chain(0..me) {
            self.fetch((writer, 0, at), (output, writer as u64 * block, block))?;
        }
        self.all_are_done()
    }

    /// Combines the block of `operands` that begins at byte `from` of what all ranks show, and waits until
    /// all have combined theirs.
    fn combine_from_all(&mut self, from: u64, operands: Operands<'_>) -> Result<(), D::Error> {
        self.wait_for_all(0)?;
        self.wake_all();
        let longest = SCRATCH_LEN / operands.element * operands.element;
        for at in (0..operands.len).step_by(longest) {
            let len = longest.min((operands.len - at) as usize);
            let own = contiguous(operands.input, from + at, len);
            let into = contiguous(operands.output, at, len);
            let among = (self.group.me, self.group.size());
            self.combine_all(among, own, into, |run, rank, to| {
                run.fetch((rank, 0, from + at), (to, 0, len as u64))
            })?;
        }
        self.all_are_done()
    }

    /// This rank has read what the others show in step 0; waits until all others have, too.
    fn all_are_done(&mut self) -> Result<(), D::Error> {
        self.finish(0);
        self.meet(1)
    }

    /// Reads `len` bytes from byte `at` of what `rank` has shown in `step`, to byte `to` of `bytes`.
    fn fetch(
        &mut self,
        (rank, step, at): (usize, u64, u64),
        (bytes, to, len): (&RawBytes, u64, u64),
    ) -> Result<(), D::Error> {
        let first = self.shown(rank, step).wrapping_add(at);
        let spaces = self.group.spaces.as_ref().expect("all can read");
        let mut result = Ok(());
        for done in (0..len).step_by(MOST) {
            let piece = (len - done).min(MOST as u64) as usize;
            let mut afar = CmaBytes::new(&spaces[rank], first.wrapping_add(done), piece);
            bytes.fill(to + done, &mut afar);
            result = result.and(afar.result());
        }
        let kept = self.is_kept(rank, step);
        self.judge((rank, kept), result)
    }

    /// What came of reaching for what `rank` has shown, and kept there until then or not.
    pub(super) fn judge(
        &mut self,
        (rank, kept): (usize, bool),
        result: Result<(), Denied>,
    ) -> Result<(), D::Error> {
        match result {
            Ok(()) if kept => Ok(()),
            Ok(()) | Err(Denied::Gone | Denied::Stranger) => self.stop(rank),
            Err(_) => Err(self.driver.unreadable(self.group.members[rank].rank)),
        }
    }

    /// Ends because `rank` has failed or is lost: whoever waits for it learns how.
    #[cold]
    fn stop(&mut self, rank: usize) -> Result<(), D::Error> {
        self.wait_for(rank, NEVER)?;
        Err(self.driver.unreadable(self.group.members[rank].rank))
    }
}
