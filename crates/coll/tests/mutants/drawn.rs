//! Mutants drawn at random from the small cases of an algorithm.

use oxmpi_coll::catalog::{Algorithm, AnyPlan, Collective};
use oxmpi_coll::check::{Case, Contract, cases, check_plans, draw};
use oxmpi_coll::plan::{Act, Acts};

use super::mutation::{ALL, Mutant, Mutation, is_same, scripts};
use crate::common::script::{Script, Step};

/// The mutants drawn per algorithm.
pub(crate) const MUTANTS: usize = 20;

/// Small cases in which every piece has elements.
pub(crate) fn small(algorithm: Algorithm) -> Vec<Case> {
    let counts = |case: &Case| match case.collective {
        Collective::Barrier => 0,
        Collective::Bcast | Collective::Reduce | Collective::Allreduce => 3 * case.size + 2,
        _ => 3,
    };
    let sizes = (2..=8).flat_map(|size| cases(algorithm, size));
    let small = sizes.filter(|case| case.count > 1 || case.collective == Collective::Barrier);
    let whole = small.map(|case| Case {
        count: counts(&case).into(),
        parameters: case.parameters.with_cutoff(u64::MAX),
        ..case
    });
    whole.collect()
}

/// The small cases with a cutoff below some or all block lengths, so that long blocks go straight between
/// their rank and the root. Empty if the algorithm has no cutoff.
pub(crate) fn straight(algorithm: Algorithm) -> Vec<Case> {
    let cut = |case: Case| {
        [0, 3].map(|cutoff| Case {
            seed: case.seed.max(1),
            parameters: case.parameters.with_cutoff(1 + cutoff),
            ..case
        })
    };
    match algorithm.row().parameters.cutoff {
        0 => Vec::new(),
        _ => small(algorithm).into_iter().flat_map(cut).collect(),
    }
}

/// Whether a message of the step takes a long block straight to or from the root: the tree's messages
/// have tag 0.
pub(crate) fn is_straight(acts: &Acts) -> bool {
    let is = |act: &Act| matches!(act, Act::Send { tag, .. } | Act::Recv { tag, .. } if *tag > 0);
    acts.iter().any(is)
}

/// A plan of all ranks, and one mutation of one rank's plan.
pub(crate) struct RandomMutant {
    pub(crate) case: Case,
    plans: Vec<AnyPlan>,
    pub(crate) contract: Contract,
    pub(crate) rank: usize,
    pub(crate) at: (Mutation, u32, usize),
    /// What each rank does in the unchanged plan.
    pub(crate) scripts: Vec<Vec<Step>>,
}

impl RandomMutant {
    /// Mutant number `index` of the algorithm, in a step that `wanted` accepts. `None` if the draw hits
    /// no such act or changes nothing.
    fn new(
        algorithm: Algorithm,
        all: &[Case],
        index: u64,
        wanted: fn(&Acts) -> bool,
    ) -> Option<Self> {
        let seed = draw(seed_of(algorithm), index);
        let drawn = |salt, below: usize| (draw(seed, salt) % below.max(1) as u64) as usize;
        let case = all[drawn(0, all.len())];
        let (plans, contract) = case.plans(algorithm).expect("the case suits");
        let rank = drawn(1, plans.len());
        let scripts = scripts(&plans, &contract);
        let script = &scripts[rank];
        let at = drawn(2, script.len());
        let acts = script
            .get(at)
            .map(|(_, acts)| acts)
            .filter(|acts| wanted(acts))?;
        let at = (ALL[drawn(3, ALL.len())], at as u32, drawn(4, acts.len()));
        let is_whole = acts.is_empty();
        let mutant = RandomMutant {
            case,
            plans,
            contract,
            rank,
            at,
            scripts,
        };
        (!is_whole && !is_same(&mutant.scripted())).then_some(mutant)
    }

    /// [`MUTANTS`] mutants of the algorithm.
    pub(crate) fn some(
        algorithm: Algorithm,
        all: &[Case],
        wanted: fn(&Acts) -> bool,
    ) -> impl Iterator<Item = RandomMutant> {
        let mutants =
            (0..4000).filter_map(move |index| RandomMutant::new(algorithm, all, index, wanted));
        mutants.take(MUTANTS)
    }

    pub(crate) fn scripted(&self) -> Mutant<Script<'_>> {
        Mutant {
            plan: Script(&self.scripts[self.rank]),
            size: self.case.size,
            at: Some(self.at),
        }
    }

    /// The plans of all ranks, mutated on the ranks that `is_mutated` accepts.
    pub(crate) fn plans(&self, is_mutated: impl Fn(usize) -> bool) -> Vec<Mutant> {
        let plans = self.plans.iter().enumerate();
        let plan = |(number, &plan)| Mutant {
            plan,
            size: self.case.size,
            at: is_mutated(number).then_some(self.at),
        };
        plans.map(plan).collect()
    }

    /// Whether the checker reports a fault.
    pub(crate) fn is_detected(&self) -> bool {
        check_plans(&self.plans(|number| number == self.rank), &self.contract).is_err()
    }
}

impl std::fmt::Display for RandomMutant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rank, (mutation, step, act)) = (self.rank, self.at);
        write!(
            f,
            "rank {rank}, {mutation:?}, step {step}, act {act}, {:?}",
            self.case
        )
    }
}

/// A seed for an algorithm that does not depend on the rest of the catalog: FNV-1a of its name.
fn seed_of(algorithm: Algorithm) -> u64 {
    let name = algorithm.to_string();
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
