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
use crate::plan::{Acts, Buf, Known, Part, Plan, Side, TAGS};
use crate::split::{Cut, longest, piece};

/// The largest group that [`Ring`] takes: the steps of a larger one could not be counted.
pub const MAX_SIZE: u32 = 1 << 24;

/// The most segments of a chunk.
const MAX_SEGMENTS: u64 = 64;

/// One rank's part in ring allreduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    rank: u32,
    size: u32,
    count: u64,
    /// The chunks, one for each rank.
    chunks: Cut,
    segments: u32,
    in_place: bool,
}

impl Ring {
    /// Messages carry at most a segment, unless that would make more than 64 of one chunk.
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let &Call {
            rank,
            size,
            count,
            in_place,
            ..
        } = call;
        let segment = parameters.segment / call.element_bytes.max(1);
        let segments = longest(count, size)
            .div_ceil(segment.max(1))
            .clamp(1, MAX_SEGMENTS);
        Ring {
            rank,
            size,
            count,
            chunks: Cut::new(count, size),
            segments: segments as u32,
            in_place,
        }
    }

    /// Messages that a rank sends in each of the two phases.
    fn messages(&self) -> u32 {
        (self.size - 1) * self.segments
    }

    /// Steps of the reduce-scatter. Segmented, message `i` travels while message `i - 1` is
    /// reduced; a whole chunk must be reduced before it can travel on.
    fn scatter_steps(&self) -> u32 {
        if self.segments > 1 {
            self.messages() + 1
        } else {
            2 * self.messages()
        }
    }

    /// The segment of message `message` in `buf`, in the chunk that starts its way `behind` ranks
    /// below this one.
    fn segment(&self, buf: Buf, message: u32, behind: u32) -> Part {
        let back = self.wrap(u64::from(behind) + u64::from(message / self.segments));
        let chunk = self.wrap(u64::from(self.rank) + u64::from(self.size - back));
        let (first, count) = self.chunks.piece(chunk);
        let (first, count) = match self.segments {
            1 => (first, count),
            segments => piece(first, count, segments, message % segments),
        };
        Part::new(buf, first, count)
    }

    /// The rank that a number below twice the size stands for, counted around the ring.
    const fn wrap(&self, rank: u64) -> u32 {
        let size = self.size as u64;
        (if rank < size { rank } else { rank - size }) as u32
    }

    /// Where message `message` of the reduce-scatter arrives: where its result belongs or, in
    /// place, in scratch.
    fn room(&self, message: u32) -> Part {
        let result = self.segment(Buf::Out, message, 1);
        if !self.in_place {
            return result;
        }
        let slot = u64::from(message % 2 * u32::from(self.segments > 1));
        Part::new(Buf::Scratch, slot * self.longest_segment(), result.count)
    }

    fn longest_segment(&self) -> u64 {
        longest(self.chunks.longest(), self.segments)
    }

    /// Starts message `message` of the reduce-scatter.
    fn pass(&self, message: u32, acts: &mut Acts) {
        let first_round = message < self.segments;
        let buf = if first_round && !self.in_place {
            Buf::In
        } else {
            Buf::Out
        };
        self.exchange(
            message,
            self.room(message),
            self.segment(buf, message, 0),
            acts,
        );
    }

    /// Reduces what message `message` of the reduce-scatter brought.
    fn merge(&self, message: u32, acts: &mut Acts) {
        let into = self.segment(Buf::Out, message, 1);
        let from = if self.in_place {
            self.room(message)
        } else {
            Part {
                buf: Buf::In,
                ..into
            }
        };
        if !into.is_empty() {
            acts.reduce(from, into, Side::Right);
        }
    }

    /// One message from the rank below and one to the rank above; an empty one is not sent.
    fn exchange(&self, message: u32, into: Part, from: Part, acts: &mut Acts) {
        let tag = message % TAGS;
        let last = self.size - 1;
        let below = if self.rank == 0 { last } else { self.rank - 1 };
        let above = if self.rank == last { 0 } else { self.rank + 1 };
        if !into.is_empty() {
            acts.recv(below, tag, into);
        }
        if !from.is_empty() {
            acts.send(above, tag, from);
        }
    }

    fn reduce_scatter(&self, i: u32, acts: &mut Acts) {
        if self.segments == 1 {
            return if i.is_multiple_of(2) {
                self.pass(i / 2, acts)
            } else {
                self.merge(i / 2, acts)
            };
        }
        if i < self.messages() {
            self.pass(i, acts);
        }
        if let Some(arrived) = i.checked_sub(1) {
            self.merge(arrived, acts);
        }
    }

    /// Step `i` of the allgather, and how many steps of it that needs: a segment is passed on when
    /// it has come.
    fn allgather(&self, i: u32, acts: &mut Acts) -> u32 {
        // After the reduce-scatter this rank has the chunk of the rank above it.
        let mine = self.size - 1;
        self.exchange(
            i,
            self.segment(Buf::Out, i, 0),
            self.segment(Buf::Out, i, mine),
            acts,
        );
        (i + 1).saturating_sub(self.segments)
    }
}

impl Plan for Ring {
    fn steps(&self) -> u32 {
        match self.size {
            _ if self.count == 0 => 0,
            1 => 1,
            _ => self.scatter_steps() + self.messages(),
        }
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        let slots = if self.segments > 1 { 2 } else { 1 };
        if self.in_place && self.size > 1 {
            slots * self.longest_segment()
        } else {
            0
        }
    }

    fn step(&self, i: u32, _: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        if self.size == 1 {
            if !self.in_place {
                acts.copy(
                    Part::new(Buf::In, 0, self.count),
                    Part::new(Buf::Out, 0, self.count),
                );
            }
            return Some(0);
        }
        let Some(gather) = i.checked_sub(self.scatter_steps()) else {
            self.reduce_scatter(i, acts);
            return Some(i);
        };
        Some(self.scatter_steps() + self.allgather(gather, acts))
    }
}
