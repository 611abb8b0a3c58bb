//! Which way long calls go: learned from the time that each takes.
//!
//! Through cells each byte is copied twice, and ranks write what others read; straight from
//! the other's memory it is copied once, page by page. Between two Zen 4 processors that share a cache
//! 256 KiB each way take 29 us through cells and 39 directly, between two that do not 49 and 38; an
//! alltoall of 64 KiB of four ranks on two of Zen 5 takes 21 us through cells and 40 directly. Where
//! processors lie is not told to guests, and changes.
//!
//! So calls of a kind and about a length are counted in rounds, but for the first few. A round begins with a
//! row of calls each way. All ranks meet after the first of a row and after its last, so that rank 0 can tell how
//! long those between took: not each of them, since through cells one call begins before all are through with the
//! one before. It then tells the others which way the rest of the round goes, in which nobody waits for that.

use std::time::{Duration, Instant};

use oxmpi_wire::{Put, Take};

use super::pieces::Through;
use super::run::{KINDS, Kind, Run};
use super::team::{Driver, Team};

/// A way of a long call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Road {
    /// In and out of cells.
    Cells,
    /// From or to the other's memory.
    Memory,
}

/// Calls one way at the start of a round. The first finds what it needs in no cache, and is not timed.
const TRIED: u32 = 4;

/// The same of long blocks, one of which takes longer than what disturbs it.
const FEW_TRIED: u32 = 3;
const LONG: u64 = 512 << 10;

/// How many calls of blocks of so many bytes go one way at the start of a round.
const fn tried(len: u64) -> u32 {
    if len < LONG { TRIED } else { FEW_TRIED }
}

/// Bytes of the calls through cells before the first round: each cell that is first touched takes longer than ever
/// after.
const FRESH: u64 = 1 << 20;

/// Calls of the first round and of the longest: each has twice as many as the one before. Of the longest one of
/// 32 goes the slower way.
const ROUNDS: [u32; 2] = [32, 128];

/// What a rank knows of calls of one kind and about one length.
#[derive(Clone, Copy, Debug)]
struct Habit {
    /// Nanoseconds that a MiB takes, through cells and from memory; 0: not tried yet.
    times: [u64; 2],
    /// Bytes left before the first round.
    fresh: u64,
    /// Calls of this round so far.
    calls: u32,
    /// Calls that it has.
    round: u32,
    /// What the timed calls of this row took so far, and their bytes.
    spent: (Duration, u64),
    /// The way of its rest.
    road: Road,
}

/// How a call goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// This way, as number so much of a row.
    Trial(Road, u32),
    /// As rank 0 tells, like all calls until the next trial.
    Choice,
    /// As it has told.
    Rest(Road),
}

impl Habit {
    /// Nothing is known.
    const NEW: Self = Self {
        times: [0; 2],
        fresh: FRESH,
        calls: 0,
        round: ROUNDS[0],
        spent: (Duration::ZERO, 0),
        road: Road::Cells,
    };

    /// How the next call goes, of blocks of `len` bytes.
    fn next(&mut self, len: u64) -> Turn {
        if self.fresh > 0 {
            self.fresh = self.fresh.saturating_sub(len);
            return Turn::Rest(Road::Cells);
        }
        let call = self.calls;
        self.calls += 1;
        if self.calls == self.round {
            self.calls = 0;
            self.round = ROUNDS[1].min(self.round * 2);
        }
        let tried = tried(len);
        match call / tried {
            0 => Turn::Trial(Road::Cells, call),
            1 => Turn::Trial(Road::Memory, call - tried),
            _ if call == 2 * tried => Turn::Choice,
            _ => Turn::Rest(self.road),
        }
    }

    /// A call of `len` bytes of a row has taken so long, which counts when it was the `last`. They may have waited
    /// for a rank that computes, or for another program, so a longer time than was known counts half, and a
    /// shorter one wholly.
    fn learn(&mut self, road: Road, len: u64, (time, last): (Duration, bool)) {
        self.spent.0 += time;
        self.spent.1 = self.spent.1.saturating_add(len);
        if !last {
            return;
        }
        let (time, bytes) = std::mem::take(&mut self.spent);
        let time = time.as_nanos().saturating_mul(1 << 20) / u128::from(bytes.max(1));
        let time = u64::try_from(time).unwrap_or(u64::MAX).max(1);
        let known = &mut self.times[road as usize];
        *known = match *known {
            0 => time,
            known => time.min(known.midpoint(time)),
        };
    }

    /// The faster way, as far as is known.
    fn choose(&self) -> Road {
        let [cells, memory] = self.times;
        if memory < cells {
            Road::Memory
        } else {
            Road::Cells
        }
    }
}

/// What a rank knows of the ways of all calls, by kind and by the logarithm of their length.
#[derive(Debug)]
pub(super) struct Roads([[Habit; LENGTHS]; KINDS]);

/// The logarithms of lengths that are told apart; shorter and longer ones are as the first and the last.
const SHORTEST: u32 = 16;
const LENGTHS: usize = 16;

impl Roads {
    /// Nothing is known.
    pub(super) const fn new() -> Self {
        Self([[Habit::NEW; LENGTHS]; KINDS])
    }

    fn of(&mut self, kind: Kind, len: u64) -> &mut Habit {
        let length = len.checked_ilog2().unwrap_or(0).saturating_sub(SHORTEST) as usize;
        &mut self.0[kind as usize][length.min(LENGTHS - 1)]
    }
}

