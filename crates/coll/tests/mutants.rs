//! The checker notices when a plan is broken: 20 mutants of each algorithm, drawn from every way to
//! spoil a step, are noticed or as right as the plan, and so are 20 of each that sends long blocks
//! straight, in the acts that do that. So are they where few ranks stand for all, and where only some
//! blocks are followed.
//!
//! A mutant that is as right as the plan is printed with the reason (`--nocapture` shows it), and the
//! reason is tested on the plan, not looked up.

use std::cell::RefCell;
use std::collections::BTreeSet;

use oxmpi_coll::catalog::{Algorithm, AnyPlan, Collective, Parameters};
use oxmpi_coll::check::{Case, Contract, Ranks, Task, cases, check_plans, draw};
use oxmpi_coll::plan::{Act, Acts, Buf, Known, Part, Plan, Side, Together};

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

/// A step of a script: what it needs, and its acts.
type Step = (u32, Acts);

/// What a rank did in a run: its plan as it is when all lengths are known.
#[derive(Clone, Copy, Debug)]
struct Script<'a>(&'a [Step]);

impl Plan for Script<'_> {
    fn steps(&self) -> u32 {
        self.0.len() as u32
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, _: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let (needs, own) = &self.0[i as usize];
        own.iter().for_each(|&act| acts.push(act));
        Some(*needs)
    }
}

/// A plan that notes what it does.
#[derive(Clone, Copy)]
struct Noted<'a> {
    plan: AnyPlan,
    script: &'a RefCell<Vec<Step>>,
}

impl Plan for Noted<'_> {
    fn steps(&self) -> u32 {
        self.plan.steps()
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        self.plan.scratch(known)
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let needs = self.plan.step(i, known, acts)?;
        self.script.borrow_mut()[i as usize] = (needs, acts.clone());
        Some(needs)
    }
}

/// What all ranks do. Steps that are left out have no acts.
fn scripts(plans: &[AnyPlan], contract: &Contract) -> Vec<Vec<Step>> {
    let empty = |plan: &AnyPlan| (0..plan.steps()).map(|i| (i, Acts::new())).collect();
    let scripts: Vec<_> = plans.iter().map(empty).map(RefCell::new).collect();
    let noted = |(&plan, script)| Noted { plan, script };
    let noted: Vec<_> = plans.iter().zip(&scripts).map(noted).collect();
    check_plans(&noted, contract).expect("the plan is right before");
    scripts.into_iter().map(RefCell::into_inner).collect()
}

/// A plan with one act or step spoilt, if `at` is given.
#[derive(Clone, Copy, Debug)]
struct Mutant<P = AnyPlan> {
    plan: P,
    size: u32,
    at: Option<(Spoil, u32, usize)>,
}

