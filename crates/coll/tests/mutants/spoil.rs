//! Ways to spoil a step of a plan.

use std::cell::RefCell;

use oxmpi_coll::catalog::AnyPlan;
use oxmpi_coll::check::{Contract, check_plans};
use oxmpi_coll::plan::{Act, Acts, IntraNodeOp, Part, Plan, PlanInputs, Side};

use super::script::{Script, Step};

/// How a step is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoil {
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

pub(crate) const ALL: [Spoil; 8] = [
    Spoil::Peer,
    Spoil::Tag,
    Spoil::Shorter,
    Spoil::Shifted,
    Spoil::Dropped,
    Spoil::Side,
    Spoil::Hasty,
    Spoil::Swapped,
];

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

/// Keeps the acts, but not which steps may be left out: a mutant has all of them, as where two are
/// exchanged others may be left out.
fn keep_all(acts: &mut Acts) {
    let whole = core::mem::take(acts);
    whole.iter().for_each(|&act| acts.push(act));
}

/// What all ranks do.
pub(crate) fn scripts(plans: &[AnyPlan], contract: &Contract) -> Vec<Vec<Step>> {
    let empty = |plan: &AnyPlan| (0..plan.steps()).map(|i| (i, Acts::new())).collect();
    let scripts: Vec<_> = plans.iter().map(empty).map(RefCell::new).collect();
    let noted = |(&plan, script)| Noted { plan, script };
    let noted: Vec<_> = plans.iter().zip(&scripts).map(noted).collect();
    check_plans(&noted, contract).expect("the plan is right before");
    scripts.into_iter().map(RefCell::into_inner).collect()
}

/// A plan with one act or step spoilt, if `at` is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mutant<P = AnyPlan> {
    pub(crate) plan: P,
    pub(crate) size: u32,
    pub(crate) at: Option<(Spoil, u32, usize)>,
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
            (Spoil::Peer, Act::IntraNode(act)) => Act::IntraNode(IntraNodeOp {
                root: (act.root + 1) % act.ranks.size,
                ..act
            }),
            (Spoil::Shorter, Act::IntraNode(act)) => Act::IntraNode(IntraNodeOp {
                from: shorter(act.from),
                into: shorter(act.into),
                ..act
            }),
            (Spoil::Shifted, Act::IntraNode(act)) if act.into.is_empty() => {
                let from = shifted(act.from);
                Act::IntraNode(IntraNodeOp { from, ..act })
            }
            (Spoil::Shifted, Act::IntraNode(act)) => {
                let into = shifted(act.into);
                Act::IntraNode(IntraNodeOp { into, ..act })
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

impl<P: Plan> Mutant<P> {
    /// The plan's step in the place of step `i`; and, as two at most are exchanged, the place of the
    /// plan's step `i`.
    pub(crate) fn asked(&self, i: u32) -> u32 {
        match self.at {
            Some((Spoil::Swapped, step, _))
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
        let needs = self.plan.step(self.asked(i), inputs, acts)?.min(i);
        let Some((spoil, _, place)) = self.at.filter(|&(_, step, _)| step == i) else {
            keep_all(acts);
            return Some(needs);
        };
        let whole = core::mem::take(acts);
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
pub(crate) fn step<P: Plan>(plan: &P, i: u32) -> Step {
    let mut acts = Acts::new();
    let needs = plan.step(i, &PlanInputs::NOTHING, &mut acts);
    (needs.expect("a script knows every length"), acts)
}

/// Whether the mutant does the same as the plan, step by step.
pub(crate) fn is_same(mutant: &Mutant<Script<'_>>) -> bool {
    let same = |one: Step, other: Step| one.0 == other.0 && *one.1 == *other.1;
    (0..mutant.steps()).all(|i| same(step(mutant, i), step(&mutant.plan, i)))
}
