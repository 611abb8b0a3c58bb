//! The checker notices when a plan is broken: 20 mutants of each algorithm, drawn from every way to
//! spoil a step, are noticed or as right as the plan. So are they where few ranks stand for all, and
//! where only some blocks are followed.

use std::collections::BTreeSet;

use oxmpi_coll::catalog::{Algorithm, AnyPlan, Collective, Parameters};
use oxmpi_coll::check::{Case, Ranks, Task, cases, check_plans, draw};
use oxmpi_coll::plan::{Act, Acts, Buf, Known, Learned, Part, Plan, Side};

/// Mutants of one algorithm.
const MUTANTS: usize = 20;

/// How a step is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spoil {
    /// Another peer.
    Peer,
    /// Another tag.
    Tag,
    /// One element less.
    Shorter,
    /// One element further on.
    Shifted,
    /// The act is left out.
    Dropped,
    /// The operand stands on the other side.
    Side,
    /// The step does not wait for any other.
    Hasty,
    /// The step changes places with the next one.
    Swapped,
}

const ALL: [Spoil; 8] = [
    Spoil::Peer,
    Spoil::Tag,
    Spoil::Shorter,
    Spoil::Shifted,
    Spoil::Dropped,
    Spoil::Side,
    Spoil::Hasty,
    Spoil::Swapped,
];

/// A plan with one act or step spoilt, if `at` is given.
#[derive(Clone, Copy, Debug)]
struct Mutant {
    plan: AnyPlan,
    size: u32,
    at: Option<(Spoil, u32, usize)>,
}

impl Mutant {
    fn spoil(&self, spoil: Spoil, act: Act) -> Option<Act> {
        let next = |peer| (peer + 1) % self.size;
        let shorter = |part: Part| Part {
            count: part.count.saturating_sub(1),
            ..part
        };
        let shifted = |part: Part| Part {
            first: part.first + 1,
            ..part
        };
        Some(match (spoil, act) {
            (Spoil::Dropped, _) => return None,
            (Spoil::Peer, Act::Send { to, tag, from }) => Act::Send {
                to: next(to),
                tag,
                from,
            },
            (Spoil::Peer, Act::Recv { from, tag, into }) => Act::Recv {
                from: next(from),
                tag,
                into,
            },
            (Spoil::Tag, Act::Send { to, tag, from }) => Act::Send {
                to,
                tag: tag ^ 1,
                from,
            },
            (Spoil::Tag, Act::Recv { from, tag, into }) => Act::Recv {
                from,
                tag: tag ^ 1,
                into,
            },
            (Spoil::Shorter, Act::Send { to, tag, from }) => Act::Send {
                to,
                tag,
                from: shorter(from),
            },
            (Spoil::Shorter, Act::Recv { from, tag, into }) => Act::Recv {
                from,
                tag,
                into: shorter(into),
            },
            (Spoil::Shorter, Act::Copy { from, into }) => Act::Copy {
                from: shorter(from),
                into: shorter(into),
            },
            (Spoil::Shorter, Act::Reduce { from, into, side }) => Act::Reduce {
                from: shorter(from),
                into: shorter(into),
                side,
            },
            (Spoil::Shifted, Act::Send { to, tag, from }) => Act::Send {
                to,
                tag,
                from: shifted(from),
            },
            (Spoil::Shifted, Act::Recv { from, tag, into }) => Act::Recv {
                from,
                tag,
                into: shifted(into),
            },
            (Spoil::Shifted, Act::Copy { from, into }) => Act::Copy {
                from,
                into: shifted(into),
            },
            (Spoil::Shifted, Act::Reduce { from, into, side }) => Act::Reduce {
                from,
                into: shifted(into),
                side,
            },
            (Spoil::Side, Act::Reduce { from, into, side }) => {
                let side = if side == Side::Left {
                    Side::Right
                } else {
                    Side::Left
                };
                Act::Reduce { from, into, side }
            }
            (_, act) => act,
        })
    }
}

