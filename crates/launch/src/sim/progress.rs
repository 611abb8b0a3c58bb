//! How far a long simulation is, and how long it still takes.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use oxmpi_coll::sim::SimProgress;

/// No progress is shown on a terminal before this time.
const QUIET_TIME: Duration = Duration::from_secs(1);

/// The time of the first line where standard error is no terminal; the next ones come after twice the time each.
const FIRST_LINE: Duration = Duration::from_secs(10);

/// The progress of one simulation on standard error: on a terminal a line that is rewritten, else a few lines.
pub(super) struct ProgressLine {
    what: String,
    start: Instant,
    is_terminal: bool,
    is_shown: bool,
    /// The time of the next line.
    next: Duration,
    /// The first observation; before it the plans are made.
    first: Option<Observation>,
}

/// What was simulated at a time.
#[derive(Clone, Copy)]
struct Observation {
    elapsed: Duration,
    progress: SimProgress,
}

/// What is known about the end of a simulation.
#[derive(Clone, Copy)]
pub(super) enum ExpectedEnd {
    /// The simulated time in picoseconds.
    Time(u64),
    /// The number of messages.
    Messages(u64),
    /// Nothing.
    Unknown,
}

impl ExpectedEnd {
    /// How far the progress is, and where the end is.
    fn position(self, progress: SimProgress) -> (u64, u64) {
        match self {
            ExpectedEnd::Time(time) => (progress.time, time),
            ExpectedEnd::Messages(messages) => (progress.messages, messages),
            ExpectedEnd::Unknown => (0, 0),
        }
    }
}

impl ProgressLine {
    pub(super) fn new(algorithm: &str, ranks: u32) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        ProgressLine {
            what: format!("{algorithm}, {ranks} ranks"),
            start: Instant::now(),
            is_terminal,
            is_shown: false,
            next: if is_terminal { QUIET_TIME } else { FIRST_LINE },
            first: None,
        }
    }

    /// Shows the progress of a simulation.
    pub(super) fn show(&mut self, progress: SimProgress, expected: ExpectedEnd) {
        let elapsed = self.start.elapsed();
        let now = Observation { elapsed, progress };
        let first = *self.first.get_or_insert(now);
        if elapsed < self.next {
            return;
        }
        let text = text(first, now, expected);
        let mut stderr = std::io::stderr();
        // An error of the progress line does not stop the simulation.
        let _ = if self.is_terminal {
            self.is_shown = true;
            write!(stderr, "\r\x1b[K{}: {text}", self.what)
        } else {
            self.next *= 2;
            writeln!(stderr, "oxmpi: {}: {text}", self.what)
        };
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// The progress as text, with the time that is left if it goes on as since the first observation.
fn text(first: Observation, now: Observation, expected: ExpectedEnd) -> String {
    let seconds = now.elapsed.as_secs();
    let (start, _) = expected.position(first.progress);
    let (at, end) = expected.position(now.progress);
    if !(start < at && at < end) {
        return format!("{} events in {seconds} s", now.progress.events);
    }
    let left = (end - at) as f64 / (at - start) as f64;
    format!(
        "{} % simulated in {seconds} s, about {} left",
        100 * u128::from(at) / u128::from(end),
        rough((now.elapsed - first.elapsed).mul_f64(left.min(1e6)))
    )
}

/// A time in seconds, minutes or hours, rounded.
fn rough(time: Duration) -> String {
    match time.as_secs() {
        seconds @ ..100 => format!("{seconds} s"),
        seconds @ ..6000 => format!("{} minutes", (seconds + 30) / 60),
        seconds => format!("{} hours", (seconds + 1800) / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_what_is_simulated_since_the_first_observation() {
        use ExpectedEnd::{Messages, Time, Unknown};
        let at = |seconds, done| Observation {
            elapsed: Duration::from_secs(seconds),
            progress: SimProgress {
                events: 3 << 20,
                time: done,
                messages: 2 * done,
            },
        };
        for (time, expected, right) in [
            (
                250,
                Messages(1000),
                "50 % simulated in 20 s, about 15 s left",
            ),
            (0, Messages(1000), "3145728 events in 20 s"),
            (250, Time(1000), "25 % simulated in 20 s, about 45 s left"),
            (
                10,
                Time(1000),
                "1 % simulated in 20 s, about 25 minutes left",
            ),
            (1, Time(1000), "0 % simulated in 20 s, about 4 hours left"),
            (1000, Time(1000), "3145728 events in 20 s"),
            (250, Unknown, "3145728 events in 20 s"),
        ] {
            assert_eq!(text(at(5, 0), at(20, time), expected), right);
        }
    }
}
