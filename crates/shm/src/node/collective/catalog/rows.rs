//! The rows of the catalog, those of a collective in the order in which they are asked.
//!
//! Figures are times relative to the other protocol of the row's group and length.

use super::super::call_kind::CallKind;
use super::{Decision, LengthLimit, Need, NodeProtocol, ProtocolRow};

/// Bytes of a block from which CMA may be faster on some processors: on Emerald Rapids two ranks took 0.55 of the time for a
/// broadcast of 64 KiB, sixteen 0.36 for a scatter. Where it is slower (three times on Zen 4 processors that share a cache)
/// trials find out. Shorter blocks gain little.
pub(in super::super) const CMA_FROM: u64 = 64 << 10;

/// The greatest number of ranks.
const ANY: u32 = u32::MAX;

/// A row for any call that the table gives it.
const fn row(protocol: NodeProtocol) -> ProtocolRow {
    ProtocolRow {
        protocol,
        from: 0,
        limit: LengthLimit::None,
        ranks: (2, ANY),
        needs: &[],
        decision: Decision::Table,
    }
}

/// Short calls: what a rank writes in a step fits one cache line.
const SLOTS: ProtocolRow = ProtocolRow {
    limit: LengthLimit::Slot,
    ..row(NodeProtocol::Slots)
};

/// All vectors of two ranks, or of any number of ranks where each vector has one reader.
const PING_PONG: ProtocolRow = row(NodeProtocol::PingPong);
const PING_PONG_OF_TWO: ProtocolRow = ProtocolRow {
    ranks: (2, 2),
    ..PING_PONG
};

/// Vectors that all send to a root, as far as the buffers of a pair hold them.
const PING_PONG_TO_ROOT: ProtocolRow = ProtocolRow {
    ranks: (3, ANY),
    limit: LengthLimit::PairBuffers,
    ..PING_PONG
};

/// Vectors that all others read, of more than two ranks.
const BOUNCE: ProtocolRow = ProtocolRow {
    ranks: (3, ANY),
    ..row(NodeProtocol::Bounce)
};

/// Long blocks that are not combined.
const CMA: ProtocolRow = ProtocolRow {
    from: CMA_FROM,
    needs: &[Need::Cma],
    decision: Decision::Trials,
    ..row(NodeProtocol::Cma)
};

/// With more than two ranks all would read the root's memory page by page: four took 1.6 times the time on Emerald Rapids,
/// sixteen six times.
const CMA_OF_TWO: ProtocolRow = ProtocolRow {
    ranks: (2, 2),
    ..CMA
};

/// In place others would read what has been written over.
const CMA_APART: ProtocolRow = ProtocolRow {
    needs: &[Need::Cma, Need::Apart],
    ..CMA
};

/// On Cascade Lake eight ranks on two processors took three quarters of the time for blocks of 128 KiB, four the same.
const CMA_COMBINED: ProtocolRow = ProtocolRow {
    ranks: (3, ANY),
    ..CMA_APART
};

/// Messages reduce long vectors of two ranks: an allreduce of 256 KiB took 0.85 of the time, of 1 MiB 0.6 (Zen 4). Messages
/// of more ranks combine in another order for each length, and save little.
const MESSAGES: ProtocolRow = ProtocolRow {
    from: 256 << 10,
    ranks: (2, 2),
    ..row(NodeProtocol::Messages)
};

/// Each rank combines its share, of more than two ranks: that costs a step and a copy of a share.
const SHARES: ProtocolRow = ProtocolRow {
    from: 8 << 10,
    ranks: (3, ANY),
    ..row(NodeProtocol::Shares)
};

/// Among at most four ranks each writes its result for every other one separately, in the caches of two. Among more that
/// many copies cost more than lines that others have read: 1 MiB on two near Zen 4 processors took four ranks 0.85 of the
/// time so, eight 1.3 times.
const SHARES_OF_FEW: ProtocolRow = ProtocolRow {
    ranks: (3, 4),
    ..SHARES
};
const SHARES_BOUNCE: ProtocolRow = ProtocolRow {
    protocol: NodeProtocol::SharesBounce,
    ranks: (5, ANY),
    ..SHARES
};

/// Where ranks share processors, only the sum of each processor's ranks crosses to the others.
const HIERARCHICAL: ProtocolRow = ProtocolRow {
    from: 128 << 10,
    ranks: (4, ANY),
    needs: &[Need::EvenProcessors],
    ..row(NodeProtocol::Hierarchical)
};

const BCAST: &[ProtocolRow] = &[CMA_OF_TWO, SLOTS, PING_PONG_OF_TWO, BOUNCE];
const SCATTER: &[ProtocolRow] = &[CMA, SLOTS, PING_PONG];
const GATHER: &[ProtocolRow] = &[CMA, SLOTS, PING_PONG_OF_TWO, PING_PONG_TO_ROOT, BOUNCE];
const ALLGATHER: &[ProtocolRow] = &[CMA, SLOTS, PING_PONG_OF_TWO, BOUNCE];
const ALLTOALL: &[ProtocolRow] = &[CMA_APART, SLOTS, PING_PONG];
const REDUCE: &[ProtocolRow] = &[
    MESSAGES,
    SHARES,
    SLOTS,
    PING_PONG_OF_TWO,
    PING_PONG_TO_ROOT,
    BOUNCE,
];
const ALLREDUCE: &[ProtocolRow] = &[
    MESSAGES,
    HIERARCHICAL,
    SHARES_OF_FEW,
    SHARES_BOUNCE,
    SLOTS,
    PING_PONG_OF_TWO,
    BOUNCE,
];
const REDUCE_SCATTER: &[ProtocolRow] = &[MESSAGES, CMA_COMBINED, SLOTS, PING_PONG];
const BARRIER: &[ProtocolRow] = &[SLOTS];

impl CallKind {
    /// The protocols of the collective, in the order in which they are asked; the last one serves every call.
    #[must_use]
    pub const fn rows(self) -> &'static [ProtocolRow] {
        match self {
            Self::Bcast => BCAST,
            Self::Scatter => SCATTER,
            Self::Gather => GATHER,
            Self::Allgather => ALLGATHER,
            Self::Alltoall => ALLTOALL,
            Self::Reduce => REDUCE,
            Self::Allreduce => ALLREDUCE,
            Self::ReduceScatter => REDUCE_SCATTER,
            Self::Barrier => BARRIER,
        }
    }
}

/// Whether messages should reduce `len` bytes of `ranks` ranks of a node; the same for all reductions.
pub(in super::super) const fn reduces_by_messages(ranks: usize, len: u64) -> bool {
    len >= MESSAGES.from && ranks <= MESSAGES.ranks.1 as usize
}
