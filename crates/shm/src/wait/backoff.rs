//! Which way of giving up a shared processor costs less beside somebody foreign: [`Backoff`].

use std::cell::Cell;
use std::time::Duration;

/// Whether waits sleep at once, or yield before.
///
/// Beside another program of the same control group a yield costs a slice of some milliseconds, and
/// a sleep what a wake takes, 20 us: who is woken interrupts the other. In a control group that has
/// nearly all shares it is the reverse: a yield goes to the other ranks, while who sleeps lets a
/// program of another group run, whose slice no wake interrupts. With eight ranks on two processors,
/// beside a compiler of another group, a reduction of 64 KiB took 1.5 ms with sleeps and 0.1 ms with
/// yields.
///
/// So what each way loses is added up over a row of waits, and the way is changed when it has lost
/// more than the other one did. Old losses of the other way are forgotten by and by: soon when ranks have met
/// somebody once, as where one of them started late, and later each time that they meet somebody again.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    /// Whether waits sleep at once.
    is_wary: Cell<bool>,
    /// Waits of this row so far.
    waits: Cell<u32>,
    /// What this row has lost.
    lost: Cell<Duration>,
    /// What a row of the other way loses.
    other: Cell<Duration>,
    /// Rows since the way was changed.
    rows: Cell<u32>,
    /// How often the way was changed with few rows between, up to the last of [`FORGOTTEN`].
    changes: Cell<usize>,
}

/// Waits in a row.
const ROW: u32 = 64;

/// What one wait loses to another program at most: a slice of the processor. A longer one has waited for ranks
/// that compute elsewhere.
const SLICE: Duration = Duration::from_millis(4);

/// The part of the other way's losses that is forgotten in a row, after so many changes: with 2 a slice is forgotten in
/// about four rows of sleeps, with 8 in twelve. Beside one busy program on two processors of Zen 3, always 8 made a bcast
/// of 8 B of eight ranks take twice as long.
const FORGOTTEN: [u32; 4] = [2, 2, 4, 8];

/// Few rows: some ten milliseconds of short waits that yield, some eighty of such that sleep.
const FEW: u32 = 64;

/// Losses of a row above which another program counts as met of late: a few rows after it took a slice. With eight ranks
/// and nobody else a quarter of it made scatters of 1 MiB take a fifth longer, for turns that only seemed lost.
const REMEMBERED: Duration = Duration::from_millis(2);

impl Backoff {
    /// Whether the wait that begins sleeps at once.
    pub(crate) fn begin_wait(&self) -> bool {
        let waits = self.waits.get() + 1;
        self.waits.set(waits % ROW);
        if waits == ROW {
            let other = self.other.get();
            self.other
                .set(other - other / FORGOTTEN[self.changes.get()]);
            self.lost.set(Duration::ZERO);
            self.rows.set(self.rows.get().saturating_add(1));
        }
        self.is_wary.get()
    }

    /// Whether another program took turns of late, so that the next one given away may be lost, too.
    pub(crate) fn has_met_others(&self) -> bool {
        self.is_wary.get() || self.lost.get().max(self.other.get()) > REMEMBERED
    }

    /// A wait has lost so much time by its way.
    pub(crate) fn lose(&self, time: Duration) {
        let lost = self.lost.get() + time.min(SLICE);
        self.lost.set(lost);
        if lost > self.other.get() {
            self.is_wary.set(!self.is_wary.get());
            self.other.set(lost);
            self.lost.set(Duration::ZERO);
            self.waits.set(0);
            let changes = match self.rows.replace(0) < FEW {
                true => self.changes.get() + 1,
                false => 0,
            };
            self.changes.set(changes.min(FORGOTTEN.len() - 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `rows` rows of waits of which each loses so much, by its way; how many slept at once.
    fn run(backoff: &Backoff, rows: u32, asleep: Duration, yielding: Duration) -> u32 {
        let mut slept = 0;
        for _ in 0..rows * ROW {
            let sleeps = backoff.begin_wait();
            slept += u32::from(sleeps);
            let lost = if sleeps { asleep } else { yielding };
            if !lost.is_zero() {
                backoff.lose(lost);
            }
        }
        slept
    }

    #[test]
    fn the_way_that_loses_less_is_taken() {
        let (wake, slice) = (Duration::from_micros(20), Duration::from_millis(4));
        let backoff = Backoff::default();
        let slept = run(&backoff, 100, wake, slice);
        assert!(slept > 98 * ROW, "{slept}");
        let slept = run(&backoff, 100, slice, Duration::ZERO);
        assert!(slept < ROW, "{slept}");
        let slept = run(&backoff, 100, wake, slice);
        assert!(slept > 90 * ROW, "{slept}");
    }

    /// Ranks that compute between their calls are waited for; thereafter nobody sleeps for long.
    #[test]
    fn a_long_wait_is_soon_forgotten() {
        let backoff = Backoff::default();
        backoff.lose(Duration::from_secs(1));
        assert!(backoff.begin_wait());
        let slept = run(&backoff, 100, Duration::from_micros(60), Duration::ZERO);
        assert!(slept <= 2 * ROW, "{slept}");
    }

    /// Beside somebody who comes again and again ranks sleep for most of the time, and yield soon after the last time.
    #[test]
    fn who_is_met_once_is_forgotten_sooner_than_who_comes_again() {
        let (sleep, slice) = (Duration::from_micros(15), Duration::from_millis(4));
        let backoff = Backoff::default();
        let until_it_yields = || {
            backoff.lose(slice);
            let rows = (1_u32..).find(|_| run(&backoff, 1, sleep, Duration::ZERO) < ROW);
            rows.expect("it yields at last")
        };
        let [once, again, still] = std::array::from_fn(|_| until_it_yields());
        assert!(
            once < 6 && again >= 2 * once && still == again,
            "{once} {again} {still}"
        );
        assert_eq!(run(&backoff, FEW, sleep, Duration::ZERO), 0);
        assert_eq!(until_it_yields(), once);
    }

    #[test]
    fn who_meets_nobody_yields() {
        let backoff = Backoff::default();
        assert_eq!(run(&backoff, 10, Duration::ZERO, Duration::ZERO), 0);
        assert!(!backoff.has_met_others());
    }

    /// Also while ranks yield again, another program is remembered for a few rows.
    #[test]
    fn who_was_met_is_remembered_for_some_rows() {
        let backoff = Backoff::default();
        let slice = Duration::from_millis(4);
        backoff.lose(slice);
        assert!(backoff.has_met_others(), "it sleeps");
        backoff.lose(2 * slice);
        backoff.lose(slice / 4);
        assert!(!backoff.begin_wait() && backoff.has_met_others());
        run(&backoff, 10, Duration::ZERO, Duration::ZERO);
        assert!(!backoff.has_met_others());
    }
}
