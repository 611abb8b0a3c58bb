//! The ping-pong buffers of a rank with each other rank: [`PairBuffers`].
//!
//! Any two ranks of a group have buffers of their own, which both write
//! [alternately](super::ping_pong_schedule): so their exchanges stay in few lines, which no third rank takes
//! away.

use std::boxed::Box;

use super::pieces::{LINE, vector_index};
use super::ping_pong_schedule::PingPongSchedule;
use crate::segment::PAGE;
use crate::segment::arena::{LONG_PIECE, PIECE};

/// The buffers of a rank with all others.
#[derive(Debug)]
pub(super) struct PairBuffers {
    me: usize,
    /// By other rank, in their order.
    pairs: Box<[Pair]>,
    /// Bytes of a buffer.
    pub(super) buffer_len: usize,
    /// Bytes from one buffer to the next.
    stride: usize,
    /// Buffers of each rank of a pair.
    pub(super) count: usize,
}

/// The sizes of the buffers of each pair of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairBufferSizes {
    /// Bytes of a rank's memory for the buffers of a pair.
    part: usize,
    buffer_len: usize,
    stride: usize,
    count: usize,
}

/// The buffers of two ranks.
#[derive(Debug)]
struct Pair {
    schedule: PingPongSchedule,
    /// The index of this rank in the pair: the lower rank is 0.
    index: usize,
    /// The ranks that own the memory of each half of the buffers.
    owners: [usize; 2],
    /// The first byte of each half, from the owner's first byte for ping-pong buffers.
    first: [usize; 2],
}

/// The place of a buffer that a rank writes for another one in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairBuffer {
    /// The rank that owns the memory.
    pub(super) owner: usize,
    /// Its first byte, from the owner's first byte for ping-pong buffers.
    pub(super) at: usize,
    /// Whether the writer has read the buffer last.
    pub(super) is_own: bool,
}

/// Unused bytes behind a buffer, up to a page: a processor that reads a buffer prefetches beyond its end,
/// where the peer may write the next one. 64 KiB to and fro on far Zen 4 processors took 7.2 us with a page
/// between buffers of 16 KiB, up to 8.8 without.
const fn gap(buffer_len: usize) -> usize {
    let gap = buffer_len / 4 / LINE * LINE;
    least(gap, PAGE)
}

const fn least(one: usize, other: usize) -> usize {
    if one < other { one } else { other }
}

const fn at_least_one(count: usize) -> usize {
    if count == 0 { 1 } else { count }
}

impl PairBufferSizes {
    /// The sizes among `ranks` ranks, each of which has `bytes` bytes for all its pairs.
    pub(super) const fn new(ranks: usize, bytes: usize) -> Self {
        let others = ranks - 1;
        let part = bytes / at_least_one(others) / LINE * LINE;
        // Two ranks have no other buffers. Of more ranks the buffers of all pairs together should stay in a
        // cache: with twice as many an alltoall of 1 MiB took 1.17 times the time (four ranks on two Zen 5
        // processors).
        let (longest, most) = match others {
            1 => (PIECE, PingPongSchedule::MAX_PER_RANK),
            _ => (LONG_PIECE, PingPongSchedule::MIN_PER_RANK),
        };
        let room = part / PingPongSchedule::MIN_PER_RANK / LINE * LINE;
        let stride = least(room, longest + gap(longest));
        let buffer_len = stride - least(gap(stride), gap(longest));
        let fitting = least(part / at_least_one(stride), most);
        let count = if fitting < PingPongSchedule::MIN_PER_RANK {
            PingPongSchedule::MIN_PER_RANK
        } else {
            fitting
        };
        Self {
            part,
            buffer_len,
            stride,
            count,
        }
    }

    /// The greatest length of a vector that the buffers of one rank of a pair hold at once, if each has at least half the
    /// bytes of a piece through bounce buffers of `bounce_len` bytes; else 0.
    pub(super) const fn longest_at_once(self, bounce_len: usize) -> u64 {
        match 2 * self.buffer_len >= least(bounce_len, LONG_PIECE) {
            true => (self.count * self.buffer_len) as u64,
            false => 0,
        }
    }
}

impl PairBuffers {
    /// The buffers of rank `me` of `ranks`, each of which has `bytes` bytes for them.
    pub(super) fn new(me: usize, ranks: usize, bytes: usize) -> Self {
        let sizes = PairBufferSizes::new(ranks, bytes);
        let PairBufferSizes {
            part,
            buffer_len,
            stride,
            count,
        } = sizes;
        let with = |other: usize| {
            let owners = [me.min(other), me.max(other)];
            let [low, high] = owners;
            Pair {
                schedule: PingPongSchedule::new(count),
                index: usize::from(me > other),
                owners,
                first: [
                    vector_index(low, high) * part,
                    vector_index(high, low) * part,
                ],
            }
        };
        Self {
            me,
            pairs: (0..ranks).filter(|&rank| rank != me).map(with).collect(),
            buffer_len,
            stride,
            count,
        }
    }

    fn with(&mut self, other: usize) -> &mut Pair {
        &mut self.pairs[vector_index(self.me, other)]
    }

