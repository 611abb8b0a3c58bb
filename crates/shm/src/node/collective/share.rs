//! Long reductions among more than two ranks: each rank combines its share of every piece straight
//! from what the others wrote, and gives the others the result.

use std::ops::Range;

use super::pieces::Pieces;
use super::reduce::{Operands, contiguous};
use super::run::{Kind, Run};
use super::team::{Driver, RESULT, ROOM, Team};

/// Pieces in a row that go through each of the two halves of the way: so a rank that shares its
/// processor gives way once for that many. Twice as many steps fit the ring.
const ROW: u64 = 8;

impl Team {
    /// As [`Team::reduce`] with a root, else as [`Team::allreduce`].
    ///
    /// # Errors
    /// When a rank never comes.
    pub(super) fn reduce_by_shares<D: Driver>(
        &mut self,
        driver: &mut D,
        root: Option<usize>,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        let (me, size, len) = (self.me, self.size(), operands.len);
        let gets = |rank: usize| root.is_none_or(|root| root == rank);
        let (kind, number) = match root {
            Some(root) => (Kind::Reduce, root),
            None => (Kind::Allreduce, 0),
        };
        let pieces = Pieces::new(len, 1, self.cell, operands.element);
        let element = operands.element;
        let mut run = Run::new(self, driver, (kind, number, len), false);
        let mut first = 0;
        while first < pieces.steps() {
            let row = ROW.min(pieces.steps() - first);
            let (give, share) = (2 * first, 2 * first + row);
            for i in 0..row {
                let (at, len) = pieces.part(first + i);
                let mine = share_of(me, size, len, element);
                run.room(give + i)?;
                // Nobody reads this rank's own share.
                for theirs in [0..mine.start, mine.end..len] {
                    let from = at + theirs.start as u64;
                    run.write(give + i, theirs.start, operands.input, (from, theirs.len()));
                }
                run.publish(give + i);
            }
            for i in 0..row {
                let (at, len) = pieces.part(first + i);
                let mine = share_of(me, size, len, element);
                run.wait_for_all(give + i)?;
                run.wake_all();
                run.room(share + i)?;
                run.combine_share((give + i, share + i), operands, (at, mine), gets(me));
                run.publish(share + i);
                if let Some(root) = root.filter(|&root| root != me) {
                    run.wake(root);
                }
                run.finish(give + i);
            }
            for i in 0..row {
                if gets(me) {
                    let (at, len) = pieces.part(first + i);
                    run.wait_for_all(share + i)?;
                    run.wake_all();
                    for other in (me + 1..size).chain(0..me) {
                        let theirs = share_of(other, size, len, element);
                        let place = (at + theirs.start as u64, theirs.len());
                        run.read((other, share + i, theirs.start), operands.output, place);
                    }
                }
                run.finish(share + i);
            }
            first += row;
        }
        Ok(())
    }
}

impl<D: Driver> Run<'_, D> {
    /// Combines this rank's share `mine` of the piece at byte `at` from what all gave in one step,
    /// and writes it into the other one; to the output as well, if this rank gets it.
    fn combine_share(
        &mut self,
        (give, share): (u64, u64),
        operands: Operands<'_>,
        (at, mine): (u64, Range<usize>),
        gets: bool,
    ) {
        let longest = ROOM / operands.element * operands.element;
        for start in mine.clone().step_by(longest) {
            let len = longest.min(mine.end - start);
            let own = contiguous(operands.input, at + start as u64, len);
            let into = if gets {
                contiguous(operands.output, at + start as u64, len)
            } else {
                self.team.rooms[RESULT].bytes(len)
            };
            self.combine_piece((give, |_| start), own, into);
            self.write(share, start, &into, (0, len));
        }
    }
}

/// The share of `rank` of `size` in a piece of `len` bytes, between elements of `element` bytes.
fn share_of(rank: usize, size: usize, len: usize, element: usize) -> Range<usize> {
    let elements = len / element;
    let start = |rank: usize| elements * rank / size * element;
    start(rank)..start(rank + 1)
}

#[cfg(test)]
mod tests {
    use super::share_of;

    #[test]
    fn shares_cover_a_piece() {
        for (size, len, element) in [(3, 16384, 8), (7, 16380, 12), (5, 24, 24), (64, 4096, 1)] {
            let mut end = 0;
            for rank in 0..size {
                let share = share_of(rank, size, len, element);
                assert_eq!(share.start, end);
                assert!(share.len().is_multiple_of(element));
                end = share.end;
            }
            assert_eq!(end, len);
        }
    }
}