impl<P> Mutant<P> {
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
            (Spoil::Peer, Act::Size { from, tag, slot }) => Act::Size {
                from: next(from),
                tag,
                slot,
            },
            (Spoil::Tag, Act::Size { from, tag, slot }) => Act::Size {
                from,
                tag: tag ^ 1,
                slot,
            },
            (Spoil::Shorter, Act::Learn { from, slot }) => Act::Learn {
                from: shorter(from),
                slot,
            },
            (Spoil::Shifted, Act::Learn { from, slot }) => Act::Learn {
                from: shifted(from),
                slot,
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
            (Spoil::Peer, Act::Together(act)) => Act::Together(Together {
                root: (act.root + 1) % act.team.size,
                ..act
            }),
            (Spoil::Shorter, Act::Together(act)) => Act::Together(Together {
                from: shorter(act.from),
                into: shorter(act.into),
                ..act
            }),
            (Spoil::Shifted, Act::Together(act)) if act.into.is_empty() => {
                let from = shifted(act.from);
                Act::Together(Together { from, ..act })
            }
            (Spoil::Shifted, Act::Together(act)) => {
                let into = shifted(act.into);
                Act::Together(Together { into, ..act })
            }
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

impl<P: Plan> Plan for Mutant<P> {
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

/// The acts of a step, and what it needs.
fn step<P: Plan>(plan: &P, i: u32) -> Step {
    let mut acts = Acts::new();
    let needs = plan.step(i, &Known::NOTHING, &mut acts);
    (needs.expect("a script knows every length"), acts)
}

/// Whether the mutant does the same as the plan, step by step.
fn is_same(mutant: &Mutant<Script<'_>>) -> bool {
    let same = |one: Step, other: Step| one.0 == other.0 && *one.1 == *other.1;
    (0..mutant.steps()).all(|i| same(step(mutant, i), step(&mutant.plan, i)))
}

/// Why a mutant that is not noticed is as right as the plan; `None`: it is not.
fn reason(mutant: &Mutant<Script<'_>>, task: &Task, case: &Case) -> Option<&'static str> {
    let (plan, (spoil, at, place)) = (&mutant.plan, mutant.at?);
    let acts = |i| step(plan, i).1;
    let apart = |one, other| are_independent(&acts(one), &acts(other), task);
    match spoil {
        Spoil::Side => (case.commutative || case.exact)
            .then_some("on which side an operand stands is free where the operation commutes"),
        Spoil::Hasty if case.collective == Collective::Barrier => {
            let receives = acts(at).iter().all(is_receive);
            let twice = !case.size.is_power_of_two();
            let why = [
                (receives, "a signal may be awaited earlier"),
                (twice, "a rank hears twice from some others"),
            ];
            why.into_iter()
                .find_map(|(holds, why)| holds.then_some(why))
        }
        Spoil::Swapped if case.collective == Collective::Barrier => {
            let both = |is: fn(&Act) -> bool| {
                let steps = [acts(at), acts(at + 1)];
                steps.iter().all(|acts| acts.iter().all(is))
            };
            let alike = both(is_receive) || both(|act| !is_receive(act));
            let together = step(plan, at + 1).0 <= at;
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
            let needs = |i| step(plan, i).0;
            let since = (0..at).map(needs).max().unwrap_or(0);
            (since..needs(at))
                .all(|earlier| apart(earlier, at))
                .then_some("the step touches nothing that those before it touch")
        }
        Spoil::Swapped => apart(at, at + 1).then_some("the two steps touch different elements"),
        Spoil::Shorter | Spoil::Dropped => {
            let copies = |act: &Act| matches!(act, Act::Copy { .. });
            (!task.held.is_empty() && acts(at).get(place).is_some_and(copies))
                .then_some("a rank in place may copy what lies there already")
        }
        Spoil::Shifted => {
            let reads = acts(at).get(place).and_then(Act::reads);
            let goes_around = |part: Part| {
                let of_input = matches!(part.buf, Buf::In | Buf::InBlock(_));
                of_input && task.input == 1 && part.len() == 1
            };
            (reads.is_some_and(goes_around))
                .then_some("the only element follows itself around the input")
        }
        Spoil::Peer | Spoil::Tag => None,
    }
}

const fn is_receive(act: &Act) -> bool {
    matches!(act, Act::Recv { .. })
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

/// The same where blocks are longer than the cutoff, half of them or all, and go straight between
/// their rank and the root; none where the algorithm has no cutoff.
fn straight(algorithm: Algorithm) -> Vec<Case> {
    let cut = |case: Case| {
        [0, 3].map(|cutoff| Case {
            seed: case.seed.max(1),
            parameters: Parameters {
                cutoff: 1 + cutoff,
                ..case.parameters
            },
            ..case
        })
    };
    match algorithm.row().parameters.cutoff {
        0 => Vec::new(),
        _ => small(algorithm).into_iter().flat_map(cut).collect(),
    }
}

/// Whether an act of the step belongs to the road that long blocks take: it is no message of the tree,
/// which has tag 0.
fn is_straight(acts: &Acts) -> bool {
    let is = |act: &Act| matches!(act, Act::Send { tag, .. } | Act::Recv { tag, .. } if *tag > 0);
    acts.iter().any(is)
}

/// A mutant of a plan, and where it stands.
struct Drawn {
    case: Case,
    plans: Vec<AnyPlan>,
    contract: Contract,
    rank: usize,
    at: (Spoil, u32, usize),
    /// What the rank does.
    script: Vec<Step>,
}

impl Drawn {
    /// A mutant of the algorithm in one of the cases, spoilt in a step that is `wanted`.
    fn new(
        algorithm: Algorithm,
        all: &[Case],
        index: u64,
        wanted: fn(&Acts) -> bool,
    ) -> Option<Self> {
        let seed = draw(algorithm as u64, index);
        let drawn = |salt, below: usize| (draw(seed, salt) % below.max(1) as u64) as usize;
        let case = all[drawn(0, all.len())];
        let (plans, contract) = case.plans(algorithm).expect("the case suits");
        let rank = drawn(1, plans.len());
        let script = scripts(&plans, &contract).swap_remove(rank);
        let at = drawn(2, script.len());
        let acts = script
            .get(at)
            .map(|(_, acts)| acts)
            .filter(|acts| wanted(acts))?;
        let at = (ALL[drawn(3, ALL.len())], at as u32, drawn(4, acts.len()));
        let is_whole = acts.is_empty();
        let mutant = Drawn {
            case,
            plans,
            contract,
            rank,
            at,
            script,
        };
        (!is_whole && !is_same(&mutant.scripted())).then_some(mutant)
    }

    /// So many mutants of the algorithm.
    fn some(
        algorithm: Algorithm,
        all: &[Case],
        wanted: fn(&Acts) -> bool,
    ) -> impl Iterator<Item = Drawn> {
        let mutants = (0..4000).filter_map(move |index| Drawn::new(algorithm, all, index, wanted));
        mutants.take(MUTANTS)
    }

    fn scripted(&self) -> Mutant<Script<'_>> {
        Mutant {
            plan: Script(&self.script),
            size: self.case.size,
            at: Some(self.at),
        }
    }

    /// The plans of all ranks, spoilt on those for which `spoilt` says so.
    fn plans(&self, spoilt: impl Fn(usize) -> bool) -> Vec<Mutant> {
        let plans = self.plans.iter().enumerate();
        let plan = |(number, &plan)| Mutant {
            plan,
            size: self.case.size,
            at: spoilt(number).then_some(self.at),
        };
        plans.map(plan).collect()
    }

    /// Whether the checker notices it.
    fn is_noticed(&self) -> bool {
        check_plans(&self.plans(|number| number == self.rank), &self.contract).is_err()
    }

    fn reason(&self) -> Option<&'static str> {
        reason(
            &self.scripted(),
            &self.contract.tasks[self.rank],
            &self.case,
        )
    }
}

impl std::fmt::Display for Drawn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rank, (spoil, step, act)) = (self.rank, self.at);
        write!(
            f,
            "rank {rank}, {spoil:?}, step {step}, act {act}, {:?}",
            self.case
        )
    }
}

