//! Allreduce around a ring: reduce-scatter, then allgather, each in `p - 1` rounds of one `p`-th of
//! the vector.
//!
//! `2 (p - 1)` rounds and `2 (p - 1) / p` vectors sent by each rank, which is the least volume
//! there is. A chunk is reduced in the order in which it passes the ranks, so the operation must
//! commute; it is reduced once only, so all ranks get the same bits. Patarasuk and Yuan, "Bandwidth
//! optimal all-reduce algorithms", 2009.
//!
//! A chunk may be cut into segments, each a message of its own. Then one segment is reduced while
//! the next one travels, and a segment that fits into a near cache is reduced there.

use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::circular::{Around, Circular, CircularActs, Placed, Spot};
use crate::plan::{Buf, Side, TAGS};
use crate::split::{Cut, longest};
use crate::window::Short;

/// The largest group that [`Ring`] takes: the steps of a larger one could not be counted.
pub const MAX_SIZE: u32 = 1 << 24;

/// The most segments of a chunk.
const MAX_SEGMENTS: u64 = 64;

/// One rank's part in ring allreduce.
pub type Ring = Placed<Rounds>;

/// What every rank does that asks ahead as far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    count: u64,
    /// The chunks, one for each rank.
    chunks: Cut,
    segments: u32,
    in_place: bool,
    short: Short,
    /// As in an [allgather](crate::allgather::Ring) around a ring.
    ahead: u32,
}

impl Ring {
    /// Messages carry at most a segment, unless that would make more than 64 of one chunk.
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let &Call {
            size,
            count,
            in_place,
            ..
        } = call;
        let segment = parameters.segment / call.element_bytes.max(1);
        let segments = longest(count, size)
            .div_ceil(segment.max(1))
            .clamp(1, MAX_SEGMENTS);
        let chunk = longest(longest(count, size), segments as u32);
        let rounds = Rounds {
            count,
            chunks: Cut::new(count, size),
            segments: segments as u32,
            in_place,
            short: Short::of(call),
            ahead: parameters.asks_ahead(Circle::of(call), chunk * call.element_bytes),
        };
        Placed::new(Circle::of(call), rounds)
    }
}

impl Rounds {
    /// Messages that a rank sends in each of the two phases.
    const fn messages(&self, size: u32) -> u32 {
        (size - 1) * self.segments
    }

    /// Steps of the reduce-scatter. Segmented, message `i` travels while message `i - 1` is
    /// reduced; a whole chunk must be reduced before it can travel on.
    const fn scatter_steps(&self, size: u32) -> u32 {
        if self.segments > 1 {
            self.messages(size) + 1
        } else {
            2 * self.messages(size)
        }
    }

    /// The segment of message `message` in `buf`, in the chunk that starts its way `behind` ranks
    /// below this one.
    fn segment(&self, buf: Buf, message: u32, behind: u32, around: &Around<'_>) -> Spot {
        let back = u64::from(behind) + u64::from(message / self.segments);
        let size = u64::from(around.size());
        let back = if back < size { back } else { back - size };
        let chunk = around.piece(buf, self.chunks, around.back(back as u32));
        match self.segments {
            1 => chunk,
            segments => chunk.cut(segments, message % segments),
        }
    }

    /// Where message `message` of the reduce-scatter arrives: where its result belongs or, in
    /// place, in scratch.
    fn room(&self, message: u32, around: &Around<'_>) -> Spot {
        let result = self.segment(Buf::Out, message, 1, around);
        if !self.in_place {
            return result;
        }
        let slot = u64::from(message % 2 * u32::from(self.segments > 1));
        Spot::fixed(Buf::Scratch, slot * self.longest_segment(), result.len())
    }

    fn longest_segment(&self) -> u64 {
        longest(self.chunks.longest(), self.segments)
    }

    /// Starts message `message` of the reduce-scatter.
    fn pass(&self, message: u32, around: &Around<'_>, acts: &mut CircularActs<'_>) {
        let first_round = message < self.segments;
        let buf = if first_round && !self.in_place {
            Buf::In
        } else {
            Buf::Out
        };
        let (room, segment) = (
            self.room(message, around),
            self.segment(buf, message, 0, around),
        );
        acts.exchange_of(self.short, (1, message % TAGS), room, segment);
    }

    /// Reduces what message `message` of the reduce-scatter brought.
    fn merge(&self, message: u32, around: &Around<'_>, acts: &mut CircularActs<'_>) {
        let into = self.segment(Buf::Out, message, 1, around);
        let from = if self.in_place {
            self.room(message, around)
        } else {
            into.within(Buf::In)
        };
        acts.reduce(from, into, Side::Right);
    }

    fn reduce_scatter(&self, i: u32, around: &Around<'_>, acts: &mut CircularActs<'_>) {
        if self.segments == 1 {
            return if i.is_multiple_of(2) {
                self.pass(i / 2, around, acts)
            } else {
                self.merge(i / 2, around, acts)
            };
        }
        if i < self.messages(around.size()) {
            self.pass(i, around, acts);
        }
        if let Some(arrived) = i.checked_sub(1) {
            self.merge(arrived, around, acts);
        }
    }

    /// Step `i` of the allgather, and how many steps of it that needs: a segment is passed on when
    /// it has come.
    fn allgather(&self, i: u32, around: &Around<'_>, acts: &mut CircularActs<'_>) -> u32 {
        // After the reduce-scatter this rank has the chunk of the rank above it.
        let mine = around.size() - 1;
        let sent = i.checked_sub(self.ahead);
        if let Some(sent) = sent {
            let from = self.segment(Buf::Out, sent, mine, around);
            acts.send(1, sent % TAGS, from);
        }
        if i < self.messages(around.size()) {
            acts.recv(1, i % TAGS, self.segment(Buf::Out, i, 0, around));
        }
        sent.map_or(0, |sent| (sent + 1).saturating_sub(self.segments))
    }
}

impl Circular for Rounds {
    fn steps(&self, size: u32) -> u32 {
        match size {
            _ if self.count == 0 => 0,
            1 => 1,
            _ => self.scatter_steps(size) + self.messages(size) + self.ahead,
        }
    }

    fn scratch(&self, around: &Around<'_>) -> u64 {
        let slots = if self.segments > 1 { 2 } else { 1 };
        if self.in_place && around.size() > 1 {
            slots * self.longest_segment()
        } else {
            0
        }
    }

    fn step(&self, i: u32, around: &Around<'_>, acts: &mut CircularActs<'_>) -> u32 {
        let size = around.size();
        if size == 1 {
            if !self.in_place {
                let all = Spot::fixed(Buf::In, 0, self.count);
                acts.copy(all, all.within(Buf::Out));
            }
            return 0;
        }
        let Some(gather) = i.checked_sub(self.scatter_steps(size)) else {
            self.reduce_scatter(i, around, acts);
            return i;
        };
        self.scatter_steps(size) + self.allgather(gather, around, acts)
    }
}
