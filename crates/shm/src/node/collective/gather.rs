//! Gather: all but the root write, and the root reads; long blocks are written straight into the root's
//! memory.

use std::thread::yield_now;

use oxmpi_os::RawBytes;
use oxmpi_os::vm::Denied;
use oxmpi_wire::{Bytes, Put, Take};

use super::cma::MOST;
use super::group::{CollectiveDriver, NodeGroup};
use super::pieces::PayloadPath;
use super::protocol_trials::CollectiveProtocol;
use super::run::{CallKind, CollectiveRun};
use crate::transport::CmaBytes;

impl NodeGroup {
    /// Gives `root` the first `block` bytes of every other rank's `input`, in rank order, in its
    /// `output`. The root's own block there stays as it is: it does something else `meanwhile`, before it
    /// reads.
    ///
    /// # Errors
    /// When a rank that this one waits for never comes, or as `meanwhile`.
    ///
    /// # Panics
    /// If the input is shorter than a block, or the root's output than one for each.
    pub fn gather<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        (input, block): (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        // What is too short would end this rank in the middle, while others write its memory.
        match self.me == root {
            true => assert!(output.len() >= self.all(block), "a short output"),
            false => assert!(input.len() >= block, "a short input"),
        }
        let given = (input, block);
        if !self.may_use_cma(block) {
            return self.gather_by_bounce(driver, root, given, output, meanwhile);
        }
        let call = (CallKind::Gather, block);
        self.by_best_protocol(driver, call, |team, driver, protocol| match protocol {
            CollectiveProtocol::Bounce => {
                team.gather_by_bounce(driver, root, given, output, meanwhile)
            }
            CollectiveProtocol::Cma => team.gather_by_cma(driver, root, given, output, meanwhile),
        })
    }

    // Inlined, as a short call takes no longer than a call of it.
    #[inline(always)]
    fn gather_by_bounce<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        (input, block): (&RawBytes, u64),
        output: &RawBytes,
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let (me, size) = (self.me, self.size());
        let pieces = self.pieces_for_one(block, 1);
        // Of two ranks only the root writes: with blocks of 8 MiB it took 1.1 times as long past the caches.
        let past_caches = size > 2 && self.is_beyond_caches(self.all(block));
        let mut run = CollectiveRun::new(
            self,
            driver,
            (CallKind::Gather, root, block),
            pieces.through,
        );
        run.meanwhile(root, meanwhile)?;
        for step in 0..pieces.steps() {
            run.others_write(step, root);
            let (at, len) = pieces.part(step);
            if me == root {
                let mut unread: u64 = (u64::MAX >> (u64::BITS as usize - size)) & !(1 << me);
                // While those who are there are read, the others come.
                for waits in [false, true] {
                    for writer in 0..size {
                        let is_unread = unread >> writer & 1 > 0;
                        if !is_unread || !waits && !run.has(writer, step) {
                            continue;
                        }
                        run.wait_for(writer, step)?;
                        let place = writer as u64 * block + at;
                        run.read_out(past_caches, (writer, step, 0), output, (place, len));
                        unread &= !(1 << writer);
                    }
                }
                run.wait_for_all(step)?;
            } else {
                run.room(step)?;
                run.write_to((root, 0), step, input, (at, len));
                run.publish(step);
                run.wake(root);
            }
            run.finish(step);
        }
        Ok(())
    }

    /// The others write their blocks to the root's memory.
    fn gather_by_cma<D: CollectiveDriver>(
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
        // The others enter in it, too.
        run.all_write(0);
        if me == root {
            run.offer(0, output)?;
            run.others_write(1, root);
            let written = meanwhile(run.driver).and_then(|()| run.all_have_written(1));
            run.close_if_failed(0, written)?;
        } else {
            run.wait_for(root, 0)?;
            run.others_write(1, root);
            run.deliver((root, 0, me as u64 * block), (input, 0, block))?;
        }
        run.finish(1);
        if me != root {
            run.driver.yield_to_colocated();
        }
        Ok(())
    }
}

impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    /// Writes `len` bytes of `bytes`, from byte `from` on, to byte `at` of what `rank` has shown in `step`,
    /// and tells so in the next step.
    fn deliver(
        &mut self,
        (rank, step, at): (usize, u64, u64),
        (bytes, from, len): (&RawBytes, u64, u64),
    ) -> Result<(), D::Error> {
        let first = self.shown(rank, step).wrapping_add(at);
        self.room(step + 1)?;
        self.enter(step);
        let mut result = Ok(());
        for done in (0..len).step_by(MOST) {
            if result.is_err() || !self.is_kept(rank, step) {
                break;
            }
            let spaces = self.team.spaces.as_ref().expect("all can be reached");
            let piece = (len - done).min(MOST as u64) as usize;
            let mut afar = CmaBytes::new(&spaces[rank], first.wrapping_add(done), piece);
            bytes.drain(from + done, piece, &mut afar);
            result = afar.result();
        }
        // It may write the next step where the root has shown that.
        let kept = self.is_kept(rank, step);
        let mut payload = self.in_slot(self.team.me, step + 1, 0, 1);
        payload.put_exact([u8::from(result.is_ok())]);
        self.publish(step + 1);
        self.wake(rank);
        // The root may write over what it has shown once this step is finished.
        let judged = self.judge((rank, kept), result);
        self.finish(step);
        judged
    }

    /// Waits until all others have [delivered](CollectiveRun::deliver), which they tell in `step`.
    fn all_have_written(&mut self, step: u64) -> Result<(), D::Error> {
        self.wait_for_all(step)?;
        for rank in (0..self.team.size()).filter(|&rank| rank != self.team.me) {
            let [written] = self.in_slot(rank, step, 0, 1).take_exact();
            if written == 0 {
                return Err(self.driver.unreadable(self.team.members[rank].rank));
            }
        }
        Ok(())
    }

    /// Ends as `result` says; if it has failed, nobody writes any more what was shown in `step`, which is the
    /// caller's again.
    ///
    /// # Cost
    /// A rank that is stopped while it writes is waited for.
    fn close_if_failed(&mut self, step: u64, result: Result<(), D::Error>) -> Result<(), D::Error> {
        let result = self.withdraw_if_failed(step, result);
        if result.is_err() {
            let me = self.team.me;
            let spaces = self.team.spaces.as_ref().expect("all can be reached");
            for (rank, space) in spaces.iter().enumerate().filter(|&(rank, _)| rank != me) {
                let writes = || self.has(rank, step) && !self.has(rank, step + 1);
                let is_there = || !matches!(space.check(), Err(Denied::Gone | Denied::Stranger));
                while writes() && is_there() {
                    yield_now();
                }
            }
        }
        result
    }
}
