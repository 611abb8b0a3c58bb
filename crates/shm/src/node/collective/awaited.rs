//! What a rank waits for in a collective: [`AwaitedSteps`].

use super::next_root::PredictedRoots;
use crate::ring::{Corrupt, StepAbsent};
use crate::segment::Segment;
use crate::segment::arena::{CollectiveSlots, SLOTS};

/// Steps of other ranks that one rank waits for.
#[derive(Clone, Copy, Debug)]
pub struct AwaitedSteps {
    group_index: usize,
    kind: AwaitedKind,
    missing: u64,
    /// In a wait for the root, which all others wait for: the likely next roots.
    predicted_roots: Option<PredictedRoots>,
}

#[derive(Clone, Copy, Debug)]
enum AwaitedKind {
    /// The ranks publish a step of a call with this mark, each in its own slot of that step.
    Published { step: u64, mark: u16 },
    /// The other one of two ranks publishes a step in slot `at.1` of rank `both[at.0]`: they write their
    /// slots alternately.
    PingPong {
        step: u64,
        mark: u16,
        both: [u32; 2],
        at: (usize, usize),
    },
    /// The ranks finish a step, so that its slot may be written again; this rank's last finished step is
    /// `own`.
    Finished { step: u64, own: u64 },
}

/// Why an awaited step never arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepLost {
    /// The rank is in another call than this rank.
    Differs,
    /// The rank wrote what the protocol does not allow.
    Corrupt(Corrupt),
}

impl AwaitedSteps {
    /// A wait until the ranks `missing`, a bit each, publish `step`.
    pub(crate) const fn published(group_index: usize, step: u64, mark: u16, missing: u64) -> Self {
        Self::new(group_index, AwaitedKind::Published { step, mark }, missing)
    }

    const fn new(group_index: usize, kind: AwaitedKind, missing: u64) -> Self {
        Self {
            group_index,
            kind,
            missing,
            predicted_roots: None,
        }
    }

    /// Notes that the awaited rank is the root, and the likely roots before this rank.
    pub(crate) const fn of_root(mut self, roots: PredictedRoots) -> Self {
        self.predicted_roots = Some(roots);
        self
    }

    /// A wait until rank `both[other]` publishes `step` in slot `at.1` of rank `both[at.0]`.
    pub(super) const fn ping_pong(
        group_index: usize,
        step: u64,
        mark: u16,
        (both, other, at): ([u32; 2], usize, (usize, usize)),
    ) -> Self {
        let kind = AwaitedKind::PingPong {
            step,
            mark,
            both,
            at,
        };
        Self::new(group_index, kind, 1 << both[other])
    }

    /// A wait until the ranks finish `step`; this rank's last finished step is `own`.
    pub(super) const fn finished(group_index: usize, step: u64, own: u64, missing: u64) -> Self {
        Self::new(group_index, AwaitedKind::Finished { step, own }, missing)
    }

    /// The likely roots before this rank, in a wait for the root.
    pub(crate) const fn predicted_roots(&self) -> Option<PredictedRoots> {
        self.predicted_roots
    }

    /// Whether both are awaited by collectives of one group.
    pub(crate) const fn is_of_group(&self, other: &Self) -> bool {
        self.group_index == other.group_index
    }

    /// The ranks that were missing at the last poll, a bit each.
    #[must_use]
    pub const fn missing(&self) -> u64 {
        self.missing
    }

    /// Polls the missing ranks.
    ///
    /// # Errors
    /// A rank that never arrives, and why.
    pub(crate) fn poll(&mut self, segment: &Segment) -> Result<(), (u32, StepLost)> {
        for rank in ranks_of(self.missing) {
            let arrived = self.has_arrived(segment, rank);
            if arrived.map_err(|never| (rank, never))? {
                self.missing &= !(1 << rank);
            }
        }
        Ok(())
    }

    /// Publishes that `me` waits for this.
    #[inline]
    pub(crate) fn publish_wait(&self, segment: &Segment, me: u32) {
        segment
            .collective_slots(me, self.group_index)
            .set_awaited(self.stage());
    }