impl Plan for Mutant {
    fn steps(&self) -> u32 {
        self.plan.steps()
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        self.plan.scratch(known)
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let asked = match self.at {
            Some((Spoil::Swapped, step, _))
                if step + 1 < self.steps() && (i == step || i == step + 1) =>
            {
                2 * step + 1 - i
            }
            _ => i,
        };
        let needs = self.plan.step(asked, known, acts)?.min(i);
        // What the step says about steps to leave out may be wrong where two are exchanged.
        let whole = core::mem::take(acts);
        let Some((spoil, _, place)) = self.at.filter(|&(_, step, _)| step == i) else {
            whole.iter().for_each(|&act| acts.push(act));
            return Some(needs);
        };
        for (at, &act) in whole.iter().enumerate() {
            let act = if at == place {
                self.spoil(spoil, act)
            } else {
                Some(act)
            };
            act.into_iter().for_each(|act| acts.push(act));
        }
        Some(if spoil == Spoil::Hasty { 0 } else { needs })
    }
}

/// The acts of a step, and what it needs; `None` where that is not known at the start.
fn step<P: Plan>(plan: &P, i: u32, task: &Task) -> Option<(u32, Acts)> {
    let mut acts = Acts::new();
    let learned = Learned::new();
    let needs = plan.step(i, &Known::new(task.arrays.given(), &learned), &mut acts)?;
    Some((needs, acts))
}

/// Whether the mutant does the same as the plan, step by step.
fn is_same(mutant: &Mutant, plan: &AnyPlan, task: &Task) -> bool {
    let same = |one: Option<(u32, Acts)>, other: Option<(u32, Acts)>| match (one, other) {
        (Some((needs, acts)), Some((other_needs, other_acts))) => {
            needs == other_needs && *acts == *other_acts
        }
        (one, other) => one.is_none() && other.is_none(),
    };
    (0..plan.steps()).all(|i| same(step(mutant, i, task), step(plan, i, task)))
}

/// Why a mutant that is not noticed is as right as the plan; `None`: it is not.
fn reason(mutant: &Mutant, task: &Task, case: &Case) -> Option<&'static str> {
    let (plan, (spoil, at, place)) = (&mutant.plan, mutant.at?);
    let acts = |i| step(plan, i, task).map(|(_, acts)| acts);
    let apart = |one, other| {
        let (one, other) = (acts(one), acts(other));
        one.zip(other)
            .is_some_and(|(one, other)| are_independent(&one, &other, task))
    };
    match spoil {
        Spoil::Side => (case.commutative || case.exact)
            .then_some("on which side an operand stands is free where the operation commutes"),
        Spoil::Hasty if case.collective == Collective::Barrier => {
            let receives = all_are(acts(at), is_receive);
            let twice = !case.size.is_power_of_two();
            let why = [
                (receives, "a signal may be awaited earlier"),
                (twice, "a rank hears twice from some others"),
            ];
            why.into_iter()
                .find_map(|(holds, why)| holds.then_some(why))
        }
        Spoil::Swapped if case.collective == Collective::Barrier => {
            let both = |is: fn(&Act) -> bool| all_are(acts(at), is) && all_are(acts(at + 1), is);
            let alike = both(is_receive) || both(|act| !is_receive(act));
            let together = step(plan, at + 1, task).is_some_and(|(needs, _)| needs <= at);
            let twice = !case.size.is_power_of_two();
            let why = [
                (alike, "signals may come, and go, in any order"),
                (together, "the two steps run at the same time anyway"),
                (twice, "a rank hears twice from some others"),
            ];
            why.into_iter()
                .find_map(|(holds, why)| holds.then_some(why))
        }
        Spoil::Hasty => {
            // The steps that were surely done before, with or without it, and those it waits for.
            let needs = |i| step(plan, i, task).map_or(0, |(needs, _)| needs);
            let since = (0..at).map(needs).max().unwrap_or(0);
            (since..needs(at))
                .all(|earlier| apart(earlier, at))
                .then_some("the step touches nothing that those before it touch")
        }
        Spoil::Swapped => apart(at, at + 1).then_some("the two steps touch different elements"),
        Spoil::Shorter | Spoil::Dropped => {
            let copies = |act: &Act| matches!(act, Act::Copy { .. });
            (!task.held.is_empty() && acts(at)?.get(place).is_some_and(copies))
                .then_some("a rank in place may copy what lies there already")
        }
        Spoil::Peer | Spoil::Tag | Spoil::Shifted => None,
    }
}

const fn is_receive(act: &Act) -> bool {
    matches!(act, Act::Recv { .. })
}

fn all_are(acts: Option<Acts>, is: fn(&Act) -> bool) -> bool {
    acts.is_some_and(|acts| acts.iter().all(is))
}

