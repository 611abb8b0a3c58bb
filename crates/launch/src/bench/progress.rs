//! The progress line of a benchmark run, rewritten after each sample.
//!
//! The launcher forwards whole lines, so each state is a line of its own that first erases the line before it.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use oxmpi_bench::suite::{Plan, tables};

/// Characters of the bar.
const WIDTH: usize = 30;

/// Moves up one line and clears it: CUU and EL of ECMA-48.
const OVER: &str = "\x1b[1A\x1b[2K";

/// The stream that shows progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressStream {
    /// Standard output, below the listing.
    Stdout,
    /// Standard error, when the listing goes elsewhere.
    Stderr,
    /// No progress is shown.
    Off,
}

const NAMES: [(&str, ProgressStream); 3] = [
    ("stdout", ProgressStream::Stdout),
    ("stderr", ProgressStream::Stderr),
    ("none", ProgressStream::Off),
];

impl ProgressStream {
    /// The stream of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        let row = NAMES.iter().find(|row| row.1 == self);
        row.map_or("none", |row| row.0)
    }

    /// The stream that is a terminal: standard output, else standard error.
    pub(crate) fn on_terminal() -> Self {
        if io::stdout().is_terminal() {
            ProgressStream::Stdout
        } else if io::stderr().is_terminal() {
            ProgressStream::Stderr
        } else {
            ProgressStream::Off
        }
    }
}

/// The progress line and its state.
pub(super) struct ProgressLine {
    show: ProgressStream,
    done: usize,
    samples: usize,
    start: Instant,
    /// Whether the progress line is the last line written.
    is_shown: bool,
}

impl ProgressLine {
    /// The progress of `plan` on `ranks` ranks, before the first sample.
    pub(super) fn new(show: ProgressStream, plan: &Plan, ranks: usize) -> Self {
        let samples = match show {
            ProgressStream::Off => 0,
            _ => tables(plan, ranks)
                .map(|table| plan.lengths_of(table.kernel).count())
                .sum(),
        };
        ProgressLine {
            show,
            done: 0,
            samples,
            start: Instant::now(),
            is_shown: false,
        }
    }

    /// Counts a sample that is measured or skipped.
    pub(super) fn step(&mut self) {
        self.done += 1;
    }

    /// Appends the removal of the line to `out`, which goes to standard output next.
    pub(super) fn clear(&mut self, out: &mut String) {
        if self.show == ProgressStream::Stdout && self.is_shown {
            out.push_str(OVER);
            self.is_shown = false;
        }
    }

    /// Shows the line: appends it to `out` if both go to standard output.
    pub(super) fn show(&mut self, out: &mut String) {
        if self.show == ProgressStream::Off || self.done == 0 || self.done >= self.samples {
            return;
        }
        let line = line(self.done, self.samples, self.start.elapsed());
        match self.show {
            ProgressStream::Stdout => {
                out.push_str(&line);
                out.push('\n');
            }
            _ => self.tell(&line),
        }
        self.is_shown = true;
    }

    /// Removes the line after the last sample.
    pub(super) fn end(&mut self) {
        if self.show == ProgressStream::Stderr && self.is_shown {
            self.tell("done");
        }
    }

    fn tell(&self, line: &str) {
        let over = if self.is_shown { OVER } else { "" };
        // A line that cannot be shown is no reason to stop.
        let _ = writeln!(io::stderr(), "{over}{line}");
    }
}

/// The line: a bar, and the remaining time if the other samples take as long as those measured.
fn line(done: usize, samples: usize, elapsed: Duration) -> String {
    let full = WIDTH * done / samples;
    let left = elapsed.as_secs_f64() / done as f64 * (samples - done) as f64;
    let left = left.ceil() as u64;
    let mut line = format!(
        "[{:#<full$}{:-<2$}] {done} of {samples} samples, ",
        "",
        "",
        WIDTH - full
    );
    // Writing to a string cannot fail.
    let _ = match left {
        0..60 => write!(line, "{left} s left"),
        60..3600 => write!(line, "{} min {} s left", left / 60, left % 60),
        _ => write!(line, "{} h {} min left", left / 3600, left % 3600 / 60),
    };
    line
}

#[cfg(test)]
mod tests {
    use super::{OVER, ProgressLine, ProgressStream, line};
    use oxmpi_bench::Kernel;
    use oxmpi_bench::suite::Plan;
    use std::time::Duration;

    #[test]
    fn the_line_shows_what_is_done_and_left() {
        let at = |done, seconds| line(done, 90, Duration::from_secs(seconds));
        assert_eq!(
            at(30, 30),
            "[##########--------------------] 30 of 90 samples, 1 min 0 s left"
        );
        assert!(at(89, 89).ends_with(" 1 s left"));
        assert!(at(1, 60).ends_with(" 1 h 29 min left"));
    }

    #[test]
    fn the_line_is_below_the_listing() {
        let plan = Plan {
            benchmarks: [Kernel::PingPong.into()].into(),
            ..Plan::default()
        };
        let mut progress = ProgressLine::new(ProgressStream::Stdout, &plan, 2);
        assert_eq!(progress.samples, 24);
        let mut out = String::from("heading\n");
        progress.show(&mut out);
        assert_eq!(out, "heading\n");
        progress.step();
        progress.show(&mut out);
        assert!(out.contains("1 of 24"), "{out}");
        let mut next = String::new();
        progress.clear(&mut next);
        progress.clear(&mut next);
        assert_eq!(next, OVER);
    }

    #[test]
    fn names_are_read_back() {
        for show in [
            ProgressStream::Stdout,
            ProgressStream::Stderr,
            ProgressStream::Off,
        ] {
            assert_eq!(ProgressStream::from_name(show.name()), Some(show));
        }
        assert_eq!(ProgressStream::from_name("up"), None);
    }
}