    /// Whether one of `ranks`, a bit each, last waited for an earlier step: it may go on where this rank
    /// cannot. For ranks of another group the result is arbitrary.
    #[inline]
    pub(crate) fn has_behind(&self, segment: &Segment, ranks: u64) -> bool {
        let awaited = |rank| segment.collective_slots(rank, self.group_index).awaited();
        ranks_of(ranks).any(|rank| awaited(rank) < self.stage())
    }

    /// The step at which this rank stands.
    const fn stage(&self) -> u64 {
        match self.kind {
            AwaitedKind::Published { step, .. } | AwaitedKind::PingPong { step, .. } => step,
            // The step that it is about to write.
            AwaitedKind::Finished { step, .. } => step + SLOTS as u64,
        }
    }

    fn has_arrived(&self, segment: &Segment, rank: u32) -> Result<bool, StepLost> {
        match self.kind {
            AwaitedKind::Finished { step, own } => {
                let slots = segment.collective_slots(rank, self.group_index);
                match slots.finished(own) {
                    Ok(finished) => Ok(finished >= step),
                    Err(corrupt) => Err(StepLost::Corrupt(corrupt)),
                }
            }
            AwaitedKind::Published { step, mark } => {
                let slots = segment.collective_slots(rank, self.group_index);
                is_there(slots.poll(CollectiveSlots::<()>::slot(step), step, mark))
            }
            AwaitedKind::PingPong {
                step,
                mark,
                both,
                at,
            } => {
                let slots = both.map(|rank| segment.collective_slots(rank, self.group_index));
                is_there(CollectiveSlots::poll_ping_pong(
                    slots.each_ref(),
                    at,
                    step,
                    mark,
                ))
            }
        }
    }
}

/// The ranks whose bits are set in `bits`.
pub(crate) fn ranks_of(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let rank = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(rank)
    })
}

/// Whether a slot holds the awaited step.
fn is_there(polled: Result<(), StepAbsent>) -> Result<bool, StepLost> {
    match polled {
        Ok(()) => Ok(true),
        Err(StepAbsent::Early) => Ok(false),
        Err(StepAbsent::Differs) => Err(StepLost::Differs),
        Err(StepAbsent::Corrupt(corrupt)) => Err(StepLost::Corrupt(corrupt)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use oxmpi_os::memory::Memfd;

    use super::super::group::NodeGroup;
    use super::{AwaitedSteps, SLOTS, StepLost};
    use crate::ring::SharedWords;
    use crate::segment::arena::CollectiveSlots;
    use crate::segment::{Segment, SegmentLayout};

    /// A rank that reports a step which it cannot have finished frees no slot that is being read.
    #[test]
    fn an_impossible_report_frees_no_slot() {
        let layout = SegmentLayout::new(3);
        let memory = Memfd::create("oxmpi-test", layout.file_len()).unwrap();
        let segment = Arc::new(Segment::map(&memory, layout, 0).unwrap());
        let mut group = NodeGroup::new(&segment, 0, 0..3, 0).expect("there is memory");
        group.step = 40;
        let most = group.step + SLOTS as u64;
        let report = |rank, step: u64| {
            let finished = CollectiveSlots::<()>::WORDS - crate::ring::STRIDE;
            let slots = segment.collective_slots(rank, 0);
            // SAFETY: the last line's word.
            unsafe {
                slots
                    .words()
                    .store(finished, step, core::sync::atomic::Ordering::Release)
            };
        };
        report(1, most);
        report(2, 32);
        group.update_finished();
        assert_eq!(group.finished, 32);
        report(2, most);
        let come = AwaitedSteps::finished(0, 33, 40, 0b110).poll(&segment);
        assert_eq!(come, Ok(()));
        for wrong in [most + 1, u64::MAX - 1, u64::MAX] {
            report(1, wrong);
            group.update_finished();
            assert_eq!(group.finished, 32, "{wrong}");
            let come = AwaitedSteps::finished(0, 33, 40, 0b110).poll(&segment);
            assert!(matches!(come, Err((1, StepLost::Corrupt(_)))), "{come:?}");
        }
    }
}
