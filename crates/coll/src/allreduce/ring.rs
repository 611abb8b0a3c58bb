//! Allreduce around a ring: reduce-scatter, then allgather, each in `p - 1` rounds of one `p`-th of
//! the vector, a chunk.
//!
//! `2 (p - 1)` rounds and `2 (p - 1) / p` vectors sent by each rank, the minimum volume. A chunk is reduced
//! in the order of the ranks that it passes, so the operation must commute; it is reduced once only, so all
//! ranks get the same bits. Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", 2009.
//!
//! A chunk may be cut into segments, each its own message. Then one segment is reduced while
//! the next one travels, and a segment that fits into a near cache is reduced there. Between nodes
//! an unsegmented chunk may go in pieces, as in a ring [allgather](crate::allgather::AllgatherRing).

use crate::call::{Call, Parameters};
use crate::eager::EagerLimit;
use crate::partition::{Partition, longest};
use crate::plan::{Buf, Side, TAGS};
use crate::rank_ring::RankRing;
use crate::ring_pieces::RingPieces;
use crate::symmetric::{AtRank, RelativeActs, RelativePart, RelativeView, SymmetricPlan};

/// The largest group that [`AllreduceRing`] takes: the steps of a larger one could not be counted.
pub(crate) const MAX_SIZE: u32 = 1 << 24;

/// The most segments of a chunk.
const MAX_SEGMENTS: u64 = 64;

/// One rank's plan for ring allreduce.
pub(crate) type AllreduceRing = AtRank<ChunkRounds>;

/// What all ranks do that post as many receives ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkRounds {
    count: u64,
    /// The chunks, one for each rank.
    chunks: Partition,
    /// The messages of a chunk: segments on every rank, or pieces between nodes.
    pieces: RingPieces,
    is_segmented: bool,
    in_place: bool,
    short: EagerLimit,
    /// Receives posted ahead, as in a ring [allgather](crate::allgather::AllgatherRing).
    ahead: u32,
}

impl AllreduceRing {
    /// Messages carry at most a segment, unless that would make more than 64 of one chunk.
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let (size, count, in_place) = (call.size, call.count, call.in_place);
        let ring = RankRing::of(call);
        let segment = parameters.segment / call.element_bytes.max(1);
        let segments = longest(count, size)
            .div_ceil(segment.max(1))
            .clamp(1, MAX_SEGMENTS) as u32;
        let bytes = longest(longest(count, size), segments) * call.element_bytes;
        let rounds = ChunkRounds {
            count,
            chunks: Partition::new(count, size),
            pieces: match segments {
                1 => RingPieces::of(ring, parameters, bytes),
                segments => RingPieces::all(segments),
            },
            is_segmented: segments > 1,
            in_place,
            short: EagerLimit::of(call),
            ahead: parameters.receives_ahead(ring, bytes),
        };
        AtRank::new(ring, rounds)
    }
}

impl ChunkRounds {
    /// The transfers, in which a rank sends a message, of each of the two phases.
    const fn transfers(&self, size: u32) -> u32 {
        (size - 1) * self.pieces.number
    }

    /// Steps of the reduce-scatter. A segment received in transfer `i` travels while that of transfer `i - 1` is
    /// reduced; a whole chunk must be reduced before it can be forwarded.
    const fn scatter_steps(&self, size: u32) -> u32 {
        if self.is_segmented {
            self.transfers(size) + 1
        } else {
            self.transfers(size) + size - 1
        }
    }

    /// The chunk in `buf` that is sent in a transfer and starts `behind` ranks below this one.
    fn chunk(
        &self,
        buf: Buf,
        transfer: u32,
        behind: u32,
        around: &RelativeView<'_>,
    ) -> RelativePart {
        let back = u64::from(behind) + u64::from(transfer / self.pieces.number);
        let size = u64::from(around.size());
        let back = if back < size { back } else { back - size };
        around.piece(buf, self.chunks, around.back(back as u32))
    }

    /// Where the message of a transfer of the reduce-scatter is received: at the place of its result or, in
    /// place, in scratch.
    fn room(&self, transfer: u32, around: &RelativeView<'_>) -> RelativePart {
        let chunk = self.chunk(Buf::Out, transfer, 1, around);
        let result = self.pieces.incoming(transfer, chunk);
        match (self.in_place, self.is_segmented) {
            (false, _) => result,
            (true, false) => {
                let whole = RelativePart::fixed(Buf::Scratch, 0, chunk.len());
                self.pieces.incoming(transfer, whole)
            }
            (true, true) => {
                let slot = u64::from(transfer % 2);
                RelativePart::fixed(Buf::Scratch, slot * self.longest_segment(), result.len())
            }
        }
    }

