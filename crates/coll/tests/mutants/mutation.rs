//! The mutations of a plan's step.

use std::cell::RefCell;

use oxmpi_coll::catalog::AnyPlan;
use oxmpi_coll::check::{Contract, check_plans};
use oxmpi_coll::plan::{Act, Acts, IntraNodeOp, Part, Plan, PlanInputs, Side};

use crate::common::script::{Script, Step};

/// A kind of mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// The act has another peer.
    Peer,
    /// The message has another tag.
    Tag,
    /// The part is one element shorter.
    Shorter,
    /// The part starts one element later.
    Shifted,
    /// The act is missing.
    Dropped,
    /// The operand is on the other side.
    Side,
    /// The step waits for no other step.
    Hasty,
    /// The step is exchanged with the next one.
    Swapped,
}

pub(crate) const ALL: [Mutation; 8] = [
    Mutation::Peer,
    Mutation::Tag,
    Mutation::Shorter,
    Mutation::Shifted,
    Mutation::Dropped,
    Mutation::Side,
    Mutation::Hasty,
    Mutation::Swapped,
];

/// A plan that records the steps which the checker asks for.
#[derive(Clone, Copy)]
struct Recorder<'a> {
    plan: AnyPlan,
    script: &'a RefCell<Vec<Step>>,
}

impl Plan for Recorder<'_> {
    fn steps(&self) -> u32 {
        self.plan.steps()
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        self.plan.scratch(inputs)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let needs = self.plan.step(i, inputs, acts)?;
        keep_all(acts);
        self.script.borrow_mut()[i as usize] = (needs, acts.clone());
        Some(needs)
    }
}

/// Keeps the acts and drops the permission to leave steps out: a mutant that exchanges two steps may not
/// leave out the wrong one.
fn keep_all(acts: &mut Acts) {
    let whole = core::mem::take(acts);
    whole.iter().for_each(|&act| acts.push(act));
}

/// Runs the plans in the checker and returns what each rank does.
pub(crate) fn scripts(plans: &[AnyPlan], contract: &Contract) -> Vec<Vec<Step>> {
    let empty = |plan: &AnyPlan| (0..plan.steps()).map(|i| (i, Acts::new())).collect();
    let scripts: Vec<_> = plans.iter().map(empty).map(RefCell::new).collect();
    let recorders = |(&plan, script)| Recorder { plan, script };
    let recorders: Vec<_> = plans.iter().zip(&scripts).map(recorders).collect();
    check_plans(&recorders, contract).expect("the unchanged plan is right");
    scripts.into_iter().map(RefCell::into_inner).collect()
}

/// A plan with one act or step mutated, where `at` says so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mutant<P = AnyPlan> {
    pub(crate) plan: P,
    pub(crate) size: u32,
    /// The mutation, its step, and the index of its act in the step.
    pub(crate) at: Option<(Mutation, u32, usize)>,
}

impl<P> Mutant<P> {
    fn mutate(&self, mutation: Mutation, mut act: Act) -> Option<Act> {
        let shorten = |part: &mut Part| part.count = part.count.saturating_sub(1);
        match (mutation, &mut act) {
            (Mutation::Dropped, _) => return None,
            (
                Mutation::Peer,
                Act::Send { to: peer, .. }
                | Act::Recv { from: peer, .. }
                | Act::Size { from: peer, .. },
            ) => *peer = (*peer + 1) % self.size,
            (Mutation::Peer, Act::IntraNode(act)) => act.root = (act.root + 1) % act.ranks.size,
            (
                Mutation::Tag,
                Act::Send { tag, .. } | Act::Recv { tag, .. } | Act::Size { tag, .. },
            ) => *tag ^= 1,
            (
                Mutation::Shorter,
                Act::Send { from: part, .. }
                | Act::Recv { into: part, .. }
                | Act::Learn { from: part, .. },
            ) => shorten(part),
            (
                Mutation::Shorter,
                Act::Copy { from, into }
                | Act::Reduce { from, into, .. }
                | Act::IntraNode(IntraNodeOp { from, into, .. }),
            ) => [from, into].into_iter().for_each(shorten),
            (
                Mutation::Shifted,
                Act::Send { from: part, .. }
                | Act::Learn { from: part, .. }
                | Act::Recv { into: part, .. }
                | Act::Copy { into: part, .. }
                | Act::Reduce { into: part, .. },
            ) => part.first += 1,
            (Mutation::Shifted, Act::IntraNode(act)) if act.into.is_empty() => act.from.first += 1,
            (Mutation::Shifted, Act::IntraNode(act)) => act.into.first += 1,
            (Mutation::Side, Act::Reduce { side, .. }) => {
                *side = match side {
                    Side::Left => Side::Right,
                    Side::Right => Side::Left,
                }
            }
            _ => {}
        }
        Some(act)
    }
}

impl<P: Plan> Mutant<P> {
    /// The step of the plan that runs as step `i`. As at most two steps are exchanged, this is also the
    /// step as which step `i` of the plan runs.
    pub(crate) fn source_step(&self, i: u32) -> u32 {
        match self.at {
            Some((Mutation::Swapped, step, _))
                if step + 1 < self.steps() && (i == step || i == step + 1) =>
            {
                2 * step + 1 - i
            }
            _ => i,
        }
    }
}

impl<P: Plan> Plan for Mutant<P> {
    fn steps(&self) -> u32 {
        self.plan.steps()
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        self.plan.scratch(inputs)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let needs = self.plan.step(self.source_step(i), inputs, acts)?.min(i);
        let Some((mutation, _, act_index)) = self.at.filter(|&(_, step, _)| step == i) else {
            keep_all(acts);
            return Some(needs);
        };
        let whole = core::mem::take(acts);
        for (at, &act) in whole.iter().enumerate() {
            let act = if at == act_index {
                self.mutate(mutation, act)
            } else {
                Some(act)
            };
            act.into_iter().for_each(|act| acts.push(act));
        }
        Some(if mutation == Mutation::Hasty {
            0
        } else {
            needs
        })
    }
}

/// The acts of a step of a script, and the steps that it needs.
pub(crate) fn step<P: Plan>(plan: &P, i: u32) -> Step {
    let mut acts = Acts::new();
    let needs = plan.step(i, &PlanInputs::NOTHING, &mut acts);
    (needs.expect("a script knows every length"), acts)
}

/// Whether the mutant equals the plan step by step.
pub(crate) fn is_same(mutant: &Mutant<Script<'_>>) -> bool {
    let same = |one: Step, other: Step| one.0 == other.0 && *one.1 == *other.1;
    (0..mutant.steps()).all(|i| same(step(mutant, i), step(&mutant.plan, i)))
}
