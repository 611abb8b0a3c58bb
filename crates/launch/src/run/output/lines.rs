//! [`LineMerger`]: merges what several sources write into one stream of whole lines.
//!
//! A state machine without system calls and without a clock: bytes and the time go in, slices to write come out.
//!
//! ```text
//!   a complete line                      is written at once
//!   the beginning of a line (a prompt)   is written after PARTIAL_WAIT, or if it is long; then it is the open line
//!   the rest of the open line            is written at once
//!   anything of another source           ends the open line if that is short; otherwise it waits until the line is
//!                                        complete, has brought no PROGRESS within PAUSE, or exceeds LINE_MAX
//! ```
//!
//! The beginning of a line may be overdue because its source was not read: whoever calls [`LineMerger::write_due`] makes
//! sure that the rest does not wait to be read.

use std::time::Duration;

use super::label::Label;

/// How long the beginning of a line waits for the rest: output appears within 50 ms.
const PARTIAL_WAIT: Duration = Duration::from_millis(40);
/// The beginning of a line of this many bytes is written at once, and its source is not read further until then.
pub(super) const PENDING_MAX: usize = 64 << 10;
/// A longer open line is data, not a prompt or a progress display: other sources wait for its end.
const SHORT: usize = 4096;
/// Other sources wait this long for the end of a long line, and again after each `PROGRESS` bytes of it.
const PAUSE: Duration = Duration::from_secs(1);
/// The dots of a progress display are slower than this many bytes in `PAUSE`; data is faster.
const PROGRESS: usize = 1 << 20;
/// Other sources do not wait for the end of a longer line.
const LINE_MAX: usize = 64 << 20;

/// Takes the slices to write, in order.
pub(super) type Writer<'w> = &'w mut dyn FnMut(&[u8]);

/// The lines of several sources that share one stream. Times are since the start of the job.
#[derive(Default)]
pub(super) struct LineMerger {
    sources: Vec<LineSource>,
    open: Option<OpenLine>,
    broken: Option<BrokenLine>,
    /// The source that is served first when several have waited.
    next: usize,
}

struct LineSource {
    label: Label,
    /// Bytes that are not written yet.
    pending: Vec<u8>,
    /// The length of the complete lines in `pending`.
    complete: usize,
    /// When the rest of `pending` came.
    since: Duration,
    /// Whether nothing follows.
    ended: bool,
}

/// The line at the end of the stream that has no newline yet.
struct OpenLine {
    source: usize,
    /// The bytes since the last newline or carriage return: what a terminal shows.
    length: usize,
    /// When the line became long, or had brought another `PROGRESS` bytes.
    since: Duration,
    /// The bytes that have come after `since`.
    recent: usize,
}

/// A long line that the output of another source, or a message of the launcher, interrupted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BrokenLine {
    /// The source of the line.
    pub(super) source: usize,
    /// The bytes of the line before the interruption.
    pub(super) length: usize,
    /// Whether it was a message of the launcher.
    pub(super) by_message: bool,
}

impl LineMerger {
    /// Adds a source whose lines have this label. Returns its number.
    pub(super) fn add(&mut self, label: Label) -> usize {
        self.sources.push(LineSource {
            label,
            pending: Vec::new(),
            complete: 0,
            since: Duration::ZERO,
            ended: false,
        });
        self.sources.len() - 1
    }

    /// How many of `most` bytes may be read from a source now; 0: it must wait for another one.
    pub(super) fn room(&self, source: usize, most: usize, now: Duration) -> usize {
        if self.may_write_from(source) <= now {
            most
        } else {
            PENDING_MAX.saturating_sub(self.sources[source].pending.len())
        }
    }

    /// Takes bytes of a source.
    pub(super) fn take(&mut self, source: usize, bytes: &[u8], now: Duration, write: Writer<'_>) {
        let may_write = self.may_write_from(source) <= now;
        let whole = match last_newline(bytes) {
            Some(at) => at + 1,
            None if self.owns(source) => bytes.len(),
            None => 0,
        };
        let (whole, rest) = bytes.split_at(if may_write { whole } else { 0 });
        if !whole.is_empty() {
            self.write_pending(source, usize::MAX, now, write);
            self.write(source, whole, now, write);
        }
        let state = &mut self.sources[source];
        let newline = last_newline(rest);
        // An overdue line that goes on is no prompt: its source was not read in the meantime.
        let was_overdue = state.since + PARTIAL_WAIT <= now;
        if newline.is_some() || state.pending.is_empty() || was_overdue {
            state.since = now;
        }
        if let Some(at) = newline {
            state.complete = state.pending.len() + at + 1;
        }
        state.pending.extend_from_slice(rest);
        if may_write && state.pending.len() >= PENDING_MAX {
            self.write_pending(source, usize::MAX, now, write);
        }
    }

    /// The sources that have something which has waited long enough, in the order in which they are served.
    pub(super) fn due(&self, now: Duration) -> Vec<usize> {
        (self.next..self.sources.len())
            .chain(0..self.next)
            .filter(|source| self.is_due(*source, now))
            .collect()
    }

