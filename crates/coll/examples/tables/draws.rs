//! Draws of groups, and the times of all candidates on them in the simulator.

use std::ops::Range;

use oxmpi_coll::catalog::{Call, Collective, SharedMemory};
use oxmpi_coll::check::draw;
use oxmpi_coll::choice::cyclic::{
    FEATURES, LEARNED_NODES, LEARNED_PER_NODE, LEARNED_RANKS, features,
};
use oxmpi_coll::choice::{Choice, Tuning, expected};
use oxmpi_coll::machine::{Machine, PathCosts};
use oxmpi_coll::sim::{Error, Order, Placement, Setup, Simulation, Workload};
use rayon::prelude::*;

/// A call, and how much longer it takes by each candidate than by the fastest one.
pub(crate) struct Sample {
    pub(crate) features: [u64; FEATURES.len()],
    /// In millionths, at most [`MOST`]; `None` for a candidate that does not suit.
    losses: Vec<Option<u32>>,
    /// That of the candidate with the least cost, for fresh draws.
    pub(crate) by_cost: u32,
}

/// The largest loss that is counted apart from larger ones, and how many times the least time that is.
const MOST: u64 = 3_000_000;
const CUT: u64 = 1 + MOST / 1_000_000;

impl Sample {
    /// How many candidates there are.
    pub(crate) fn candidates(&self) -> usize {
        self.losses.len()
    }

    /// What a candidate loses; the first one takes the place of one that does not suit.
    pub(crate) fn loss(&self, candidate: usize) -> u32 {
        self.losses[candidate]
            .or(self.losses[0])
            .unwrap_or(MOST as u32)
    }
}

/// The draws of groups for one collective.
pub(crate) struct Draws {
    collective: Collective,
    /// Whether ranks send messages to most others.
    is_dense: bool,
}

/// The first draw on which trees are judged.
const FRESH: u64 = 9_000_000;

impl Draws {
    pub(crate) fn of(collective: Collective) -> Self {
        let is_dense = matches!(
            collective,
            Collective::Allgather
                | Collective::Allgatherv
                | Collective::Alltoall
                | Collective::ReduceScatter
                | Collective::ReduceScatterBlock
        );
        Draws {
            collective,
            is_dense,
        }
    }

    fn from(&self, first: u64, many: u64) -> Range<u64> {
        first..first + if self.is_dense { many / 2 } else { many }
    }

    /// Few, for all candidates.
    pub(crate) fn first(&self) -> Range<u64> {
        self.from(5_000_000, 600)
    }

    /// Those to learn from.
    pub(crate) fn second(&self) -> Range<u64> {
        self.from(1_000_000, 6_000)
    }

    /// Those to compare on.
    pub(crate) fn fresh(&self) -> Range<u64> {
        self.from(FRESH, 1_500)
    }

