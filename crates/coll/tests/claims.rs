//! What is claimed of our algorithms against what other libraries do by default, simulated: each
//! claim holds, and `docs/simulations/claims.md` says what comes out.
//!
//! `OXMPI_BLESS=1 cargo test -p oxmpi-coll --features sim --test claims` writes the page when it
//! differs: look at it before it is committed.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use oxmpi_coll::catalog::{Algorithm, Parameters};
use oxmpi_coll::sim::{Classical, Machine, Order, Placement, Setup, Simulation, Workload, shifts};

/// What runs.
#[derive(Clone, Copy)]
enum Run {
    /// An algorithm of the catalog, with a radix of its own unless it is 0.
    Plan(Algorithm, u32),
    /// The same, with signals as flags.
    Flags(Algorithm, u32),
    /// What other libraries do.
    Classical(Classical),
}

struct Claim {
    /// What is claimed, and of whom.
    what: &'static str,
    machine: &'static str,
    order: Order,
    ranks: u32,
    bytes: u64,
    /// Nanoseconds for an entry of a queue.
    match_ns: u64,
    ours: Run,
    theirs: Run,
    /// By how much ours is faster at least.
    goal: f64,
}

const GATHERV: Claim = Claim {
    what: "gatherv: k-nomial tree against all to the root",
    machine: "gemini",
    order: Order::Block,
    ranks: 12_000,
    bytes: 8,
    match_ns: 0,
    ours: Run::Plan(Algorithm::GathervKnomial, 4),
    theirs: Run::Classical(Classical::Gatherv),
    goal: 95.0,
};

const SCATTERV: Claim = Claim {
    what: "scatterv: k-nomial tree against all from the root",
    ranks: 1_024,
    ours: Run::Plan(Algorithm::ScattervKnomial, 4),
    theirs: Run::Classical(Classical::Scatterv),
    goal: 30.0,
    ..GATHERV
};

const BARRIER: Claim = Claim {
    what: "barrier: leaders and flags against dissemination with matching",
    ranks: 12_288,
    bytes: 0,
    ours: Run::Flags(Algorithm::BarrierNodeAware, 6),
    theirs: Run::Plan(Algorithm::BarrierDissemination, 2),
    goal: 2.0,
    ..GATHERV
};

const ALLGATHER: Claim = Claim {
    what: "allgather: rings in lanes against one ring",
    ranks: 1_024,
    bytes: 4 << 10,
    ours: Run::Plan(Algorithm::AllgatherLaneRing, 0),
    theirs: Run::Plan(Algorithm::AllgatherRing, 0),
    goal: 1.25,
    ..GATHERV
};

const CYCLIC: Claim = Claim {
    order: Order::Cyclic,
    ranks: 512,
    goal: 6.0,
    ..ALLGATHER
};

const ALLTOALL: Claim = Claim {
    what: "alltoall: from node to node against Bruck",
    ranks: 10_000,
    ours: Run::Plan(Algorithm::AlltoallNodeAware, 0),
    theirs: Run::Plan(Algorithm::AlltoallBruck, 2),
    goal: 4.0,
    ..GATHERV
};

const CLAIMS: [Claim; 16] = [
    GATHERV,
    Claim {
        match_ns: 1,
        goal: 500.0,
        ..GATHERV
    },
    SCATTERV,
    BARRIER,
    Claim {
        machine: "slingshot",
        ..BARRIER
    },
    ALLGATHER,
    Claim {
        bytes: 32 << 10,
        ..ALLGATHER
    },
    Claim {
        bytes: 500_000,
        ..ALLGATHER
    },
    CYCLIC,
    Claim {
        bytes: 32 << 10,
        ..CYCLIC
    },
    Claim {
        bytes: 500_000,
        ..CYCLIC
    },
    Claim {
        what: "allgather: Bruck in lanes against the ring that large totals fall to",
        ranks: 12_000,
        bytes: 8,
        ours: Run::Plan(Algorithm::AllgatherLaneBruck, 3),
        goal: 100.0,
        ..ALLGATHER
    },
    ALLTOALL,
    Claim {
        bytes: 64,
        ..ALLTOALL
    },
    Claim {
        bytes: 256,
        ..ALLTOALL
    },
    Claim {
        bytes: 1024,
        ..ALLTOALL
    },
];

impl Claim {
    /// Picoseconds until the last rank is done.
    fn time(&self, run: Run) -> u64 {
        let machine = Machine::named(self.machine).expect("a machine of that name");
        let placement = Placement::new(self.order, self.ranks, machine.per_node);
        let setup = Setup::new(machine, placement).with_matching(1000 * self.match_ns);
        let report = match run {
            Run::Classical(classical) => {
                Simulation::new(&setup).run_classical(classical, self.bytes)
            }
            Run::Plan(algorithm, radix) => self.plan(&setup, algorithm, radix),
            Run::Flags(algorithm, radix) => self.plan(&setup.with_flags(true), algorithm, radix),
        };
        report.expect("it can be simulated").last()
    }

    fn plan(
        &self,
        setup: &Setup,
        algorithm: Algorithm,
        radix: u32,
    ) -> Result<oxmpi_coll::sim::Report, oxmpi_coll::sim::Error> {
        let setup = match setup.by_symmetry() {
            Ok(one_node) if shifts(algorithm) => one_node,
            _ => *setup,
        };
        let work = Workload::new(algorithm.collective(), self.ranks, self.bytes);
        let parameters = Parameters {
            radix,
            ..Parameters::NONE
        };
        Simulation::new(&setup).work(&work, algorithm, &parameters)
    }

    /// Its line of the table, and whether it holds.
    fn line(&self) -> (String, bool) {
        let (ours, theirs) = (self.time(self.ours), self.time(self.theirs));
        let got = theirs as f64 / ours as f64;
        let order = match self.order {
            Order::Block => "block",
            Order::Cyclic => "cyclic",
        };
        let micros = |picoseconds: u64| picoseconds as f64 / 1e6;
        let line = format!(
            "| {} | {} | {order} | {} | {} | {} | {:.1} | {:.1} | {:.2} | {got:.2} |\n",
            self.what,
            self.machine,
            self.ranks,
            self.bytes,
            self.match_ns,
            micros(theirs),
            micros(ours),
            self.goal,
        );
        (line, got >= self.goal)
    }
}

const HEAD: &str = "\
# Claims

Made by `crates/coll/tests/claims.rs`, which fails where a goal is missed or a number differs.
[README.md](README.md) says what is simulated and what that leaves out.

| claim | machine | placement | ranks | bytes | ns an entry | theirs, us | ours, us | goal, times | got, times |
|---|---|---|---|---|---|---|---|---|---|
";

#[test]
fn every_claim_holds_and_the_page_says_by_how_much() {
    let mut page = HEAD.to_owned();
    let mut missed = String::new();
    for claim in &CLAIMS {
        let (line, holds) = claim.line();
        page += &line;
        if !holds {
            writeln!(missed, "{line}").expect("a string takes all");
        }
    }
    assert!(missed.is_empty(), "goals that are missed:\n{missed}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/simulations/claims.md");
    let there = fs::read_to_string(&path).unwrap_or_default();
    if there != page && env::var_os("OXMPI_BLESS").is_some() {
        fs::write(&path, page).expect("the page can be written");
        return;
    }
    assert_eq!(
        there, page,
        "run with OXMPI_BLESS=1 and look at the difference"
    );
}