    fn longest_segment(&self) -> u64 {
        longest(self.chunks.longest(), self.pieces.number)
    }

    /// The tag of the message of a transfer: the pieces of a chunk share one, because two neighbours may exchange
    /// it in different transfers.
    const fn tag(&self, transfer: u32) -> u32 {
        match self.is_segmented {
            true => transfer % TAGS,
            false => transfer / self.pieces.number % TAGS,
        }
    }

    /// Starts the messages of a transfer of the reduce-scatter.
    fn pass(&self, transfer: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) {
        let first_round = transfer < self.pieces.number;
        let buf = if first_round && !self.in_place {
            Buf::In
        } else {
            Buf::Out
        };
        let sent = self
            .pieces
            .outgoing(transfer, self.chunk(buf, transfer, 0, around));
        let room = self.room(transfer, around);
        acts.exchange_of(self.short, (1, self.tag(transfer)), room, sent);
    }

    /// Reduces a received message: its place and the place of its result.
    fn merge(&self, room: RelativePart, result: RelativePart, acts: &mut RelativeActs<'_>) {
        let from = if self.in_place {
            room
        } else {
            result.within(Buf::In)
        };
        acts.reduce(from, result, Side::Right);
    }

    /// Step `i` of the reduce-scatter of segments.
    fn segmented(&self, i: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) {
        if i < self.transfers(around.size()) {
            self.pass(i, around, acts);
        }
        if let Some(came) = i.checked_sub(1) {
            let chunk = self.chunk(Buf::Out, came, 1, around);
            let result = self.pieces.incoming(came, chunk);
            self.merge(self.room(came, around), result, acts);
        }
    }

    /// Step `i` of the reduce-scatter, and the steps that it needs: pieces of a chunk travel at the same
    /// time, and are reduced together when all have arrived.
    fn reduce_scatter(
        &self,
        i: u32,
        around: &RelativeView<'_>,
        acts: &mut RelativeActs<'_>,
    ) -> u32 {
        let pieces = self.pieces.number;
        if self.is_segmented {
            self.segmented(i, around, acts);
            return i;
        }
        let (round, piece) = (i / (pieces + 1), i % (pieces + 1));
        let first = round * pieces;
        if piece < pieces {
            self.pass(first + piece, around, acts);
            return i - piece;
        }
        let chunk = self.chunk(Buf::Out, first, 1, around);
        let room = RelativePart::fixed(Buf::Scratch, 0, chunk.len());
        self.merge(room, chunk, acts);
        i
    }

    /// Step `i` of the allgather, and the steps of it that it needs: a message is forwarded when it has
    /// arrived.
    fn allgather(&self, i: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) -> u32 {
        // After the reduce-scatter this rank has the chunk of the rank above it.
        let mine = around.size() - 1;
        let sent = i.checked_sub(self.ahead);
        if let Some(sent) = sent {
            let chunk = self.chunk(Buf::Out, sent, mine, around);
            acts.send(1, self.tag(sent), self.pieces.outgoing(sent, chunk));
        }
        if i < self.transfers(around.size()) {
            let chunk = self.chunk(Buf::Out, i, 0, around);
            acts.recv(1, self.tag(i), self.pieces.incoming(i, chunk));
        }
        self.pieces.behind(sent.unwrap_or(0))
    }
}

impl SymmetricPlan for ChunkRounds {
    fn steps(&self, size: u32) -> u32 {
        match size {
            _ if self.count == 0 => 0,
            1 => 1,
            _ => self.scatter_steps(size) + self.transfers(size) + self.ahead,
        }
    }

    fn scratch(&self, around: &RelativeView<'_>) -> u64 {
        match (self.in_place && around.size() > 1, self.is_segmented) {
            (false, _) => 0,
            (true, false) => self.chunks.longest(),
            (true, true) => 2 * self.longest_segment(),
        }
    }

    fn step(&self, i: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) -> u32 {
        let size = around.size();
        if size == 1 {
            if !self.in_place {
                let all = RelativePart::fixed(Buf::In, 0, self.count);
                acts.copy(all, all.within(Buf::Out));
            }
            return 0;
        }
        let Some(gather) = i.checked_sub(self.scatter_steps(size)) else {
            return self.reduce_scatter(i, around, acts);
        };
        self.scatter_steps(size) + self.allgather(gather, around, acts)
    }
}
