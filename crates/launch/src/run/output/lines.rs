//! [`LineMerger`]: merges what several sources write into one stream of whole lines.
//!
//! A state machine without system calls and without a clock: bytes and the time go in, slices to write come out.
//!
//! ```text
//!   a complete line                      is written at once
//!   the beginning of a line (a prompt)   is written after PARTIAL_WAIT, or if it is long; then it is the open line
//!   the rest of the open line            is written at once
//!   anything of another source           ends the open line if that is short; otherwise it waits until the line is
//!                                        complete, its source has paused for PAUSE, or the line exceeds LINE_MAX
//! ```

use std::time::Duration;

use super::label::Label;

/// How long the beginning of a line waits for the rest: output appears within 50 ms.
const PARTIAL_WAIT: Duration = Duration::from_millis(40);
/// The beginning of a line of this many bytes is written at once, and its source is not read further until then.
pub(super) const PENDING_MAX: usize = 64 << 10;
/// A longer open line is data, not a prompt or a progress display: other sources wait for its end.
const SHORT: usize = 4096;
/// Other sources do not wait for the end of a long line whose source has written nothing for this time.
const PAUSE: Duration = Duration::from_secs(1);
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
    length: usize,
    /// When its source wrote last.
    last: Duration,
}

/// A long line that the output of another source interrupted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BrokenLine {
    /// The source of the line.
    pub(super) source: usize,
    /// The bytes of the line before the interruption.
    pub(super) length: usize,
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
        if newline.is_some() || state.pending.is_empty() {
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

    /// Writes what has waited long enough. To be called at [`LineMerger::deadline`].
    pub(super) fn write_due(&mut self, now: Duration, write: Writer<'_>) {
        let count = self.sources.len();
        for source in (self.next..count).chain(0..self.next) {
            if self.due(source).is_some_and(|due| due <= now) {
                let complete = self.sources[source].complete;
                let length = if complete > 0 { complete } else { usize::MAX };
                self.write_pending(source, length, now, write);
                self.next = (source + 1) % count;
            }
        }
    }

    /// When [`LineMerger::write_due`] has something to write, unless more is taken before.
    pub(super) fn deadline(&self) -> Option<Duration> {
        (0..self.sources.len())
            .filter_map(|source| self.due(source))
            .min()
    }

    /// Notes that a source has ended: what is left of it is written as soon as it may be.
    pub(super) fn end(&mut self, source: usize, now: Duration, write: Writer<'_>) {
        let state = &mut self.sources[source];
        state.ended = true;
        state.complete = state.pending.len();
        self.write_due(now, write);
    }

    /// Ends the open line, so that a message of the launcher has a line of its own.
    pub(super) fn end_line(&mut self, write: Writer<'_>) {
        if self.open.take().is_some() {
            write(b"\n");
        }
    }

    /// A long line that another source has interrupted since the last call.
    pub(super) fn take_broken(&mut self) -> Option<BrokenLine> {
        self.broken.take()
    }

    fn owns(&self, source: usize) -> bool {
        (self.open.as_ref()).is_some_and(|open| open.source == source)
    }

    /// The time from which a source may write: it does not interrupt a long line of another one.
    fn may_write_from(&self, source: usize) -> Duration {
        match &self.open {
            Some(open) if open.source != source && self.is_protected(open) => open.last + PAUSE,
            _ => Duration::ZERO,
        }
    }

    /// Whether other sources wait for the end of a line while its source writes.
    fn is_protected(&self, open: &OpenLine) -> bool {
        open.length > SHORT && open.length <= LINE_MAX && !self.sources[open.source].ended
    }

    /// When the pending bytes of a source are to be written.
    fn due(&self, source: usize) -> Option<Duration> {
        let state = &self.sources[source];
        let is_ready = state.complete > 0 || state.pending.len() >= PENDING_MAX;
        let wait = if is_ready {
            Duration::ZERO
        } else {
            PARTIAL_WAIT
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

    fn write(&mut self, source: usize, text: &[u8], now: Duration, write: Writer<'_>) {
        if text.is_empty() {
            return;
        }
        if let Some(open) = self.open.take_if(|open| open.source != source) {
            write(b"\n");
            if open.length > SHORT && !self.sources[open.source].ended {
                self.broken = Some(BrokenLine {
                    source: open.source,
                    length: open.length,
                });
            }
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
        let before = self.open.take().map_or(0, |open| open.length);
        let length = last_newline(text).map_or(before + text.len(), |at| text.len() - at - 1);
        self.open = (length > 0).then_some(OpenLine {
            source,
            length,
            last: now,
        });
    }
}

fn last_newline(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests;
