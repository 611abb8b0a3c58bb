//! The contents of buffers and messages: runs of symbols.

use alloc::vec::Vec;
use core::ops::{Deref, Range};

use super::sums::SumId;

/// Consecutive elements of one sum: element `first + i` holds element `source + i` of that sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementRun {
    pub(super) first: u64,
    pub(super) count: u64,
    pub(super) source: u64,
    pub(super) sum: SumId,
}

impl ElementRun {
    pub(super) fn end(&self) -> u64 {
        self.first + self.count
    }

    /// The part of the run within the range, with indexes shifted so that the range starts at `to`.
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

    /// Whether `next` continues this run.
    fn continues(&self, next: &ElementRun) -> bool {
        self.end() == next.first && self.source + self.count == next.source && self.sum == next.sum
    }
}

/// Appends a run, or extends the last one if the run continues it.
pub(super) fn push(runs: &mut Vec<ElementRun>, run: ElementRun) {
    match runs.last_mut() {
        _ if run.count == 0 => {}
        Some(last) if last.continues(&run) => last.count += run.count,
        _ => runs.push(run),
    }
}

/// The contents of a message, in ascending order. A single run, as in most messages, takes no heap
/// memory.
#[derive(Clone, Debug)]
pub(super) enum SymbolMessage {
    One(ElementRun),
    Many(Vec<ElementRun>),
}

impl SymbolMessage {
    /// Reserves memory for this many runs if the message is empty.
    pub(super) fn reserve(&mut self, runs: usize) {
        if let SymbolMessage::Many(all) = self
            && all.is_empty()
            && runs > 1
        {
            all.reserve_exact(runs);
        }
    }

    /// Appends a run, or extends the last one if the run continues it.
    pub(super) fn push(&mut self, run: ElementRun) {
        match self {
            _ if run.count == 0 => {}
            SymbolMessage::Many(all) if all.capacity() == 0 => *self = SymbolMessage::One(run),
            SymbolMessage::Many(all) => push(all, run),
            SymbolMessage::One(one) if one.continues(&run) => one.count += run.count,
            SymbolMessage::One(one) => *self = SymbolMessage::Many(Vec::from([*one, run])),
        }
    }
}

impl SymbolMessage {
    /// The contents of a range, as a message of their own.
    pub(super) fn part(&self, range: &Range<u64>) -> SymbolMessage {
        let mut part = SymbolMessage::default();
        let touches = |run: &&ElementRun| run.first < range.end && range.start < run.end();
        for run in self.iter().filter(touches) {
            part.push(run.cut(range, 0));
        }
        part
    }

    /// Appends another message, shifted by `at` elements.
    pub(super) fn append(&mut self, at: u64, other: &SymbolMessage) {
        for run in other.iter() {
            self.push(ElementRun {
                first: at + run.first,
                ..*run
            });
        }
    }
}

impl Default for SymbolMessage {
    fn default() -> Self {
        SymbolMessage::Many(Vec::new())
    }
}

impl Deref for SymbolMessage {
    type Target = [ElementRun];

    fn deref(&self) -> &[ElementRun] {
        match self {
            SymbolMessage::One(one) => core::slice::from_ref(one),
            SymbolMessage::Many(all) => all,
        }
    }
}