    /// Enters `step`, in which only `writer` writes, for each other rank.
    pub(super) fn one_writes(&mut self, step: u64, writer: usize) {
        if writer != self.me {
            let pair = self.with(writer);
            return pair.schedule.one_writes(step, 1 - pair.index);
        }
        for pair in &mut self.pairs {
            pair.schedule.one_writes(step, pair.index);
        }
    }

    /// Enters `step`, in which all but `reader` write, for it.
    pub(super) fn others_write(&mut self, step: u64, reader: usize) {
        if reader != self.me {
            let pair = self.with(reader);
            return pair.schedule.one_writes(step, pair.index);
        }
        for pair in &mut self.pairs {
            pair.schedule.one_writes(step, 1 - pair.index);
        }
    }

    /// Begins an exchange of this rank and `other` of so many steps.
    pub(super) fn begin_exchange_with(&mut self, other: usize, steps: u64) {
        self.with(other).schedule.begin_exchange(steps);
    }

    /// Enters `step` of the exchange of this rank and `other`.
    pub(super) fn both_write_in_exchange(&mut self, step: u64, other: usize) {
        self.with(other).schedule.both_write_in_exchange(step);
    }

    /// Ends the exchange with `other`.
    pub(super) fn end_exchange_with(&mut self, other: usize) {
        self.with(other).schedule.end_exchange();
    }

    /// Enters `step` of an exchange, in which all but `reader` write, for it.
    pub(super) fn others_write_in_exchange(&mut self, step: u64, reader: usize) {
        if reader != self.me {
            let pair = self.with(reader);
            return pair.schedule.one_writes_in_exchange(step, pair.index);
        }
        for pair in &mut self.pairs {
            pair.schedule.one_writes_in_exchange(step, 1 - pair.index);
        }
    }

    /// Enters `step`, in which all ranks write for all others: an exchange of one step.
    pub(super) fn exchange_once(&mut self, step: u64) {
        for pair in &mut self.pairs {
            pair.schedule.exchange_once(step);
        }
    }

    /// Begins an exchange of all ranks of so many steps; before it reads a rank writes at most as many steps
    /// as each has [buffers](PairBuffers::count).
    pub(super) fn begin_exchange(&mut self, steps: u64) {
        for pair in &mut self.pairs {
            pair.schedule.begin_exchange(steps);
        }
    }

    /// Enters `step` of the exchange.
    pub(super) fn all_write_in_exchange(&mut self, step: u64) {
        for pair in &mut self.pairs {
            pair.schedule.both_write_in_exchange(step);
        }
    }

    /// Ends the exchange.
    pub(super) fn end_exchange(&mut self) {
        for pair in &mut self.pairs {
            pair.schedule.end_exchange();
        }
    }

    /// The buffer that `writer` writes for `reader` in `step`, one of the last
    /// [`SLOTS`](crate::segment::arena::SLOTS); one of the two is this rank.
    #[inline(always)]
    pub(super) fn place(&self, step: u64, (writer, reader): (usize, usize)) -> PairBuffer {
        let writes = writer == self.me;
        let other = if writes { reader } else { writer };
        let pair = &self.pairs[vector_index(self.me, other)];
        let buffer = pair
            .schedule
            .buffer(step, pair.index ^ usize::from(!writes));
        let (side, number) = pair.schedule.locate(buffer);
        PairBuffer {
            owner: pair.owners[side],
            at: pair.first[side] + number * self.stride,
            is_own: buffer.is_own,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::vec::Vec;

    use super::*;
    use crate::segment::arena;

    #[test]
    fn no_two_pairs_share_a_byte() {
        for (ranks, on_node) in [(2, 2), (2, 64), (3, 3), (4, 8), (8, 8), (5, 64), (64, 64)] {
            let bytes = arena::pair_buffers_len(on_node);
            let of = |me| PairBuffers::new(me, ranks, bytes);
            let mut all: Vec<_> = (0..ranks).map(of).collect();
            let pairs =
                (0..ranks).flat_map(|writer| (0..ranks).map(move |reader| (writer, reader)));
            let mut used = BTreeSet::new();
            for step in 1..=4 * arena::SLOTS as u64 {
                // From the first to all others, and all to all, so that each buffer is used.
                match step % 2 {
                    0 => all.iter_mut().for_each(|one| one.one_writes(step, 0)),
                    _ => all.iter_mut().for_each(|one| one.exchange_once(step)),
                }
                for (writer, reader) in pairs.clone().filter(|(writer, reader)| writer != reader) {
                    if step % 2 == 0 && writer != 0 {
                        continue;
                    }
                    let place = all[writer].place(step, (writer, reader));
                    assert_eq!(place, all[reader].place(step, (writer, reader)));
                    assert!(place.at + all[writer].buffer_len <= bytes && place.at % LINE == 0);
                    let both = [writer.min(reader), writer.max(reader)];
                    used.insert((place.owner, place.at, both));
                }
            }
            // Every buffer is always of the same pair, and ends before the next one.
            let mut before = None;
            for &(owner, at, _) in &used {
                if let Some((last, end)) = before {
                    assert!(last < owner || end <= at, "{ranks} ranks: {owner}, {at}");
                }
                before = Some((owner, at + all[0].buffer_len));
            }
        }
    }
}