/// Whether no act of one step writes what an act of the other reads or writes.
fn are_independent(one: &[Act], other: &[Act], task: &Task) -> bool {
    let meet = |a: Option<Part>, b: Option<Part>| {
        let elements = a
            .zip(b)
            .map(|(a, b)| [elements(a, task), elements(b, task)]);
        elements.is_some_and(|[a, b]| !a.is_disjoint(&b))
    };
    let clash = |a: &Act, b: &Act| {
        meet(a.writes(), b.writes()) || meet(a.writes(), b.reads()) || meet(a.reads(), b.writes())
    };
    !one.iter().any(|a| other.iter().any(|b| clash(a, b)))
}

/// The elements of a part, each as its buffer's name and its index there.
fn elements(part: Part, task: &Task) -> BTreeSet<(u8, u64)> {
    let (buffer, around, start) = match part.buf {
        Buf::In => (0, part.wrap, 0),
        Buf::InBlock(block) => (0, task.input, task.blocks[0].start(block).unwrap_or(0)),
        Buf::Out => (1, part.wrap, 0),
        Buf::OutBlock(block) => (1, task.output, task.blocks[1].start(block).unwrap_or(0)),
        Buf::Scratch => (2, part.wrap, 0),
        _ => (3, part.wrap, 0),
    };
    let all = part.blocks().flatten();
    all.map(|index| match around {
        0 => (buffer, start + index),
        around => (buffer, (start + index) % around),
    })
    .collect()
}

/// Cases that are small, and give every piece some elements.
fn small(algorithm: Algorithm) -> Vec<Case> {
    let counts = |case: &Case| match case.collective {
        Collective::Barrier => 0,
        Collective::Bcast | Collective::Reduce | Collective::Allreduce => 3 * case.size + 2,
        _ => 3,
    };
    let sizes = (2..=8).flat_map(|size| cases(algorithm, size));
    let small = sizes.filter(|case| case.count > 1 || case.collective == Collective::Barrier);
    let whole = small.map(|case| Case {
        count: counts(&case).into(),
        parameters: Parameters {
            cutoff: u64::MAX,
            ..case.parameters
        },
        ..case
    });
    whole.collect()
}

/// A mutant of the algorithm, and the case in which it stands.
fn mutant(algorithm: Algorithm, all: &[Case], index: u64) -> Option<(Case, usize, Mutant)> {
    let seed = draw(algorithm as u64, index);
    let drawn = |salt, below: usize| (draw(seed, salt) % below.max(1) as u64) as usize;
    let case = all[drawn(0, all.len())];
    let (plans, contract) = case.plans(algorithm).expect("the case suits");
    let rank = drawn(1, plans.len());
    let (plan, task) = (plans[rank], &contract.tasks[rank]);
    let at = drawn(2, plan.steps() as usize) as u32;
    let acts = (plan.steps() > 0)
        .then(|| step(&plan, at, task))
        .flatten()?
        .1;
    let mutant = Mutant {
        plan,
        size: case.size,
        at: Some((ALL[drawn(3, ALL.len())], at, drawn(4, acts.len()))),
    };
    (!acts.is_empty() && !is_same(&mutant, &plan, task)).then_some((case, rank, mutant))
}

#[test]
fn the_checker_notices_mutants_of_every_algorithm() {
    let (mut noticed, mut excused) = (0, 0);
    for algorithm in Algorithm::ALL {
        let all = small(algorithm);
        let mutants = (0..4000).filter_map(|index| mutant(algorithm, &all, index));
        let mutants: Vec<_> = mutants.take(MUTANTS).collect();
        assert_eq!(mutants.len(), MUTANTS, "{algorithm}");
        let mut equivalent = 0;
        for (case, rank, mutant) in mutants {
            let (plans, contract) = case.plans(algorithm).expect("the case suits");
            let whole = |&plan: &AnyPlan| Mutant {
                plan,
                size: case.size,
                at: None,
            };
            let mut plans: Vec<_> = plans.iter().map(whole).collect();
            let report = check_plans(&plans, &contract).expect("the plan is right before");
            plans[rank] = mutant;
            if check_plans(&plans, &contract) != Ok(report) {
                noticed += 1;
                continue;
            }
            let why = reason(&mutant, &contract.tasks[rank], &case);
            assert!(
                why.is_some(),
                "not noticed: {algorithm}, rank {rank}, {:?}\n{case:?}",
                mutant.at
            );
            equivalent += 1;
        }
        excused += equivalent;
        println!(
            "{algorithm}: {} noticed, {equivalent} equivalent",
            MUTANTS - equivalent
        );
    }
    assert!(
        noticed > 4 * excused,
        "{noticed} noticed, {excused} equivalent"
    );
}

