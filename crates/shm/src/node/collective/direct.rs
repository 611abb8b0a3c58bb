//! Long calls without a copy in between: each rank reads what it needs straight from the others' own
//! memory, by the kernel.
//!
//! In the first step a rank shows where its bytes are; in the last it tells that it has read all, and
//! nobody returns before, since a buffer is its caller's again then. Who fails takes back what it has
//! shown, so whoever has read it meanwhile does not count on it. An alltoall in place stays with cells,
//! since others would read what has been written over.
//!
//! The kernel finds its way page by page, which takes two to three times as long as a copy from shared
//! memory. It gains where the copy in costs more: with two ranks that both write at once, and with many
//! that write more than their caches hold.
//!
//! Source: H. Jin, S. Sur, L. Chai, D. K. Panda, "LiMIC: Support for High-Performance MPI Intra-Node
//! Communication on Linux Cluster", ICPP 2005.

use std::ops::{Range, RangeFrom};

use oxmpi_os::RawBytes;
use oxmpi_os::vm::Denied;
use oxmpi_wire::Bytes;

use super::reduce::{Operands, contiguous};
use super::run::{Kind, Run};
use super::team::{Driver, ROOM, Team};
use crate::transport::{Afar, Entry};

/// Bytes for each reader of which more than two ranks read directly. With eight ranks on two Zen 4
/// processors an alltoall of 64 KiB took a quarter of the time so and of 1 MiB half, a scatter of 64 KiB
/// two thirds with four or eight, and of 256 KiB half with four; but a scatter of 1 MiB up to twice as
/// long. The other collectives gained nothing, or in one placement of the processors only.
const ALLTOALL: RangeFrom<u64> = 64 << 10..;
const SCATTER: Range<u64> = 64 << 10..512 << 10;

/// Bytes for each of more than two ranks that may be reduced straight from the others' memory, where that is
/// learned to be faster: with eight ranks on two processors of a Cascade Lake 128 KiB took three quarters of the
/// time so, and 512 KiB too; with four as long as through cells.
const REDUCED: RangeFrom<u64> = 128 << 10..;

/// Bytes of which each of two ranks may read the other's directly.
const OF_TWO: RangeFrom<u64> = 256 << 10..;

impl Team {
    /// Whether this rank may read all others' memory. All must have made their team.
    pub fn can_read(&mut self) -> bool {
        let ranks = self.members.iter().map(|member| member.rank);
        let (segment, area) = (&self.segment, self.segment.area());
        let spaces = area.and_then(|area| {
            let spaces = ranks.map(|rank| Entry::default().space(segment, area, rank));
            spaces.collect()
        });
        self.spaces = spaces;
        self.spaces.is_some()
    }

    /// Gives up reading the others' memory: one of them [cannot](Team::can_read).
    pub fn read_no_memory(&mut self) {
        self.spaces = None;
    }

    /// Whether a scatter of such blocks is read directly.
    pub(super) fn scatters_directly(&self, block: u64) -> bool {
        self.size() > 2 && SCATTER.contains(&block) && self.spaces.is_some()
    }

    /// Whether an allgather of such blocks may be.
    pub(super) fn allgathers_directly(&self, block: u64) -> bool {
        self.size() == 2 && OF_TWO.contains(&block) && self.spaces.is_some()
    }

    /// Whether an alltoall of such blocks is, or of two ranks may be, which is not in place.
    pub(super) fn exchanges_directly(&self, block: u64) -> bool {
        let long = if self.size() == 2 { OF_TWO } else { ALLTOALL };
        long.contains(&block) && self.spaces.is_some()
    }

    /// Whether a reduction of such blocks, each for its rank, may be.
    pub(super) fn reduces_directly(&self, block: u64) -> bool {
        self.size() > 2 && REDUCED.contains(&block) && self.spaces.is_some()
    }

    /// As [`Team::scatter`].
    ///
    /// # Errors
    /// When a rank never comes, or cannot be read.
    pub(super) fn scatter_directly<D: Driver>(
        &mut self,
        driver: &mut D,
        root: usize,
        (input, block): (&RawBytes, u64),
        output: &RawBytes,
    ) -> Result<(), D::Error> {
        let me = self.me;
        let mut run = Run::new(self, driver, (Kind::Scatter, root, block), true);
        if me == root {
            run.room(0)?;
            run.show(0, input);
            run.wake_all();
            run.finish(0);
            let read = run.wait_for_all(1);
            run.withdraw_if_failed(0, read)?;
        } else {
            run.wait_for(root, 0)?;
            run.fetch((root, 0, me as u64 * block), (output, 0, block))?;
            run.finish(0);
            run.room(1)?;
            run.publish(1);
            run.wake(root);
        }
        run.finish(1);
        Ok(())
    }

