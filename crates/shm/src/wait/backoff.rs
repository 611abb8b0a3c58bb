//! How a wait gives up a shared processor beside another program, by a yield or a sleep: [`Backoff`].

use std::cell::Cell;
use std::time::Duration;

use oxmpi_wire::trials::{Estimate, Policy, Schedule};

/// Whether waits sleep at once or yield first, by what each way has lost.
///
/// Beside another program of the same control group a yield costs a slice of some milliseconds, and a sleep what a wake
/// takes, 20 us: a woken rank interrupts the other program. In a control group that has nearly all shares it is the
/// reverse: a yield goes to the other ranks, while a sleeping rank lets a program of another group run, whose slice no
/// wake interrupts (a reduction of 64 KiB of eight ranks on two processors: 1.5 ms with sleeps, 0.1 ms with yields).
///
/// So the losses of the present way are added up over a round of waits, and the way changes when they exceed those of
/// the other way. Losses of the other way decay: fast after the first change, slower the more often the way has changed.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    sleeps: Cell<bool>,
    /// Waits since the way was changed.
    waits: Cell<Schedule>,
    /// Losses of this round.
    lost: Cell<Duration>,
    /// Nanoseconds that a round of the other way loses.
    other: Cell<Estimate>,
    /// Changes of the way with few rounds between, up to the last index of [`DECAYS`].
    changes: Cell<usize>,
}

/// Waits of a round.
const ROUND: u64 = 64;

/// The greatest loss of one wait: a slice of the processor. A longer one waited for ranks that compute elsewhere.
const SLICE: Duration = Duration::from_millis(4);

/// The other way's losses forget one part in so many each round, by the number of changes. With 2 a slice is forgotten
/// in about four rounds of sleeps, with 8 in twelve; always 8 doubled a bcast of 8 B (eight ranks, two processors, Zen 3).
const DECAYS: [u64; 4] = [2, 2, 4, 8];

/// Few rounds: about 10 ms of short waits that yield, about 80 ms of waits that sleep.
const FEW: u64 = 64;

/// Losses of a round above which another program counts as met lately: some rounds after it took a slice. A quarter of it
/// made scatters of 1 MiB a fifth slower with eight ranks and no other program.
const REMEMBERED: Duration = Duration::from_millis(2);

impl Backoff {
    /// Counts a wait. Whether it sleeps at once.
    pub(crate) fn begin_wait(&self) -> bool {
        let mut waits = self.waits.get();
        if waits.count(ROUND).is_some() {
            let mut other = self.other.get();
            other.decay(DECAYS[self.changes.get()]);
            self.other.set(other);
            self.lost.set(Duration::ZERO);
        }
        self.waits.set(waits);
        self.sleeps.get()
    }

    /// Whether another program took turns lately, so that the next one given away may be lost, too.
    pub(crate) fn has_competing_program(&self) -> bool {
        self.sleeps.get() || self.lost.get().max(self.other()) > REMEMBERED
    }

    /// Adds what a wait has lost by its way; beyond the other way's loss the way changes.
    pub(crate) fn lose(&self, time: Duration) {
        let lost = self.lost.get() + time.min(SLICE);
        self.lost.set(lost);
        if lost > self.other() {
            self.sleeps.set(!self.sleeps.get());
            let mut other = Estimate::NEW;
            other.learn(Policy::Halves, lost.as_nanos() as u64);
            self.other.set(other);
            self.lost.set(Duration::ZERO);
            let rounds = self.waits.take().uses() / ROUND;
            let changes = if rounds < FEW {
                self.changes.get() + 1
            } else {
                0
            };
            self.changes.set(changes.min(DECAYS.len() - 1));
        }
    }

    fn other(&self) -> Duration {
        Duration::from_nanos(self.other.get().cost())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs rounds of waits that each lose so much by their way. Returns how many slept at once.
    fn run(backoff: &Backoff, rounds: u32, asleep: Duration, yielding: Duration) -> u32 {
        let mut slept = 0;
        for _ in 0..rounds * ROUND as u32 {
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
    fn the_wait_that_loses_less_is_used() {
        let (wake, slice) = (Duration::from_micros(20), Duration::from_millis(4));
        let backoff = Backoff::default();
        let slept = run(&backoff, 100, wake, slice);
        assert!(slept > 98 * ROUND as u32, "{slept}");
        let slept = run(&backoff, 100, slice, Duration::ZERO);
        assert!(slept < ROUND as u32, "{slept}");
        let slept = run(&backoff, 100, wake, slice);
        assert!(slept > 90 * ROUND as u32, "{slept}");
    }

    /// A wait for a rank that computes is long; afterwards the ranks soon yield again.
    #[test]
    fn one_long_wait_is_soon_forgotten() {
        let backoff = Backoff::default();
        backoff.lose(Duration::from_secs(1));
        assert!(backoff.begin_wait());
        let slept = run(&backoff, 100, Duration::from_micros(60), Duration::ZERO);
        assert!(slept <= 2 * ROUND as u32, "{slept}");
    }

    /// Beside a program that runs again and again ranks mostly sleep; they yield soon after its last run.
    #[test]
    fn a_program_met_once_is_forgotten_sooner_than_one_that_runs_again() {
        let (sleep, slice) = (Duration::from_micros(15), Duration::from_millis(4));
        let backoff = Backoff::default();
        let until_it_yields = || {
            backoff.lose(slice);
            let rounds = (1_u32..).find(|_| run(&backoff, 1, sleep, Duration::ZERO) < ROUND as u32);
            rounds.expect("it yields at last")
        };
        let [once, again, still] = std::array::from_fn(|_| until_it_yields());
        assert!(
            once < 6 && again >= 2 * once && still == again,
            "{once} {again} {still}"
        );
        assert_eq!(run(&backoff, FEW as u32, sleep, Duration::ZERO), 0);
        assert_eq!(until_it_yields(), once);
    }

    #[test]
    fn without_losses_waits_yield() {
        let backoff = Backoff::default();
        assert_eq!(run(&backoff, 10, Duration::ZERO, Duration::ZERO), 0);
        assert!(!backoff.has_competing_program());
    }

    /// Ranks that yield again still remember another program for a few rounds.
    #[test]
    fn another_program_is_remembered_for_some_rounds() {
        let backoff = Backoff::default();
        let slice = Duration::from_millis(4);
        backoff.lose(slice);
        assert!(backoff.has_competing_program(), "it sleeps");
        backoff.lose(2 * slice);
        backoff.lose(slice / 4);
        assert!(!backoff.begin_wait() && backoff.has_competing_program());
        run(&backoff, 10, Duration::ZERO, Duration::ZERO);
        assert!(!backoff.has_competing_program());
    }
}
