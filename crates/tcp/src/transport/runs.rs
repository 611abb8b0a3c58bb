//! Bytes that follow a request before anybody asks for them.
//!
//! ```text
//!  key(region, number, len), Ahead{number} + bytes ->   get: these are not asked for
//!                        <- Get{the rest}
//!                  Data + bytes ->
//! ```
//!
//! So a receive that waits has its bytes without a question and its way back. Whose receive does not wait drops
//! the run and asks for all: nothing is kept for bytes that nobody asked for. A sender has one run on the way to
//! a peer at most, and after one that was dropped it pauses, twice as long each time. Each run that was waited for
//! lets the next one be twice as long, up to the setting's length; after one that was dropped they are short again.

use std::collections::VecDeque;

use oxmpi_wire::regions::Name;

use crate::frame::{Id, Run};

/// Length of a peer's first run at most, and of the first after one that was dropped.
const SHORT: u64 = 256 << 10;

/// Transfers without a run in a row at most.
const LONGEST_PAUSE: u32 = 1023;

/// The runs of a sender to one peer.
#[derive(Debug)]
pub(super) struct Runs {
    next: u64,
    /// Length of the next one at most.
    reach: u64,
    /// The region of the last one, until its transfer is over.
    open: Option<Name>,
    /// Transfers until the next one.
    left: u32,
    /// What `left` began with.
    pause: u32,
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            next: 0,
            reach: SHORT,
            open: None,
            left: 0,
            pause: 0,
        }
    }
}

impl Runs {
    /// Whether the next transfer, which begins now, may have one.
    pub(super) const fn may_begin(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        self.open.is_none()
    }

    /// Begins the run of a region, of `most` bytes at most.
    pub(super) fn begin(&mut self, region: Name, most: u64) -> Run {
        self.open = Some(region);
        self.next += 1;
        Run {
            number: self.next - 1,
            len: most.min(self.reach),
        }
    }

    /// The peer asks for bytes of `region` from its first one on, or has them put. If a run brought those, it was
    /// dropped.
    pub(super) fn asked(&mut self, region: Name) {
        if self.open == Some(region) && self.left == 0 {
            self.pause = (2 * self.pause + 1).min(LONGEST_PAUSE);
            self.left = self.pause;
            self.reach = SHORT;
        }
    }

    /// The transfer of `region` is over.
    pub(super) fn ended(&mut self, region: Name) {
        if self.open == Some(region) {
            self.open = None;
            if self.left == 0 {
                self.pause = 0;
                self.reach = self.reach.saturating_mul(2);
            }
        }
    }
}

/// The runs of one peer to this rank.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// Runs below this number have come, or begun to.
    seen: u64,
    /// Those that an operation waits for.
    list: VecDeque<Awaited>,
}

#[derive(Debug)]
struct Awaited {
    number: u64,
    id: Id,
    /// Bytes that have been announced.
    at: u64,
    len: u64,
}

impl Expected {
    /// Whether `run` is still to come, for nobody else.
    pub(super) fn is_to_come(&self, run: Run) -> bool {
        let awaited = self.list.iter().any(|other| other.number == run.number);
        run.len > 0 && run.number >= self.seen && !awaited
    }

    /// The bytes of `run` belong to the operation `id`.
    pub(super) fn await_run(&mut self, run: Run, id: Id) {
        let Run { number, len } = run;
        let at = 0;
        self.list.push_back(Awaited {
            number,
            id,
            at,
            len,
        });
    }