/// The small cases of an algorithm in which few ranks can stand for all.
fn alike(algorithm: Algorithm) -> Vec<Case> {
    let equal = |case: Case| Case {
        commutative: true,
        seed: 0,
        count: match case.collective {
            Collective::Allreduce => 3 * u64::from(case.size),
            _ => case.count,
        },
        ..case
    };
    let cases = small(algorithm).into_iter().map(equal);
    let stand_for_all = |case: &Case| case.check_alike(algorithm).is_some();
    cases.filter(stand_for_all).collect()
}

/// Where one rank is spoilt, it is unlike the others; where all are spoilt in the same way, running
/// few of them comes to what running all comes to.
#[test]
fn the_proof_that_ranks_are_alike_notices_mutants() {
    let (mut unlike, mut noticed, mut kinds) = (0, 0, 0);
    for algorithm in Algorithm::ALL {
        let all = alike(algorithm);
        if all.is_empty() {
            continue;
        }
        kinds += 1;
        let mutants = (0..4000).filter_map(|index| mutant(algorithm, &all, index));
        for (case, rank, mutant) in mutants.take(MUTANTS) {
            let (plans, contract) = case.plans(algorithm).expect("the case suits");
            let spoilt = |who: Option<usize>| -> Vec<Mutant> {
                let spoil = |(number, &plan)| Mutant {
                    plan,
                    at: mutant.at.filter(|_| who.is_none_or(|who| who == number)),
                    ..mutant
                };
                plans.iter().enumerate().map(spoil).collect()
            };
            for who in [Some(rank), None] {
                let plans = spoilt(who);
                let Some(few) = case.check_plans_alike(|rank| Ok(plans[rank as usize])) else {
                    unlike += u32::from(who.is_some());
                    continue;
                };
                let every = check_plans(&plans, &contract);
                assert_eq!(
                    few.as_ref().ok(),
                    every.as_ref().ok(),
                    "{algorithm}, {who:?}, {:?}: {few:?}, {every:?}\n{case:?}",
                    mutant.at
                );
                noticed += u32::from(few.is_err());
            }
        }
    }
    println!("{kinds} algorithms: {unlike} made one rank unlike, {noticed} in all ranks noticed");
    assert!(
        kinds >= 25,
        "only {kinds} algorithms have ranks that are alike"
    );
    assert!(unlike > 14 * kinds && noticed > 14 * kinds);
}

/// What goes wrong with some block is seen by following that block, and so with each of the three that
/// are followed on many ranks.
#[test]
fn following_some_blocks_notices_mutants() {
    let (mut noticed, mut by_three) = (0, 0);
    for algorithm in [Collective::Allgather, Collective::Allgatherv]
        .into_iter()
        .flat_map(Collective::algorithms)
    {
        let all = small(algorithm);
        let mutants = (0..4000).filter_map(|index| mutant(algorithm, &all, index));
        for (case, rank, mutant) in mutants.take(MUTANTS) {
            let (plans, contract) = case.plans(algorithm).expect("the case suits");
            let whole = |&plan: &AnyPlan| Mutant {
                plan,
                size: case.size,
                at: None,
            };
            let mut plans: Vec<_> = plans.iter().map(whole).collect();
            let follow = |plans: &[Mutant], ranks: &[u32]| {
                let ranks = ranks.iter().map(|&rank| Ranks::one(rank));
                let ranks = ranks.fold(Ranks::new(), |all, one| all.union(&one));
                check_plans(plans, &contract.clone().following(&ranks))
            };
            let each: Vec<_> = (0..case.size).map(|rank| [rank]).collect();
            let report = check_plans(&plans, &contract);
            assert!(each.iter().all(|one| follow(&plans, one) == report));
            plans[rank] = mutant;
            let is_noticed = check_plans(&plans, &contract) != report;
            let is_seen = each.iter().any(|one| follow(&plans, one) != report);
            assert_eq!(
                is_noticed, is_seen,
                "{algorithm}, {:?}\n{case:?}",
                mutant.at
            );
            let three = [0, case.size / 3, case.size - 1];
            noticed += u32::from(is_noticed);
            by_three += u32::from(follow(&plans, &three) != report);
        }
    }
    println!("{noticed} noticed by following some block, {by_three} by following three");
    assert!(noticed > 200 && 10 * by_three >= 9 * noticed);
}
