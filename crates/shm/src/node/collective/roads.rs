//! Which way long exchanges go: learned from the time that each takes.
//!
//! Through cells each byte is copied twice, and ranks write what others read; straight from
//! the other's memory it is copied once, page by page. Between two Zen 4 processors that share a cache
//! 256 KiB each way take 29 us through cells and 39 directly, between two that do not 49 and 38. Where
//! processors lie is not told to guests, and changes. So one rank, the root where there is one, times the
//! calls of each kind, and tells the others which way each goes.

use std::time::{Duration, Instant};

use oxmpi_wire::{Put, Take};

use super::run::{Kind, Run};
use super::team::{Driver, Team};

/// A way of a long exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Road {
    /// In and out of cells.
    Cells,
    /// From the other's memory.
    Memory,
}

/// What a rank knows of the ways.
#[derive(Debug)]
pub(super) struct Roads {
    /// Nanoseconds that a MiB each way takes, through cells and from memory; 0: not tried yet.
    times: [u64; 2],
    calls: u64,
}

/// Every so many calls the slower way is tried.
const TRIED: u64 = 32;

/// One call counts as so much of what is known of its way.
const NEW: u64 = 4;

/// A call counts as so many times of what was known at most: it may have waited for the other rank.
const LONGEST: u64 = 2;

impl Roads {
    /// Nothing is known.
    pub(super) const fn new() -> Self {
        Self {
            times: [0; 2],
            calls: 0,
        }
    }

    /// The way of the next call.
    fn choose(&mut self) -> Road {
        self.calls += 1;
        let [cells, memory] = self.times;
        let tries = self.calls.is_multiple_of(TRIED);
        if (memory < cells) == tries {
            Road::Cells
        } else {
            Road::Memory
        }
    }

    /// A call of `len` bytes each way has taken so long.
    fn learn(&mut self, road: Road, len: u64, time: Duration) {
        let time = time.as_nanos().saturating_mul(1 << 20) / u128::from(len.max(1));
        let time = u64::try_from(time).unwrap_or(u64::MAX).max(1);
        let known = &mut self.times[road as usize];
        *known = match *known {
            0 => time,
            known => known - known / NEW + time.min(known.saturating_mul(LONGEST)) / NEW,
        };
    }
}

impl Team {
    /// Runs a call on blocks of `len` bytes, of this kind, by `go` on the way that `chooser` chooses. For that
    /// one the call must end when it has for all.
    ///
    /// # Errors
    /// As `go`, or when `chooser` never comes.
    pub(super) fn by_best_road<D: Driver>(
        &mut self,
        driver: &mut D,
        (kind, chooser, len): (Kind, usize, u64),
        go: impl FnOnce(&mut Self, &mut D, Road) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let call = (kind, ROAD | chooser, len);
        if self.me != chooser {
            let road = Run::new(self, driver, call, true).learn_road(chooser)?;
            return go(self, driver, road);
        }
        let road = self.roads[kind as usize].choose();
        Run::new(self, driver, call, true).tell_road(road)?;
        let start = Instant::now();
        go(self, driver, road)?;
        self.roads[kind as usize].learn(road, len, start.elapsed());
        Ok(())
    }
}

/// Stands beside who chooses in the mark of the step that tells the way.
const ROAD: usize = 1 << 7;

impl<D: Driver> Run<'_, D> {
    /// Tells the others.
    fn tell_road(&mut self, road: Road) -> Result<(), D::Error> {
        self.room(0)?;
        let mut payload = self.payload(self.team.me, 0, 0, 1);
        payload.put_exact([road as u8]);
        self.publish(0);
        self.wake_all();
        self.finish(0);
        Ok(())
    }

    /// What `chooser` tells.
    fn learn_road(&mut self, chooser: usize) -> Result<Road, D::Error> {
        self.wait_for(chooser, 0)?;
        let [road] = self.payload(chooser, 0, 0, 1).take_exact();
        self.finish(0);
        Ok(match road {
            0 => Road::Cells,
            _ => Road::Memory,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `calls` calls, how many went from memory, where a call takes so many microseconds.
    fn from_memory(roads: &mut Roads, calls: u64, cells: u64, memory: u64) -> u64 {
        let mut from_memory = 0;
        for _ in 0..calls {
            let road = roads.choose();
            let time = if road == Road::Memory { memory } else { cells };
            from_memory += u64::from(road == Road::Memory);
            roads.learn(road, 1 << 18, Duration::from_micros(time));
        }
        from_memory
    }

    #[test]
    fn the_faster_way_is_taken_and_changes() {
        let mut roads = Roads::new();
        assert!(from_memory(&mut roads, 320, 29, 39) <= 11);
        from_memory(&mut roads, 4 * TRIED, 49, 38);
        assert!(from_memory(&mut roads, 320, 49, 38) >= 310);
        from_memory(&mut roads, 4 * TRIED, 29, 39);
        assert!(from_memory(&mut roads, 320, 29, 39) <= 10);
    }

    #[test]
    fn a_call_that_waited_changes_little() {
        let mut roads = Roads::new();
        from_memory(&mut roads, 10, 29, 39);
        let road = roads.choose();
        roads.learn(road, 1 << 18, Duration::from_secs(1));
        assert_eq!(from_memory(&mut roads, 10, 29, 39), 0);
    }
}