    /// The next `len` bytes of a run come, from `at` on: the operation that waits for them, if one does.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn comes(
        &mut self,
        number: u64,
        at: u64,
        len: u64,
    ) -> Result<Option<Id>, &'static str> {
        self.seen = self.seen.max(number.saturating_add(1));
        let awaited = self.list.iter().position(|run| run.number == number);
        let Some(place) = awaited else {
            return Ok(None);
        };
        let run = &mut self.list[place];
        if at != run.at || len == 0 || len > run.len - run.at {
            return Err("bytes that were not announced");
        }
        run.at += len;
        let id = run.id;
        if run.at == run.len {
            self.list.remove(place);
        }
        Ok(Some(id))
    }

    /// The operation `id` has ended. What still comes for it is dropped.
    pub(super) fn forget(&mut self, id: Id) {
        self.list.retain(|run| run.id != id);
    }

    /// Nothing comes any more.
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGION: Name = Name::of_word(7);

    /// Of so many transfers, how many had a run.
    fn runs(runs: &mut Runs, transfers: u32, dropped: bool) -> u32 {
        let mut count = 0;
        for _ in 0..transfers {
            if runs.may_begin() {
                runs.begin(REGION, 1);
                count += 1;
            }
            if dropped {
                runs.asked(REGION);
            }
            runs.ended(REGION);
        }
        count
    }

    #[test]
    fn a_peer_that_drops_runs_gets_ever_fewer() {
        let mut sent = Runs::default();
        assert_eq!(runs(&mut sent, 100, false), 100);
        assert!(runs(&mut sent, 10_000, true) <= 20);
        assert!(runs(&mut sent, 2 * LONGEST_PAUSE, false) >= LONGEST_PAUSE - 1);
        assert_eq!(runs(&mut sent, 100, false), 100);
    }

    #[test]
    fn one_run_is_under_way_at_most() {
        let mut sent = Runs::default();
        assert!(sent.may_begin());
        assert_eq!(sent.begin(REGION, 5), Run { number: 0, len: 5 });
        assert!(!sent.may_begin());
        sent.ended(Name::of_word(8));
        assert!(!sent.may_begin());
        sent.ended(REGION);
        assert!(sent.may_begin());
        assert_eq!(sent.begin(REGION, 5), Run { number: 1, len: 5 });
    }

    #[test]
    fn a_peer_that_waits_gets_longer_runs() {
        let mut sent = Runs::default();
        let mut next = |dropped| {
            while !sent.may_begin() {
                sent.ended(REGION);
            }
            let run = sent.begin(REGION, 3 * SHORT);
            if dropped {
                sent.asked(REGION);
            }
            sent.ended(REGION);
            run.len / SHORT
        };
        assert_eq!([false; 4].map(&mut next), [1, 2, 3, 3]);
        assert_eq!([true, false, false].map(&mut next), [3, 1, 2]);
    }

    #[test]
    fn a_run_goes_to_who_asked_before_it_came() {
        let (id, run) = (Id(5), |number| Run { number, len: 10 });
        let mut expected = Expected::default();
        assert!(expected.is_to_come(run(0)));
        assert_eq!(expected.comes(0, 0, 4), Ok(None));
        assert!(!expected.is_to_come(run(0)), "its first bytes are gone");
        assert_eq!(expected.comes(0, 4, 6), Ok(None));
        assert!(!expected.is_to_come(Run { number: 1, len: 0 }));
        assert!(expected.is_to_come(run(1)) && expected.is_to_come(run(2)));
        expected.await_run(run(2), id);
        assert!(!expected.is_to_come(run(2)), "it is another one's");
        assert_eq!(expected.comes(1, 0, 10), Ok(None));
        assert_eq!(expected.comes(2, 0, 4), Ok(Some(id)));
        for wrong in [(0, 4), (4, 7), (4, 0), (5, 1), (u64::MAX, 1)] {
            assert!(expected.comes(2, wrong.0, wrong.1).is_err(), "{wrong:?}");
        }
        assert_eq!(expected.comes(2, 4, 6), Ok(Some(id)));
        assert_eq!(expected.comes(2, 4, 6), Ok(None));
        expected.await_run(run(3), id);
        expected.forget(id);
        assert_eq!(expected.comes(3, 0, 4), Ok(None));
        assert_eq!(expected.comes(u64::MAX, 0, 1), Ok(None));
    }
}
