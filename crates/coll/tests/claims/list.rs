//! What is claimed, of whom, and on what it is simulated.

use oxmpi_coll::catalog::Algorithm;
use oxmpi_coll::sim::{Classical, Order};

/// What runs.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// An algorithm of the catalog, with a radix of its own unless it is 0.
    Plan(Algorithm, u32),
    /// What other libraries do.
    Classical(Classical),
}

/// Whose signals are flags.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flags {
    None,
    Ours,
    Both,
}

/// Ours against theirs, on what is simulated.
pub(crate) struct Claim {
    pub(crate) what: &'static str,
    /// What its numbers leave out, in one line.
    pub(crate) left_out: &'static str,
    pub(crate) ours: Run,
    /// None where the claim is what ours takes.
    pub(crate) theirs: Option<Run>,
    pub(crate) cells: &'static [Cell],
}

/// What a pair of numbers is simulated on.
#[derive(Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) machine: &'static str,
    pub(crate) order: Order,
    pub(crate) ranks: u32,
    pub(crate) bytes: u64,
    /// Nanoseconds for an entry of a queue.
    pub(crate) match_ns: u64,
    pub(crate) flags: Flags,
    /// Whether a rank copies what comes from its node one message after another.
    pub(crate) serial_copies: bool,
    /// By how much ours is faster at least; none where the cell only shows what the model does to a
    /// claim.
    pub(crate) goal: Option<f64>,
}

const GEMINI: Cell = Cell {
    machine: "gemini",
    order: Order::Block,
    ranks: 12_000,
    bytes: 8,
    match_ns: 0,
    flags: Flags::None,
    serial_copies: false,
    goal: None,
};

const BARRIER: Cell = Cell {
    ranks: 12_288,
    bytes: 0,
    ..GEMINI
};

const SLINGSHOT: Cell = Cell {
    machine: "slingshot",
    ..BARRIER
};

/// Of scatterv, and of rings in block placement.
const THOUSAND: Cell = Cell {
    ranks: 1_024,
    ..GEMINI
};

const CYCLIC: Cell = Cell {
    order: Order::Cyclic,
    ranks: 512,
    ..GEMINI
};

const ALLTOALL: Cell = Cell {
    ranks: 10_000,
    ..GEMINI
};

const MANY: Cell = Cell {
    ranks: 700_000,
    ..GEMINI
};

impl Cell {
    /// Other bytes, where ours is to be so many times faster.
    const fn of(self, bytes: u64, goal: f64) -> Self {
        Cell {
            bytes,
            goal: Some(goal),
            ..self
        }
    }

    /// Other bytes, where a rank copies one message after another.
    const fn serial(self, bytes: u64) -> Self {
        Cell {
            bytes,
            serial_copies: true,
            ..self
        }
    }

    const fn flags(self, flags: Flags) -> Self {
        Cell { flags, ..self }
    }
}

const GATHERV: Claim = Claim {
    what: "gatherv: k-nomial tree against all to the root",
    left_out: "what it costs to post all receives at once, and messages that are refused for want of \
               memory; both would make theirs slower.",
    ours: Run::Plan(Algorithm::GathervKnomial, 4),
    theirs: Some(Run::Classical(Classical::Gatherv)),
    cells: &[
        GEMINI.of(8, 95.0),
        Cell {
            match_ns: 1,
            ..GEMINI.of(8, 500.0)
        },
    ],
};

const BARRIERS: Claim = Claim {
    what: "barrier: leaders and flags against dissemination with matching",
    left_out: "noise of the system, which delays rounds, and what it costs to look for a flag that has not come.",
    ours: Run::Plan(Algorithm::BarrierNodeAware, 6),
    theirs: Some(Run::Plan(Algorithm::BarrierDissemination, 2)),
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
    what: "allgather: Bruck in rails against the ring that large totals fall to",
    left_out: "the limit of a node's memory, in which all ranks copy at once what comes by the network.",
    ours: Run::Plan(Algorithm::AllgatherRailBruck, 3),
    theirs: Some(Run::Plan(Algorithm::AllgatherRing, 0)),
    cells: &[GEMINI.of(8, 100.0), GEMINI.serial(8)],
};

const MANY_LEFT_OUT: &str =
    "how connections are made, and noise of the system, of which so many ranks have more.";

pub(crate) const CLAIMS: [Claim; 10] = [
    GATHERV,
    Claim {
        what: "scatterv: k-nomial tree against all from the root",
        left_out: "messages that are refused for want of memory. A rank's own copies cost a quarter of a byte \
                   from another rank; at the full price ours gains 23 times.",
        ours: Run::Plan(Algorithm::ScattervKnomial, 4),
        theirs: Some(Run::Classical(Classical::Scatterv)),
        cells: &[THOUSAND.of(8, 30.0)],
    },
    BARRIERS,
    Claim {
        what: "allgather: rings in rails against one ring",
        left_out: "the limit of a node's memory, in which all ranks copy at once what comes by the network.",
        ours: Run::Plan(Algorithm::AllgatherRailRing, 0),
        theirs: Some(Run::Plan(Algorithm::AllgatherRing, 0)),
        cells: &[
            THOUSAND.of(4 << 10, 1.25),
            THOUSAND.of(32 << 10, 1.25),
            THOUSAND.of(500_000, 1.25),
            CYCLIC.of(4 << 10, 6.0),
            CYCLIC.of(32 << 10, 6.0),
            CYCLIC.of(500_000, 6.0),
            THOUSAND.serial(4 << 10),
            THOUSAND.serial(32 << 10),
            THOUSAND.serial(500_000),
            CYCLIC.serial(4 << 10),
            CYCLIC.serial(32 << 10),
            CYCLIC.serial(500_000),
        ],
    },
    SHORT_ALLGATHER,
    Claim {
        what: "allgather: Bruck in rails against Bruck, which MPICH leaves for the ring at such totals",
        theirs: Some(Run::Plan(Algorithm::AllgatherBruck, 2)),
        cells: &[GEMINI, GEMINI.serial(8)],
        ..SHORT_ALLGATHER
    },
    Claim {
        what: "alltoall: from node to node against Bruck",
        left_out: "the limit of a node's memory, in which ours moves a block up to twice besides.",
        ours: Run::Plan(Algorithm::AlltoallNodeAware, 0),
        theirs: Some(Run::Plan(Algorithm::AlltoallBruck, 2)),
        cells: &[
            ALLTOALL.of(8, 4.0),
            ALLTOALL.of(64, 4.0),
            ALLTOALL.of(256, 4.0),
            ALLTOALL.of(1024, 4.0),
            ALLTOALL.serial(8),
            ALLTOALL.serial(64),
            ALLTOALL.serial(256),
            ALLTOALL.serial(1024),
        ],
    },
    Claim {
        what: "barrier of 700,000 ranks",
        left_out: MANY_LEFT_OUT,
        ours: Run::Plan(Algorithm::BarrierNodeAware, 4),
        cells: &[Cell {
            bytes: 0,
            ..MANY.flags(Flags::Ours)
        }],
        ..BARRIERS
    },
    Claim {
        what: "gatherv of 700,000 ranks",
        left_out: MANY_LEFT_OUT,
        theirs: None,
        cells: &[MANY],
        ..GATHERV
    },
    Claim {
        what: "allreduce of 700,000 ranks",
        left_out: MANY_LEFT_OUT,
        ours: Run::Plan(Algorithm::AllreduceRecursiveDoubling, 0),
        theirs: None,
        cells: &[MANY],
    },
];