    /// The samples of these draws.
    pub(crate) fn samples(&self, candidates: &[Choice], draws: Range<u64>) -> Vec<Sample> {
        let each = draws
            .into_par_iter()
            .map(|seed| self.of_draw(candidates, seed));
        each.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// A sample of each kind of call of one draw: by messages and over shared memory, with operations that commute or not.
    fn of_draw(&self, candidates: &[Choice], seed: u64) -> Vec<Sample> {
        let setup = self.setup(seed);
        let work = Workload::new(self.collective, setup.placement.size(), self.bytes(seed));
        let is_needed = |of: fn(&Choice) -> bool| candidates.iter().any(of);
        let mut kinds = vec![(work.clone(), SharedMemory::None)];
        if is_needed(|one| !one.algorithm.is_by_messages()) {
            kinds.push((work.clone(), SharedMemory::OnNodes));
        }
        if is_needed(|one| one.algorithm.row().needs.commutative) {
            kinds.push((work.with_commutative(false), SharedMemory::None));
        }
        let sample = |(work, sharing): &(Workload, SharedMemory)| {
            let call = work.call(0).expect("a call");
            let call = call.with_shared_memory(*sharing);
            sample_of((candidates, seed), (&setup, work, &call))
        };
        kinds.iter().map(sample).collect()
    }

    /// The length of a draw: 4 B to 4 MiB, each doubling as often as another, one in three a power of two.
    fn bytes(&self, seed: u64) -> u64 {
        let power = 1 << (2 + draw(seed, 7) % 20);
        match (self.collective, draw(seed, 8) % 3) {
            (Collective::Barrier, _) => 0,
            (_, 0) => power,
            _ => power + draw(seed, 9) % power,
        }
    }

    /// The group of a draw: up to 14 nodes of up to 20 ranks; one in three up to 64 nodes or up to 64 ranks a node.
    fn setup(&self, seed: u64) -> Setup {
        let number = |index, below: u64| (draw(seed, index) % below.max(1)) as u32;
        let doubled = |index, most: u32| {
            let power = 1 << number(index, u64::from(most.ilog2()));
            power + number(index + 20, power.into())
        };
        let machine = machine(seed);
        let most = machine.per_node.min(20);
        let (nodes, each) = match number(6, 6) {
            0..4 => (2 + number(0, 13), 2 + number(1, u64::from(most) - 1)),
            4 => (1 + doubled(0, LEARNED_NODES), 1 + doubled(1, 16)),
            _ => (1 + doubled(0, 16), 1 + doubled(1, LEARNED_PER_NODE)),
        };
        let ranks = if self.is_dense { 200 } else { LEARNED_RANKS };
        let each = each.min(ranks / nodes);
        let missing = if number(2, 2) == 0 {
            0
        } else {
            number(3, each.into())
        };
        let placement = Placement::new(Order::Cyclic, nodes * each - missing, each);
        Setup::new(machine, placement).with_serial_copies(number(5, 2) == 0)
    }
}

/// A machine with a name; in one draw of three with costs that are half to twice its own.
fn machine(seed: u64) -> Machine {
    let (_, _, named) = Machine::NAMED[(draw(seed, 10) % 4) as usize];
    if !draw(seed, 11).is_multiple_of(3) {
        return named;
    }
    let other = |index, cost: u64| cost * (50 + draw(seed, index) % 151) / 100;
    let path = |index, path: PathCosts| PathCosts {
        latency: other(index, path.latency),
        send: other(index + 1, path.send),
        recv: other(index + 2, path.recv),
        gap: other(index + 3, path.gap),
        byte: other(index + 4, path.byte),
    };
    Machine {
        network: path(12, named.network),
        node: path(32, named.node),
        ..named
    }
}

/// The sample of a call; the candidate with the least cost counts for fresh draws.
fn sample_of(
    (candidates, seed): (&[Choice], u64),
    (setup, work, call): (&Setup, &Workload, &Call),
) -> Sample {
    let tuning = Tuning {
        machine: setup.machine,
        serial_copies: setup.serial_copies,
        ..Tuning::default()
    };
    let tuning = tuning.placed(setup.placement);
    let mut best = u64::MAX;
    let mut timed = |choice: &Choice| {
        let time = simulated(setup, work, choice, best.saturating_mul(CUT));
        best = best.min(time);
        time
    };
    let times = candidates.iter().map(|candidate| {
        candidate.algorithm.suits(call).ok()?;
        Some(timed(&candidate.placed(call, &tuning)))
    });
    let times: Vec<Option<u64>> = times.collect();
    let by_cost = (seed >= FRESH).then(|| {
        let all = expected(call, &tuning).expect("one suits");
        let (chosen, _) = all.min_by_key(|one| one.1).expect("one suits");
        simulated(setup, work, &chosen, best.saturating_mul(CUT))
    });
    let loss = |time: u64| {
        (u128::from(time.saturating_sub(best)) * 1_000_000 / u128::from(best.max(1)))
            .min(MOST.into()) as u32
    };
    Sample {
        features: features(call, &tuning).map(|one| one.value(call.bytes())),
        losses: times.into_iter().map(|time| time.map(loss)).collect(),
        by_cost: by_cost.map_or(0, loss),
    }
}

/// The picoseconds of a call by a candidate, at most `limit`.
fn simulated(setup: &Setup, work: &Workload, choice: &Choice, limit: u64) -> u64 {
    let simulation = Simulation::new(setup).time_limit(limit);
    match simulation.work(work, choice.algorithm, &choice.parameters) {
        Ok(report) => report.last(),
        Err(Error::Time { limit }) => limit,
        Err(why) => panic!("{}: {why}", choice.algorithm),
    }
}
