//! Which cells two ranks write: each writes again what it has itself read last, where it can.
//!
//! A line that the other rank has read must be taken away from it before it is written; one that this
//! rank has read is in its own cache, and the other one does not want it any more. Between two Zen 4
//! processors far from each other 64 KiB each way took 33 us without this and 5 with it. It needs no
//! flag either: what a rank has read itself is free as soon as it has.
//!
//! Both ranks count the steps and who writes in them alike, so each knows by itself which cell every
//! step uses. All cells of the two ranks are one store, and each cell is held by the rank that read it
//! last. A rank writes the one of its cells that it got last, so that few are in use. One that holds
//! none takes the other's oldest, which that one has finished long ago.

use std::boxed::Box;
use std::collections::VecDeque;

use super::arena::SLOTS;

/// The cells of two ranks, and who holds them.
#[derive(Debug)]
pub(super) struct Turns {
    /// Cells of each rank.
    each: usize,
    /// Those of each rank, the one that it got last at the back; what it took without reading it is at
    /// the front.
    held: [VecDeque<u16>; 2],
    /// What each rank gets in the exchange under way.
    got: [VecDeque<u16>; 2],
    /// The cells of the last steps, by writer.
    steps: Box<[[Cell; 2]; SLOTS]>,
}

/// A cell that a rank writes in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    /// Its number: those of rank 0 come first.
    pub(super) number: u16,
    /// Whether the writer has read it last.
    pub(super) is_own: bool,
}

impl Turns {
    /// With `each` cells of each rank, [`SLOTS`] at least.
    pub(super) fn new(each: u16) -> Self {
        assert!(usize::from(each) >= SLOTS);
        let room = || VecDeque::with_capacity(2 * usize::from(each));
        let mut held = [room(), room()];
        held[0].extend(0..each);
        held[1].extend(each..2 * each);
        Self {
            each: usize::from(each),
            held,
            got: [room(), room()],
            steps: Box::new([[Cell::default(); 2]; SLOTS]),
        }
    }

    /// Whose memory a cell is, and which one of that rank's.
    #[inline]
    pub(super) fn place(&self, cell: Cell) -> (usize, usize) {
        let number = usize::from(cell.number);
        match number.checked_sub(self.each) {
            None => (0, number),
            Some(rest) => (1, rest),
        }
    }

    /// In `step` only `writer` writes.
    #[inline]
    pub(super) fn one_writes(&mut self, step: u64, writer: usize) {
        let reader = 1 - writer;
        let own = self.held[writer].pop_back();
        let number = own.or_else(|| self.held[reader].pop_front());
        let number = number.expect("every cell is held by one of them");
        self.held[reader].push_back(number);
        self.steps[step as usize % SLOTS][writer] = Cell {
            number,
            is_own: own.is_some(),
        };
    }

    /// From now on both write, in so many steps. Whoever holds few cells for it takes the other's oldest.
    pub(super) fn begin_exchange(&mut self, steps: u64) {
        for rank in [0, 1] {
            let cells = self.held[0].len() + self.held[1].len();
            let wanted = steps.min(cells as u64 / 2) as usize;
            while self.held[rank].len() < wanted {
                let oldest = self.held[1 - rank].pop_front();
                self.held[rank].extend(oldest);
                self.held[rank].rotate_right(1);
            }
        }
    }

    /// In `step` both write: what they hold, then what they have got in this exchange, the oldest
    /// first.
    #[inline]
    pub(super) fn both_write(&mut self, step: u64) {
        for writer in [0, 1] {
            let own = self.held[writer].pop_back();
            let number = own.or_else(|| self.got[writer].pop_front());
            self.steps[step as usize % SLOTS][writer] = Cell {
                number: number.expect("it began with cells enough"),
                is_own: true,
            };
        }
        let [first, second] = self.steps[step as usize % SLOTS];
        self.got[0].push_back(second.number);
        self.got[1].push_back(first.number);
    }

    /// The exchange is over.
    pub(super) fn end_exchange(&mut self) {
        for (held, got) in self.held.iter_mut().zip(&mut self.got) {
            held.append(got);
        }
    }

    /// The cell that `writer` writes in `step`, one of the last [`SLOTS`].
    #[inline]
    pub(super) fn cell(&self, step: u64, writer: usize) -> Cell {
        self.steps[step as usize % SLOTS][writer]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Who read a cell last, and in which step.
    type Reads = std::vec::Vec<(usize, u64)>;

    /// Whether `writer` may write `cell` in `step`: it has read it itself, or the other one has
    /// finished the step in which it did, as whoever writes `step` knows of those a ring before.
    fn is_free(reads: &Reads, cell: Cell, writer: usize, step: u64) -> bool {
        let (reader, read) = reads[usize::from(cell.number)];
        read == 0 || reader == writer || read + SLOTS as u64 <= step
    }

    proptest! {
        #[test]
        fn nobody_writes_what_is_being_read(
            each in SLOTS as u16..40,
            calls in prop::collection::vec((0usize..3, 1u64..100), 1..40),
        ) {
            let mut turns = Turns::new(each);
            let mut reads: Reads = std::vec![(0, 0); 2 * usize::from(each)];
            let mut step = 0;
            for (writer, steps) in calls {
                let first = step + 1;
                if writer == 2 {
                    turns.begin_exchange(steps);
                }
                for _ in 0..steps {
                    step += 1;
                    let writers = if writer == 2 {
                        turns.both_write(step);
                        0..2
                    } else {
                        turns.one_writes(step, writer);
                        writer..writer + 1
                    };
                    for writer in writers.clone() {
                        let cell = turns.cell(step, writer);
                        prop_assert!(is_free(&reads, cell, writer, step));
                        // In an exchange a rank writes less than a ring of steps before it reads.
                        let (reader, read) = reads[usize::from(cell.number)];
                        let ahead = writers.len() == 2 && reader == writer && read >= first;
                        prop_assert!(!ahead || read + SLOTS as u64 <= step);
                    }
                    let cells = writers.clone().map(|writer| (turns.cell(step, writer), writer));
                    for (cell, writer) in cells.collect::<std::vec::Vec<_>>() {
                        reads[usize::from(cell.number)] = (1 - writer, step);
                    }
                }
                turns.end_exchange();
            }
        }
    }

    #[test]
    fn a_dialogue_stays_in_few_cells() {
        let mut turns = Turns::new(32);
        let mut used = std::collections::BTreeSet::new();
        for step in 1..400 {
            let writer = (step / 4 % 2) as usize;
            turns.one_writes(step, writer);
            let cell = turns.cell(step, writer);
            used.insert(cell.number);
            assert!(cell.is_own);
        }
        assert!(used.len() <= 8, "{used:?}");
    }
}
