//! Long reductions of more than two ranks: each rank combines its share of every piece, and sends the result
//! to the others.

use oxmpi_resumable::resumable;
use std::ops::Range;

use super::call_kind::CallKind;
use super::catalog::NodeProtocol;
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::operands::{Operands, contiguous};
use super::pieces::{PayloadPath, Pieces, share_of};
use super::run::CollectiveRun;
use super::scratch::{RESULT, SCRATCH_LEN};
use crate::segment::arena::LONG_PIECE;

/// Pieces that go through each half of the way together: a rank that shares its processor yields once for so
/// many. Twice as many steps fit the ring.
const PIECES_IN_A_RUN: u64 = 8;

#[resumable]
impl NodeGroup {
    /// [`NodeGroup::reduce`] with a root, else [`NodeGroup::allreduce`]. Results of all go where `protocol` says.
    ///
    /// # Errors
    /// When a rank never arrives.
    pub(super) async fn reduce_by_shares<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (protocol, root): (NodeProtocol, Option<usize>),
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        let (me, size, len) = (self.me, self.size(), operands.len);
        let gets = |rank: usize| root.is_none_or(|root| root == rank);
        let (kind, number) = match root {
            Some(root) => (CallKind::Reduce, root),
            None => (CallKind::Allreduce, 0),
        };
        #[cfg(test)]
        super::record::note(protocol.name());
        let element = operands.element;
        let pieces = Pieces::in_shares(
            len,
            size,
            (
                self.pair_buffers.buffer_len,
                self.buffer_len.min(LONG_PIECE),
            ),
            element,
        );
        // Buffers that are written before any is read are held by their writer, of as many as each of two
        // ranks has.
        let count = self.pair_buffers.count as u64;
        let (results, most) = match (protocol, root) {
            (NodeProtocol::SharesBounce, _) => (PayloadPath::Bounce, count),
            (_, None) => (PayloadPath::PingPong, count / 2),
            (_, Some(_)) => (PayloadPath::PingPong, 2 * count / 3),
        };
        let longest = PIECES_IN_A_RUN.min(most);
        let call = (kind, number, len);
        let mut run = CollectiveRun::new(self, driver, call, PayloadPath::PingPong);
        let mut first = 0;
        while first < pieces.steps() {
            let run_len = longest.min(pieces.steps() - first);
            let (give, share) = (2 * first, 2 * first + run_len);
            let all_give_results = root.is_none() && results == PayloadPath::PingPong;
            run.begin_exchange(if all_give_results {
                2 * run_len
            } else {
                run_len
            });
            for i in 0..run_len {
                let (at, len) = pieces.part(first + i);
                run.wait_until_free(give + i).await?;
                run.all_write_in_exchange(give + i);
                for reader in (0..size).filter(|&reader| reader != me) {
                    let theirs = share_of(reader, size, len, element);
                    let part = (at + theirs.start as u64, theirs.len());
                    run.write_to((reader, 0), give + i, operands.input, part);
                }
                run.publish(give + i);
            }
            for i in 0..run_len {
                let (at, len) = pieces.part(first + i);
                let mine = share_of(me, size, len, element);
                run.wait_for_all(give + i).await?;
                run.wake_all();
                run.wait_until_free(share + i).await?;
                match root {
                    None if all_give_results => run.all_write_in_exchange(share + i),
                    None => {}
                    Some(root) => run.others_write_in_exchange(share + i, root),
                }
                let steps = (give + i, share + i);
                run.combine_share(steps, operands, (at, mine), (root, results));
                run.publish(share + i);
                if let Some(root) = root.filter(|&root| root != me) {
                    run.wake(root);
                }
                run.finish(give + i);
            }
            run.end_exchange();
            run.set_path(results);
            for i in 0..run_len {
                if gets(me) {
                    let (at, len) = pieces.part(first + i);
                    run.wait_for_all(share + i).await?;
                    run.wake_all();
                    for other in (me + 1..size).chain(0..me) {
                        let theirs = share_of(other, size, len, element);
                        let place = (at + theirs.start as u64, theirs.len());
                        run.read((other, share + i, 0), operands.output, place);
                    }
                }
                run.finish(share + i);
            }
            run.set_path(PayloadPath::PingPong);
            first += run_len;
        }
        Ok(())
    }
}

impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    /// Combines this rank's share `mine` of the piece at byte `at` from what all sent in step `give`, and
    /// writes it in step `share` for the root, or for all others; to the output as well, if this rank gets
    /// the result.
    fn combine_share(
        &mut self,
        (give, share): (u64, u64),
        operands: Operands<'_>,
        (at, mine): (u64, Range<usize>),
        (root, results): (Option<usize>, PayloadPath),
    ) {
        let (me, size) = (self.group.me, self.group.size());
        let longest = SCRATCH_LEN / operands.element * operands.element;
        for start in mine.clone().step_by(longest) {
            let (len, place) = (longest.min(mine.end - start), start - mine.start);
            let own = contiguous(operands.input, at + start as u64, len);
            let into = if root.is_none_or(|root| root == me) {
                contiguous(operands.output, at + start as u64, len)
            } else {
                self.group.scratch[RESULT].bytes(len)
            };
            self.combine_piece((give, |_| place), own, into);
            let readers = match root {
                Some(root) => root..root + 1,
                None if results == PayloadPath::PingPong => 0..size,
                // One reader stands for all.
                None => (me + 1) % size..(me + 1) % size + 1,
            };
            self.set_path(results);
            for reader in readers.filter(|&reader| reader != me) {
                self.write_to((reader, place), share, &into, (0, len));
            }
            self.set_path(PayloadPath::PingPong);
        }
    }
}
