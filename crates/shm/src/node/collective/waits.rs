//! What the ranks of a collective wait for: free slots, and steps of others.

use std::future::poll_fn;
use std::hint::spin_loop;
use std::task::Poll;

use oxmpi_resumable::resumable;

use super::awaited::AwaitedSteps;
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::run::CollectiveRun;
use crate::segment::arena::{CollectiveSlots, SLOTS};

#[resumable]
impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    /// Whether this rank's slot of `step` is free; looks at the others if need be.
    #[inline(always)]
    pub(super) fn is_free(&mut self, step: u64) -> bool {
        let number = self.number(step);
        CollectiveSlots::<()>::is_free(number, self.group.finished) || {
            self.group.update_finished();
            CollectiveSlots::<()>::is_free(number, self.group.finished)
        }
    }

    /// Waits until this rank's slot of `step` is free.
    #[inline(always)]
    pub(super) async fn wait_until_free(&mut self, step: u64) -> Result<(), D::Error> {
        if !self.is_free(step) {
            let awaited = self.all_finished_before(step);
            self.arrive(awaited).await?;
            self.note_finished(self.oldest(step));
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn all_finished_before(&self, step: u64) -> AwaitedSteps {
        let group = &self.group;
        AwaitedSteps::finished(group.index, self.oldest(step), group.step, group.others)
    }

    /// The step that all ranks must have finished before `step` may be written.
    const fn oldest(&self, step: u64) -> u64 {
        self.number(step) - SLOTS as u64
    }

    #[cold]
    #[inline(never)]
    fn note_finished(&mut self, oldest: u64) {
        self.group.finished = self.group.finished.max(oldest);
        self.group.update_finished();
    }

    /// All others report to the root in `step` that they are done with all before; it waits for them.
    pub(super) async fn report_to_root(&mut self, root: usize, step: u64) -> Result<(), D::Error> {
        self.others_write(step, root);
        if self.group.me == root {
            self.wait_for_all(step).await?;
        } else {
            self.wait_until_free(step).await?;
            self.publish(step);
            self.wake(root);
        }
        self.finish(step);
        Ok(())
    }

    /// All ranks meet in `step`, and go on when all others have arrived.
    pub(super) async fn meet(&mut self, step: u64) -> Result<(), D::Error> {
        self.all_write(step);
        self.wait_until_free(step).await?;
        self.publish(step);
        self.wait_for_all(step).await?;
        self.wake_all();
        self.finish(step);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn is_published(&self, rank: usize, step: u64) -> bool {
        let (slots, slot) = self.slot(rank, step);
        slots
            .poll(slot, self.number(step), self.mark_of(rank))
            .is_ok()
    }

    /// Waits until `rank` has published `step`.
    #[inline(always)]
    pub(super) async fn wait_for(&mut self, rank: usize, step: u64) -> Result<(), D::Error> {
        if !self.is_published(rank, step) && !self.poll_longer(rank, step) {
            let awaited = self.all_published(step, 1 << self.group.members[rank].rank);
            self.arrive(awaited).await?;
        }
        if self.group.size() == 2 {
            self.note_all_have_begun();
        }
        Ok(())
    }

    /// Notes that all others have begun this call, and so finished those before.
    #[inline(always)]
    fn note_all_have_begun(&mut self) {
        self.group.finished = self.group.finished.max(self.first - 1);
    }

    /// Polls for a while. Whether `rank` has published `step`.
    #[inline(never)]
    fn poll_longer(&self, rank: usize, step: u64) -> bool {
        (0..self.driver.polls()).any(|_| {
            spin_loop();
            self.is_published(rank, step)
        })
    }

    /// What is missing until the ranks `missing`, a bit each, have published `step`.
    #[cold]
    #[inline(never)]
    fn all_published(&self, step: u64, missing: u64) -> AwaitedSteps {
        let (group_index, number) = (self.group.index, self.number(step));
        let awaited = if self.group.pair_slots.is_some() {
            let other = 1 - self.group.me;
            let both = [0, 1].map(|rank| self.group.members[rank].rank);
            let at = self.locate_slot(other, step);
            AwaitedSteps::ping_pong(group_index, number, self.mark_of(other), (both, other, at))
        } else {
            AwaitedSteps::published(group_index, number, self.mark, missing)
        };
        let me = self.group.members[self.group.me].rank;
        match self.waits_for_root {
            true => awaited.of_root(self.group.root_predictor.predict(me)),
            false => awaited,
        }
    }

    /// Waits until all others have published `step`. Each of them has then finished all calls before this
    /// one, since every one of those ended in it.
    #[inline(always)]
    pub(super) async fn wait_for_all(&mut self, step: u64) -> Result<(), D::Error> {
        let (me, size) = (self.group.me, self.group.size());
        if size == 2 {
            return self.wait_for(1 - me, step).await;
        }
        for other in (me + 1..size).chain(0..me) {
            if self.is_published(other, step) {
                continue;
            }
            // While this rank waits for one, others arrive.
            if let Some(missing) = self.poll_for_rest(step) {
                let awaited = self.all_published(step, missing);
                self.arrive(awaited).await?;
            }
            break;
        }
        self.note_all_have_begun();
        Ok(())
    }

    /// Polls for a while. The ranks that have not published `step` by then, a bit each.
    #[inline(never)]
    fn poll_for_rest(&self, step: u64) -> Option<u64> {
        for polls in 0..=self.driver.polls() {
            let members = self.group.members.iter().enumerate();
            let missing = members
                .filter(|&(rank, _)| rank != self.group.me && !self.is_published(rank, step));
            let missing = missing.fold(0, |all, (_, member)| all | 1 << member.rank);
            if missing == 0 {
                return None;
            }
            if polls == self.driver.polls() {
                return Some(missing);
            }
            spin_loop();
        }
        None
    }
}

impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    /// Waits by the driver.
    #[cold]
    #[inline(never)]
    fn arrive(&mut self, mut awaited: AwaitedSteps) -> Result<(), D::Error> {
        match self.driver.wait(&mut awaited) {
            Poll::Ready(result) => result,
            Poll::Pending => unreachable!("the driver of a blocking call waits itself"),
        }
    }

    /// Waits by the driver, and is pending where that is.
    async fn arrive_resumable(&mut self, mut awaited: AwaitedSteps) -> Result<(), D::Error> {
        poll_fn(|_| self.driver.wait(&mut awaited)).await
    }
}

impl NodeGroup {
    /// Reads how far all others have come. A rank that reports an impossible step counts as no further: a
    /// rank that waits for it finds that out.
    #[cold]
    #[inline(never)]
    pub(super) fn update_finished(&mut self) {
        let others = self.members.iter().enumerate();
        let others = others.filter(|&(rank, _)| rank != self.me);
        let finished = others.map(|(_, member)| member.slots.finished(self.step).unwrap_or(0));
        self.finished = finished.min().unwrap_or(self.step).max(self.finished);
    }
}