/// Sees the mutants of an algorithm noticed, and gives the number of those that are equivalent, each
/// with its reason.
fn noticed(algorithm: Algorithm, all: &[Case], wanted: fn(&Acts) -> bool) -> usize {
    let (mut drawn, mut equivalent) = (0, 0);
    for mutant in Drawn::some(algorithm, all, wanted) {
        drawn += 1;
        if mutant.is_noticed() {
            continue;
        }
        let why = mutant.reason();
        let why = why.unwrap_or_else(|| panic!("not noticed: {algorithm}, {mutant}"));
        println!("{algorithm}, equivalent: {why}: {mutant}");
        equivalent += 1;
    }
    assert_eq!(drawn, MUTANTS, "{algorithm}");
    println!(
        "{algorithm}: {} noticed, {equivalent} equivalent",
        MUTANTS - equivalent
    );
    equivalent
}

#[test]
fn the_checker_notices_mutants_of_every_algorithm() {
    let excused = |algorithm| noticed(algorithm, &small(algorithm), |_| true);
    let excused: usize = Algorithm::ALL.into_iter().map(excused).sum();
    let all = MUTANTS * Algorithm::ALL.len();
    assert!(5 * excused < all, "{excused} of {all} are equivalent");
}

#[test]
fn the_checker_notices_mutants_of_blocks_that_go_straight() {
    let mut roads = 0;
    for algorithm in Algorithm::ALL {
        let all = straight(algorithm);
        if !all.is_empty() {
            roads += 1;
            noticed(algorithm, &all, is_straight);
        }
    }
    assert!(roads >= 2, "gatherv and scatterv have such a road");
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
        for mutant in Drawn::some(algorithm, &all, |_| true) {
            for who in [Some(mutant.rank), None] {
                let plans = mutant.plans(|number| who.is_none_or(|who| who == number));
                let few = mutant
                    .case
                    .check_plans_alike(|rank| Ok(plans[rank as usize]));
                let Some(few) = few else {
                    unlike += u32::from(who.is_some());
                    continue;
                };
                let every = check_plans(&plans, &mutant.contract);
                assert_eq!(
                    few.as_ref().ok(),
                    every.as_ref().ok(),
                    "{algorithm}, {who:?}: {few:?}, {every:?}\n{mutant}",
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
        for mutant in Drawn::some(algorithm, &all, |_| true) {
            let (size, contract) = (mutant.case.size, &mutant.contract);
            let arrays = mutant.case.arrays();
            let calls = mutant.case.calls(&arrays);
            assert_eq!(&Contract::of(&calls, &arrays), contract);
            let follow = |plans: &[Mutant], ranks: &[u32]| {
                let ranks = ranks.iter().map(|&rank| Ranks::one(rank));
                let ranks = ranks.fold(Ranks::new(), |all, one| all.union(&one));
                check_plans(plans, &Contract::following(&calls, &arrays, &ranks))
            };
            let each: Vec<_> = (0..size).map(|rank| [rank]).collect();
            let plans = mutant.plans(|_| false);
            let report = check_plans(&plans, contract);
            assert!(each.iter().all(|one| follow(&plans, one) == report));
            let plans = mutant.plans(|number| number == mutant.rank);
            let is_noticed = mutant.is_noticed();
            let is_seen = each.iter().any(|one| follow(&plans, one).is_err());
            assert_eq!(is_noticed, is_seen, "{algorithm}, {mutant}");
            let three = [0, size / 3, size - 1];
            noticed += u32::from(is_noticed);
            by_three += u32::from(follow(&plans, &three).is_err());
        }
    }
    println!("{noticed} noticed by following some block, {by_three} by following three");
    assert!(noticed > 200 && 10 * by_three >= 9 * noticed);
}