    /// Whether what a source has pending is the beginning of a line, whose rest may still be unread.
    pub(super) fn is_partial(&self, source: usize) -> bool {
        let state = &self.sources[source];
        state.complete == 0 && state.pending.len() < PENDING_MAX
    }

    /// Writes what a source has pending, unless it is to wait since another one has been served.
    pub(super) fn write_due(&mut self, source: usize, now: Duration, write: Writer<'_>) {
        if self.is_due(source, now) {
            let complete = self.sources[source].complete;
            let length = if complete > 0 { complete } else { usize::MAX };
            self.write_pending(source, length, now, write);
            self.next = (source + 1) % self.sources.len();
        }
    }

    /// When a source is due next, unless more is taken before.
    pub(super) fn deadline(&self) -> Option<Duration> {
        (0..self.sources.len())
            .filter_map(|source| self.due_at(source))
            .min()
    }

    /// Notes that the stream had no room for `time`. The open line could not grow: other sources wait for it that much
    /// longer.
    pub(super) fn resume_after(&mut self, time: Duration) {
        if let Some(open) = &mut self.open {
            open.since += time;
        }
    }

    /// Notes that a source has ended: what is left of it is due as soon as it may be written.
    pub(super) fn end(&mut self, source: usize) {
        let state = &mut self.sources[source];
        state.ended = true;
        state.complete = state.pending.len();
    }

    /// Ends the open line, so that a message of the launcher has a line of its own.
    pub(super) fn end_line(&mut self, write: Writer<'_>) {
        if let Some(open) = self.open.take() {
            self.interrupt(&open, true, write);
        }
    }

    /// A long line that was interrupted since the last call.
    pub(super) fn take_broken(&mut self) -> Option<BrokenLine> {
        self.broken.take()
    }

    fn owns(&self, source: usize) -> bool {
        (self.open.as_ref()).is_some_and(|open| open.source == source)
    }

    /// The time from which a source may write: it does not interrupt a long line of another one.
    fn may_write_from(&self, source: usize) -> Duration {
        match &self.open {
            Some(open) if open.source != source && self.is_protected(open) => open.since + PAUSE,
            _ => Duration::ZERO,
        }
    }

    /// Whether other sources wait for the end of a line while it makes progress.
    fn is_protected(&self, open: &OpenLine) -> bool {
        open.length > SHORT && open.length <= LINE_MAX && !self.sources[open.source].ended
    }

    fn is_due(&self, source: usize, now: Duration) -> bool {
        self.due_at(source).is_some_and(|due| due <= now)
    }

    /// When the pending bytes of a source are to be written.
    fn due_at(&self, source: usize) -> Option<Duration> {
        let state = &self.sources[source];
        let wait = if self.is_partial(source) {
            PARTIAL_WAIT
        } else {
            Duration::ZERO
        };
        (!state.pending.is_empty()).then(|| self.may_write_from(source).max(state.since + wait))
    }

    /// Writes up to `length` pending bytes of a source.
    fn write_pending(&mut self, source: usize, length: usize, now: Duration, write: Writer<'_>) {
        let mut pending = std::mem::take(&mut self.sources[source].pending);
        let length = length.min(pending.len());
        self.write(source, &pending[..length], now, write);
        pending.drain(..length);
        let state = &mut self.sources[source];
        state.pending = pending;
        state.complete = state.complete.saturating_sub(length);
    }

    /// Ends an open line before it is complete.
    fn interrupt(&mut self, open: &OpenLine, by_message: bool, write: Writer<'_>) {
        write(b"\n");
        if open.length > SHORT && !self.sources[open.source].ended {
            self.broken = Some(BrokenLine {
                source: open.source,
                length: open.length,
                by_message,
            });
        }
    }

    fn write(&mut self, source: usize, text: &[u8], now: Duration, write: Writer<'_>) {
        if text.is_empty() {
            return;
        }
        if let Some(open) = self.open.take_if(|open| open.source != source) {
            self.interrupt(&open, false, write);
        }
        let label = &self.sources[source].label;
        if label.is_empty() {
            write(text);
        } else {
            for (i, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
                if i > 0 || self.open.is_none() {
                    write(label.at(now).as_bytes());
                }
                write(line);
            }
        }
        let mut line = self.open.take().unwrap_or_else(|| OpenLine::new(source));
        let mut rest = text;
        if let Some(at) = last_newline(text) {
            line = OpenLine::new(source);
            rest = &text[at + 1..];
        }
        if !rest.is_empty() {
            line.extend(rest, now);
            self.open = Some(line);
        }
    }
}

impl OpenLine {
    fn new(source: usize) -> Self {
        Self {
            source,
            length: 0,
            since: Duration::ZERO,
            recent: 0,
        }
    }

    /// Adds bytes without a newline.
    fn extend(&mut self, bytes: &[u8], now: Duration) {
        let was_short = self.length <= SHORT;
        self.length = match bytes.iter().rposition(|byte| *byte == b'\r') {
            Some(at) => bytes.len() - at - 1,
            None => self.length + bytes.len(),
        };
        self.recent += bytes.len();
        if was_short || self.recent >= PROGRESS {
            self.since = now;
            self.recent = 0;
        }
    }
}

fn last_newline(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests;
