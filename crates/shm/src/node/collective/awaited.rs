//! What a rank waits for in a collective: [`Awaited`].

use crate::ring::{Corrupt, Miss};
use crate::segment::Segment;

/// Steps of other ranks that one waits for.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    place: usize,
    what: What,
    missing: u64,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// They publish a step of a call with this mark.
    Published { step: u64, mark: u16 },
    /// They finish a step, so that its slot may be written again.
    Finished(u64),
}

/// Why it never comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {
    /// The rank is in a call that differs from this one's.
    Differs,
    /// What the rank wrote cannot be.
    Corrupt(Corrupt),
}

impl Awaited {
    /// The ranks `missing`, bit by bit, publish `step`.
    pub(super) const fn published(place: usize, step: u64, mark: u16, missing: u64) -> Self {
        let what = What::Published { step, mark };
        Self {
            place,
            what,
            missing,
        }
    }

    /// They finish `step`.
    pub(super) const fn finished(place: usize, step: u64, missing: u64) -> Self {
        let what = What::Finished(step);
        Self {
            place,
            what,
            missing,
        }
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
    pub(crate) fn look(&mut self, segment: &Segment) -> Result<(), (u32, Never)> {
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

    fn has_come(&self, segment: &Segment, rank: u32) -> Result<bool, Never> {
        let slots = segment.slots(rank, self.place);
        match self.what {
            What::Finished(step) => Ok(slots.finished() >= step),
            What::Published { step, mark } => match slots.look(step, mark) {
                Ok(()) => Ok(true),
                Err(Miss::Early) => Ok(false),
                Err(Miss::Differs) => Err(Never::Differs),
                Err(Miss::Corrupt(corrupt)) => Err(Never::Corrupt(corrupt)),
            },
        }
    }
}
