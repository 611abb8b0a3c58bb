//! What a rank waits for in a collective: [`AwaitedSteps`].

use super::next_root::PredictedRoots;
use crate::ring::{Corrupt, StepMiss};
use crate::segment::Segment;
use crate::segment::arena::{CollectiveSlots, SLOTS};

/// Steps of other ranks that one waits for.
#[derive(Clone, Copy, Debug)]
pub struct AwaitedSteps {
    place: usize,
    what: What,
    missing: u64,
    /// Of a wait for the root, which all but it wait for: who is likely to be next.
    predicted_roots: Option<PredictedRoots>,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// They publish a step of a call with this mark, each in its own slot of that step.
    Published { step: u64, mark: u16 },
    /// The other one of `both` ranks does, which write their slots in turn: in slot `at.1` of the rank `both[at.0]`.
    InTurn {
        step: u64,
        mark: u16,
        both: [u32; 2],
        at: (usize, usize),
    },
    /// They finish a step, so that its slot may be written again; this rank's last is `own`.
    Finished { step: u64, own: u64 },
}

/// PlanReason it never comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeverComes {
    /// The rank is in a call that differs from this one's.
    Differs,
    /// What the rank wrote cannot be.
    Corrupt(Corrupt),
}

impl AwaitedSteps {
    /// The ranks `missing`, bit by bit, publish `step`.
    pub(crate) const fn published(place: usize, step: u64, mark: u16, missing: u64) -> Self {
        let what = What::Published { step, mark };
        Self {
            place,
            what,
            missing,
            predicted_roots: None,
        }
    }

    /// What is missing is the root's, and this is who is likely to be the root before this rank is.
    pub(crate) const fn of_root(mut self, roots: PredictedRoots) -> Self {
        self.predicted_roots = Some(roots);
        self
    }

    /// The rank `both[other]` publishes `step`, in slot `at.1` of the rank `both[at.0]`: they write them in turn.
    pub(super) const fn in_turn(
        place: usize,
        step: u64,
        mark: u16,
        (both, other, at): ([u32; 2], usize, (usize, usize)),
    ) -> Self {
        let what = What::InTurn {
            step,
            mark,
            both,
            at,
        };
        Self {
            place,
            what,
            missing: 1 << both[other],
            predicted_roots: None,
        }
    }

    /// They finish `step`; the last one that this rank has finished is `own`.
    pub(super) const fn finished(place: usize, step: u64, own: u64, missing: u64) -> Self {
        let what = What::Finished { step, own };
        Self {
            place,
            what,
            missing,
            predicted_roots: None,
        }
    }

    /// Who is likely to be the root before this rank is, if it waits for the root.
    pub(crate) const fn predicted_roots(&self) -> Option<PredictedRoots> {
        self.predicted_roots
    }

    /// The ranks that were missing at the last look, bit by bit.
    #[must_use]
    pub const fn missing(&self) -> u64 {
        self.missing
    }

    /// Looks at those who are missing.
    ///
    /// # Errors
    /// Whoever is found never to come, and why.
    pub(crate) fn look(&mut self, segment: &Segment) -> Result<(), (u32, NeverComes)> {
        let mut left = self.missing;
        while left != 0 {
            let rank = left.trailing_zeros();
            left &= left - 1;
            if self
                .has_come(segment, rank)
                .map_err(|never| (rank, never))?
            {
                self.missing &= !(1 << rank);
            }
        }
        Ok(())
    }

    /// Tells that `me` rests for this.
    #[inline]
    pub(crate) fn rest(&self, segment: &Segment, me: u32) {
        segment
            .collective_slots(me, self.place)
            .set_awaited(self.stage());
    }

    /// Whether one of `ranks`, bit by bit, was not yet here when it rested last: it may go on where
    /// this rank cannot. Of ranks that are in another team this is anything.
    #[inline]
    pub(crate) fn has_behind(&self, segment: &Segment, ranks: u64) -> bool {
        let mut left = ranks;
        while left != 0 {
            let rank = left.trailing_zeros();
            left &= left - 1;
            if segment.collective_slots(rank, self.place).awaited() < self.stage() {
                return true;
            }
        }
        false
    }

    /// The step at which this rank stands.
    const fn stage(&self) -> u64 {
        match self.what {
            What::Published { step, .. } | What::InTurn { step, .. } => step,
            // The one that it is about to write.
            What::Finished { step, .. } => step + SLOTS as u64,
        }
    }

    fn has_come(&self, segment: &Segment, rank: u32) -> Result<bool, NeverComes> {
        match self.what {
            What::Finished { step, own } => {
                let slots = segment.collective_slots(rank, self.place);
                match slots.finished(own) {
                    Ok(finished) => Ok(finished >= step),
                    Err(corrupt) => Err(NeverComes::Corrupt(corrupt)),
                }
            }
            What::Published { step, mark } => {
                let slot = CollectiveSlots::<()>::slot(step);
                come(
                    segment
                        .collective_slots(rank, self.place)
                        .look(slot, step, mark),
                )
            }
            What::InTurn {
                step,
                mark,
                both,
                at,
            } => {
                let [first, second] = both.map(|rank| segment.collective_slots(rank, self.place));
                come(CollectiveSlots::look_ping_pong(
                    [&first, &second],
                    at,
                    step,
                    mark,
                ))
            }
        }
    }
}

/// Whether a slot is what one waits for.
fn come(looked: Result<(), StepMiss>) -> Result<bool, NeverComes> {
    match looked {
        Ok(()) => Ok(true),
        Err(StepMiss::Early) => Ok(false),
        Err(StepMiss::Differs) => Err(NeverComes::Differs),
        Err(StepMiss::Corrupt(corrupt)) => Err(NeverComes::Corrupt(corrupt)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use oxmpi_os::memory::Memfd;

    use super::super::group::NodeGroup;
    use super::{AwaitedSteps, NeverComes, SLOTS};
    use crate::ring::SharedWords;
    use crate::segment::arena::CollectiveSlots;
    use crate::segment::{Segment, SegmentLayout};

    /// A rank that tells that it is further than it can be lets nobody write what is being read.
    #[test]
    fn what_no_rank_can_have_finished_is_no_room() {
        let layout = SegmentLayout::new(3);
        let memory = Memfd::create("oxmpi-test", layout.file_len()).unwrap();
        let segment = Arc::new(Segment::map(&memory, layout, 0).unwrap());
        let mut group = NodeGroup::new(&segment, 0, 0..3, 0).expect("there is memory");
        group.step = 40;
        let most = group.step + SLOTS as u64;
        let told = |rank, step: u64| {
            let finished = CollectiveSlots::<()>::WORDS - crate::ring::STRIDE;
            let slots = segment.collective_slots(rank, 0);
            // SAFETY: the last line's word.
            unsafe {
                slots
                    .words()
                    .store(finished, step, core::sync::atomic::Ordering::Release)
            };
        };
        told(1, most);
        told(2, 32);
        group.learn();
        assert_eq!(group.finished, 32);
        told(2, most);
        let come = AwaitedSteps::finished(0, 33, 40, 0b110).look(&segment);
        assert_eq!(come, Ok(()));
        for wrong in [most + 1, u64::MAX - 1, u64::MAX] {
            told(1, wrong);
            group.learn();
            assert_eq!(group.finished, 32, "{wrong}");
            let come = AwaitedSteps::finished(0, 33, 40, 0b110).look(&segment);
            assert!(matches!(come, Err((1, NeverComes::Corrupt(_)))), "{come:?}");
        }
    }
}
