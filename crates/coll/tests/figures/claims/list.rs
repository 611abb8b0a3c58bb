//! The claims: what is compared with what, on which simulated machines, and by which factor ours must be
//! faster.

use oxmpi_coll::catalog::{Algorithm, Collective};
use oxmpi_coll::sim::{Classical, Order};

/// What is simulated.
#[derive(Clone, Copy)]
pub(crate) enum Contender {
    /// An algorithm of the catalog and its radix; 0 stands for its default.
    Plan(Algorithm, u32),
    /// What a job chooses.
    Chosen(Collective),
    /// What other libraries do by default.
    Classical(Classical),
}

/// Which side signals by flags in shared memory instead of messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flags {
    None,
    Ours,
    Both,
}

/// A comparison of one of our algorithms with another library's default.
pub(crate) struct Claim {
    pub(crate) title: &'static str,
    /// What the simulation leaves out, in one line.
    pub(crate) left_out: &'static str,
    pub(crate) ours: Contender,
    /// `None` where the claim states our time only.
    pub(crate) theirs: Option<Contender>,
    pub(crate) cells: &'static [ClaimCell],
}

/// A simulated configuration.
#[derive(Clone, Copy)]
pub(crate) struct ClaimCell {
    pub(crate) machine: &'static str,
    pub(crate) order: Order,
    pub(crate) ranks: u32,
    pub(crate) bytes: u64,
    /// The nanoseconds of matching per entry of a queue.
    pub(crate) match_ns: u64,
    pub(crate) flags: Flags,
    /// Whether it is also simulated with ranks that copy messages from their own node one after another.
    pub(crate) one_by_one: bool,
    /// The least factor by which ours is faster; `None` where the cell only shows how the model affects
    /// the claim.
    pub(crate) goal: Option<f64>,
}

const GEMINI: ClaimCell = ClaimCell {
    machine: "gemini",
    order: Order::Block,
    ranks: 12_000,
    bytes: 8,
    match_ns: 0,
    flags: Flags::None,
    one_by_one: true,
    goal: None,
};

const BARRIER: ClaimCell = ClaimCell {
    ranks: 12_288,
    bytes: 0,
    ..GEMINI
};

const SLINGSHOT: ClaimCell = ClaimCell {
    machine: "slingshot",
    ..BARRIER
};

/// 1,024 ranks, for scatterv and for rings in block placement.
const THOUSAND: ClaimCell = ClaimCell {
    ranks: 1_024,
    ..GEMINI
};

const CYCLIC: ClaimCell = ClaimCell {
    order: Order::Cyclic,
    ranks: 512,
    ..GEMINI
};

const ALLTOALL: ClaimCell = ClaimCell {
    ranks: 10_000,
    ..GEMINI
};

/// Simulated once only: that takes seconds.
const MANY: ClaimCell = ClaimCell {
    ranks: 700_000,
    one_by_one: false,
    ..GEMINI
};

impl ClaimCell {
    /// The cell with other bytes and another goal.
    const fn of(self, bytes: u64, goal: f64) -> Self {
        ClaimCell {
            bytes,
            goal: Some(goal),
            ..self
        }
    }

    const fn flags(self, flags: Flags) -> Self {
        ClaimCell { flags, ..self }
    }
}

const GATHERV: Claim = Claim {
    title: "gatherv: k-nomial tree against linear",
    left_out: "the cost of posting all receives at once, and messages refused for lack of memory; both would \
               make theirs slower.",
    ours: Contender::Plan(Algorithm::GathervKnomial, 4),
    theirs: Some(Contender::Classical(Classical::Gatherv)),
    cells: &[
        GEMINI.of(8, 95.0),
        ClaimCell {
            match_ns: 1,
            ..GEMINI.of(8, 500.0)
        },
    ],
};

const BARRIERS: Claim = Claim {
    title: "barrier: leaders and flags against dissemination with matching",
    left_out: "system noise, which delays rounds, and the cost of polling for a flag.",
    ours: Contender::Plan(Algorithm::BarrierNodeAware, 6),
    theirs: Some(Contender::Plan(Algorithm::BarrierDissemination, 2)),
    cells: &[
        BARRIER.flags(Flags::Ours).of(0, 2.0),
        BARRIER.flags(Flags::Both),
        BARRIER,
        SLINGSHOT.flags(Flags::Ours).of(0, 2.0),
        SLINGSHOT.flags(Flags::Both),
        SLINGSHOT,
    ],
};