impl Team {
    /// Runs a call on blocks of `len` bytes, of this kind, by `go` on the way that was faster of late.
    ///
    /// # Errors
    /// As `go`, or when a rank never comes.
    // Not inlined, so that a short call, which does not come here, has the registers.
    #[inline(never)]
    pub(super) fn by_best_road<D: Driver>(
        &mut self,
        driver: &mut D,
        (kind, len): (Kind, u64),
        go: impl FnOnce(&mut Self, &mut D, Road) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        match self.roads.of(kind, len).next(len) {
            Turn::Rest(road) => go(self, driver, road),
            Turn::Choice => {
                let chosen = self.roads.of(kind, len).choose();
                let road = Run::new(self, driver, (kind, CHOICE, len), Through::Slots)
                    .share_road(chosen)?;
                self.roads.of(kind, len).road = road;
                go(self, driver, road)
            }
            Turn::Trial(road, 0) => go(self, driver, road),
            Turn::Trial(road, call) => {
                if call == 1 {
                    Run::new(self, driver, (kind, ENTERING, len), Through::Slots).meet(0)?;
                }
                let (start, last) = (Instant::now(), call == tried(len) - 1);
                go(self, driver, road)?;
                if last {
                    Run::new(self, driver, (kind, LEAVING, len), Through::Slots).meet(0)?;
                }
                let time = (start.elapsed(), last);
                self.roads.of(kind, len).learn(road, len, time);
                Ok(())
            }
        }
    }
}

/// Who tells the way.
const CHOOSER: usize = 0;

/// Stand for the root in the marks of the steps between calls: no rank has such a number.
const CHOICE: usize = 1 << 7;
const ENTERING: usize = CHOICE | 1;
const LEAVING: usize = CHOICE | 2;

impl<D: Driver> Run<'_, D> {
    /// The way that the chooser tells all others, for which it has `chosen`.
    fn share_road(&mut self, chosen: Road) -> Result<Road, D::Error> {
        self.one_writes(0, CHOOSER);
        if self.team.me != CHOOSER {
            self.wait_for(CHOOSER, 0)?;
            let [road] = self.in_slot(CHOOSER, 0, 0, 1).take_exact();
            self.finish(0);
            return Ok(match road {
                0 => Road::Cells,
                _ => Road::Memory,
            });
        }
        self.room(0)?;
        let mut payload = self.in_slot(CHOOSER, 0, 0, 1);
        payload.put_exact([chosen as u8]);
        self.publish(0);
        self.wake_all();
        self.finish(0);
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a block.
    const BLOCK: u64 = 1 << 18;
    const CALLS_FRESH: u32 = (FRESH / BLOCK) as u32;

    /// Of `calls` calls, how many went from memory, where a call takes so many microseconds.
    fn from_memory(habit: &mut Habit, calls: u32, cells: u64, memory: u64) -> u32 {
        let mut from_memory = 0;
        for _ in 0..calls {
            let (road, call) = match habit.next(BLOCK) {
                Turn::Trial(road, call) => (road, call),
                Turn::Rest(road) => (road, 0),
                Turn::Choice => {
                    habit.road = habit.choose();
                    (habit.road, 0)
                }
            };
            from_memory += u32::from(road == Road::Memory);
            let time = if road == Road::Memory { memory } else { cells };
            if call > 0 {
                let time = Duration::from_micros(time);
                habit.learn(road, BLOCK, (time, call == TRIED - 1));
            }
        }
        from_memory
    }

    const ROUND: u32 = ROUNDS[1];

    #[test]
    fn the_faster_way_is_taken_and_changes() {
        let mut habit = Habit::NEW;
        assert!(from_memory(&mut habit, 4 * ROUND, 29, 39) <= 8 * TRIED);
        from_memory(&mut habit, 8 * ROUND, 49, 38);
        assert_eq!(from_memory(&mut habit, ROUND, 49, 38), ROUND - TRIED);
        from_memory(&mut habit, 8 * ROUND, 29, 39);
        assert_eq!(from_memory(&mut habit, ROUND, 29, 39), TRIED);
    }

    #[test]
    fn what_is_first_touched_does_not_count() {
        let mut habit = Habit::NEW;
        assert_eq!(from_memory(&mut habit, CALLS_FRESH, 500, 40), 0);
        assert_eq!(from_memory(&mut habit, ROUNDS[0], 21, 40), TRIED);
    }

    #[test]
    fn a_call_that_waited_changes_nothing_where_another_did_not() {
        let mut habit = Habit::NEW;
        from_memory(&mut habit, CALLS_FRESH + ROUNDS[0], 29, 39);
        for time in [Duration::from_secs(1), Duration::from_micros(29)] {
            (1..TRIED).for_each(|call| habit.learn(Road::Cells, BLOCK, (time, call == TRIED - 1)));
        }
        assert_eq!(habit.choose(), Road::Cells);
    }

    #[test]
    fn a_row_of_calls_of_different_lengths_counts_by_its_bytes() {
        let mut habit = Habit::NEW;
        let time = Duration::from_micros(10);
        for (road, lengths) in [(Road::Cells, [4, 1, 1]), (Road::Memory, [1, 1, 3])] {
            for (call, mib) in lengths.into_iter().enumerate() {
                habit.learn(road, mib << 20, (time, call + 1 == lengths.len()));
            }
        }
        assert_eq!(habit.times, [5_000, 6_000]);
    }

    #[test]
    fn lengths_and_kinds_have_ways_of_their_own() {
        let mut roads = Roads::new();
        let other = |roads: &mut Roads, kind, len| roads.of(kind, len).fresh;
        roads.of(Kind::Alltoall, 100_000).next(100_000);
        assert_eq!(other(&mut roads, Kind::Alltoall, 70_000), FRESH - 100_000);
        assert_eq!(other(&mut roads, Kind::Alltoall, 140_000), FRESH);
        assert_eq!(other(&mut roads, Kind::Gather, 100_000), FRESH);
        assert_eq!(other(&mut roads, Kind::Alltoall, u64::MAX), FRESH);
    }
}