    /// As [`Team::allgather`], `own` being the block of this rank.
    ///
    /// # Errors
    /// As [`Team::scatter_directly`].
    pub(super) fn allgather_directly<D: Driver>(
        &mut self,
        driver: &mut D,
        (own, block): (&RawBytes, u64),
        output: &RawBytes,
    ) -> Result<(), D::Error> {
        let mut run = Run::new(self, driver, (Kind::Allgather, DIRECTLY, block), true);
        run.room(0)?;
        run.show(0, own);
        let read = run.read_from_all((0, block), output);
        run.withdraw_if_failed(0, read)
    }

    /// As [`Team::alltoall`], not in place.
    ///
    /// # Errors
    /// As [`Team::scatter_directly`].
    pub(super) fn alltoall_directly<D: Driver>(
        &mut self,
        driver: &mut D,
        (input, block): (&RawBytes, u64),
        output: &RawBytes,
    ) -> Result<(), D::Error> {
        let me = self.me;
        let mut run = Run::new(self, driver, (Kind::Alltoall, DIRECTLY, block), true);
        run.room(0)?;
        run.show(0, input);
        let read = run.read_from_all((me as u64 * block, block), output);
        run.withdraw_if_failed(0, read)
    }
}

impl Team {
    /// As [`Team::reduce_scatter`].
    ///
    /// # Errors
    /// As [`Team::scatter_directly`].
    pub(super) fn reduce_scatter_directly<D: Driver>(
        &mut self,
        driver: &mut D,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        let (me, size, block) = (self.me, self.size(), operands.len);
        let call = (Kind::ReduceScatter, DIRECTLY, block);
        let mut run = Run::new(self, driver, call, true);
        run.room(0)?;
        run.show(0, &contiguous(operands.input, 0, block as usize * size));
        let read = run.combine_from_all(me as u64 * block, operands);
        run.withdraw_if_failed(0, read)
    }
}

/// Stands for the root in the mark of a call without one: whoever is in place goes another way.
const DIRECTLY: usize = 1;

/// Bytes of one call of the kernel at most, which moves less than 2 GiB.
const MOST: usize = 256 << 20;

/// After the last step of any call here.
const NEVER: u64 = 2;

impl<D: Driver> Run<'_, D> {
    /// Reads `block` bytes from byte `at` of what each other rank shows, in rank order into `output`, and
    /// waits until all have read.
    fn read_from_all(
        &mut self,
        (at, block): (u64, u64),
        output: &RawBytes,
    ) -> Result<(), D::Error> {
        let (me, size) = (self.team.me, self.team.size());
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
        let longest = ROOM / operands.element * operands.element;
        for at in (0..operands.len).step_by(longest) {
            let len = longest.min((operands.len - at) as usize);
            let own = contiguous(operands.input, from + at, len);
            let into = contiguous(operands.output, at, len);
            self.combine_all(own, into, |run, rank, to| {
                run.fetch((rank, 0, from + at), (to, 0, len as u64))
            })?;
        }
        self.all_are_done()
    }

    /// This rank has read what the others show in step 0; waits until all others have, too.
    fn all_are_done(&mut self) -> Result<(), D::Error> {
        self.finish(0);
        self.room(1)?;
        self.publish(1);
        self.wait_for_all(1)?;
        self.wake_all();
        self.finish(1);
        Ok(())
    }

    /// Reads `len` bytes from byte `at` of what `rank` has shown in `step`, to byte `to` of `bytes`.
    fn fetch(
        &mut self,
        (rank, step, at): (usize, u64, u64),
        (bytes, to, len): (&RawBytes, u64, u64),
    ) -> Result<(), D::Error> {
        let first = self.shown(rank, step).wrapping_add(at);
        let spaces = self.team.spaces.as_ref().expect("all can read");
        let mut result = Ok(());
        for done in (0..len).step_by(MOST) {
            let piece = (len - done).min(MOST as u64) as usize;
            let mut afar = Afar::new(&spaces[rank], first.wrapping_add(done), piece);
            bytes.fill(to + done, &mut afar);
            result = result.and(afar.result());
        }
        match result {
            Ok(()) if self.is_kept(rank, step) => Ok(()),
            Ok(()) | Err(Denied::Gone | Denied::Stranger) => self.stop(rank),
            Err(_) => Err(self.driver.unreadable(self.team.members[rank].rank)),
        }
    }

    /// Ends because `rank` has failed or is lost: whoever waits for it learns how.
    #[cold]
    fn stop(&mut self, rank: usize) -> Result<(), D::Error> {
        self.wait_for(rank, NEVER)?;
        Err(self.driver.unreadable(self.team.members[rank].rank))
    }
}