const SHORT_ALLGATHER: Claim = Claim {
    title: "allgather: Bruck in rails against the ring, the default for large totals",
    left_out: "the bandwidth of a node's memory, into which all ranks copy data of the network at the same time.",
    ours: Contender::Plan(Algorithm::AllgatherRailBruck, 3),
    theirs: Some(Contender::Plan(Algorithm::AllgatherRing, 0)),
    cells: &[GEMINI.of(8, 100.0)],
};

/// The last of four nodes lacks a rank.
const NOT_FULL: ClaimCell = ClaimCell {
    ranks: 63,
    ..GEMINI
};

const REDUCE_SCATTER: Claim = Claim {
    title: "reduce_scatter on nodes that are not full",
    left_out: "the bandwidth of a node's memory, into which all ranks copy data of the network at the same time.",
    ours: Contender::Chosen(Collective::ReduceScatter),
    theirs: Some(Contender::Plan(Algorithm::ReduceScatterCirculant, 0)),
    cells: &[NOT_FULL.of(512, 2.4)],
};

const MANY_LEFT_OUT: &str =
    "connection set-up, and system noise, which grows with the number of ranks.";

pub(crate) const CLAIMS: [Claim; 12] = [
    GATHERV,
    Claim {
        title: "scatterv: k-nomial tree against linear",
        left_out: "messages refused for lack of memory. A rank's own copies cost a quarter of a byte from \
                   another rank; at the full cost ours is 23 times faster.",
        ours: Contender::Plan(Algorithm::ScattervKnomial, 4),
        theirs: Some(Contender::Classical(Classical::Scatterv)),
        cells: &[THOUSAND.of(8, 30.0)],
    },
    BARRIERS,
    Claim {
        title: "allgather: rings in rails against one ring",
        left_out: "the bandwidth of a node's memory, into which all ranks copy data of the network at the same time.",
        ours: Contender::Plan(Algorithm::AllgatherRailRing, 0),
        theirs: Some(Contender::Plan(Algorithm::AllgatherRing, 0)),
        cells: &[
            THOUSAND.of(4 << 10, 1.25),
            THOUSAND.of(32 << 10, 1.25),
            THOUSAND.of(500_000, 1.25),
            CYCLIC.of(4 << 10, 6.0),
            CYCLIC.of(32 << 10, 6.0),
            CYCLIC.of(500_000, 6.0),
        ],
    },
    SHORT_ALLGATHER,
    Claim {
        title: "allgather: Bruck in rails against Bruck, which MPICH does not use at such totals",
        theirs: Some(Contender::Plan(Algorithm::AllgatherBruck, 2)),
        cells: &[GEMINI],
        ..SHORT_ALLGATHER
    },
    Claim {
        title: "alltoall: one message per pair of nodes against Bruck",
        left_out: "the bandwidth of a node's memory, in which ours moves a block up to two times more.",
        ours: Contender::Plan(Algorithm::AlltoallNodeAware, 0),
        theirs: Some(Contender::Plan(Algorithm::AlltoallBruck, 2)),
        cells: &[
            ALLTOALL.of(8, 4.0),
            ALLTOALL.of(64, 4.0),
            ALLTOALL.of(256, 4.0),
            ALLTOALL.of(1024, 4.0),
        ],
    },
    Claim {
        title: "allreduce on nodes that are not full",
        ours: Contender::Chosen(Collective::Allreduce),
        theirs: Some(Contender::Plan(Algorithm::AllreduceRabenseifner, 0)),
        cells: &[NOT_FULL.of(64 << 10, 1.6)],
        ..REDUCE_SCATTER
    },
    REDUCE_SCATTER,
    Claim {
        title: "barrier of 700,000 ranks",
        left_out: MANY_LEFT_OUT,
        ours: Contender::Plan(Algorithm::BarrierNodeAware, 4),
        cells: &[ClaimCell {
            bytes: 0,
            ..MANY.flags(Flags::Ours)
        }],
        ..BARRIERS
    },
    Claim {
        title: "gatherv of 700,000 ranks",
        left_out: MANY_LEFT_OUT,
        theirs: None,
        cells: &[MANY],
        ..GATHERV
    },
    Claim {
        title: "allreduce of 700,000 ranks",
        left_out: MANY_LEFT_OUT,
        ours: Contender::Plan(Algorithm::AllreduceRecursiveDoubling, 0),
        theirs: None,
        cells: &[MANY],
    },
];
