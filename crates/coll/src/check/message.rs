//! What buffers and messages hold: runs of symbols.

use alloc::vec::Vec;
use core::ops::{Deref, Range};

use super::sums::Name;

/// Consecutive elements with values of the same kind: position `first + i` holds the sum of source
/// element `source + i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementRun {
    pub(super) first: u64,
    pub(super) count: u64,
    pub(super) source: u64,
    pub(super) sum: Name,
}

impl ElementRun {
    pub(super) fn end(&self) -> u64 {
        self.first + self.count
    }

    /// The elements of the run within the range, shifted so that the range starts at `to`.
    pub(super) fn cut(&self, range: &Range<u64>, to: u64) -> ElementRun {
        let first = self.first.max(range.start);
        let count = self.end().min(range.end) - first;
        let source = self.source + (first - self.first);
        ElementRun {
            first: first - range.start + to,
            count,
            source,
            sum: self.sum,
        }
    }

    /// Whether the other run simply continues this one.
    fn continues(&self, next: &ElementRun) -> bool {
        self.end() == next.first && self.source + self.count == next.source && self.sum == next.sum
    }
}

/// Appends a run, joining it to the last one where it continues that.
pub(super) fn push(runs: &mut Vec<ElementRun>, run: ElementRun) {
    match runs.last_mut() {
        _ if run.count == 0 => {}
        Some(last) if last.continues(&run) => last.count += run.count,
        _ => runs.push(run),
    }
}

/// What a message holds, in ascending order. Most hold one run, which takes no memory of its own.
#[derive(Clone, Debug)]
pub(super) enum Message {
    One(ElementRun),
    Many(Vec<ElementRun>),
}

impl Message {
    /// Makes room for so many runs, where none is.
    pub(super) fn reserve(&mut self, runs: usize) {
        if let Message::Many(all) = self
            && all.is_empty()
            && runs > 1
        {
            all.reserve_exact(runs);
        }
    }

    /// Appends a run, joining it to the last one where it continues that.
    pub(super) fn push(&mut self, run: ElementRun) {
        match self {
            _ if run.count == 0 => {}
            Message::Many(all) if all.capacity() == 0 => *self = Message::One(run),
            Message::Many(all) => push(all, run),
            Message::One(one) if one.continues(&run) => one.count += run.count,
            Message::One(one) => *self = Message::Many(Vec::from([*one, run])),
        }
    }
}

impl Message {
    /// What it holds of the range, as a message of its own.
    pub(super) fn part(&self, range: &Range<u64>) -> Message {
        let mut part = Message::default();
        let touches = |run: &&ElementRun| run.first < range.end && range.start < run.end();
        for run in self.iter().filter(touches) {
            part.push(run.cut(range, 0));
        }
        part
    }

    /// Appends another message, from this element on.
    pub(super) fn append(&mut self, at: u64, other: &Message) {
        for run in other.iter() {
            self.push(ElementRun {
                first: at + run.first,
                ..*run
            });
        }
    }
}

impl Default for Message {
    fn default() -> Self {
        Message::Many(Vec::new())
    }
}

impl Deref for Message {
    type Target = [ElementRun];

    fn deref(&self) -> &[ElementRun] {
        match self {
            Message::One(one) => core::slice::from_ref(one),
            Message::Many(all) => all,
        }
    }
}
