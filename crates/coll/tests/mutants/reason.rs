//! Decides, without the checker, whether a mutant is equivalent to the plan, and why.

use std::collections::BTreeSet;

use oxmpi_coll::catalog::Collective;
use oxmpi_coll::check::{Blocks, Task};
use oxmpi_coll::plan::{Act, Buf, Part, Plan, TAGS};

use super::drawn::RandomMutant;
use super::mutation::{Mutant, Mutation, step};
use super::waits::HappensBefore;
use crate::common::script::Script;

/// The reason why a mutant is equivalent to the plan, or `None` if it is not.
pub(crate) fn reason(drawn: &RandomMutant) -> Option<&'static str> {
    let mutant = drawn.scripted();
    match drawn.at.0 {
        Mutation::Side => (drawn.case.commutative || drawn.case.exact)
            .then_some("the operation commutes, so the side of an operand does not matter"),
        Mutation::Hasty | Mutation::Swapped => {
            let mut scripts = drawn.scripts.clone();
            scripts[drawn.rank] = (0..mutant.steps()).map(|i| step(&mutant, i)).collect();
            let waits = HappensBefore::new(&scripts).filter(HappensBefore::end)?;
            let (right, why) = match drawn.case.collective {
                Collective::Barrier => (
                    waits.enter_first(),
                    "no rank leaves before all have entered",
                ),
                _ => (
                    keeps_order(&mutant, drawn) && keeps_room(&mutant),
                    "a step overtakes only steps with other elements, or with equal messages",
                ),
            };
            right.then_some(why)
        }
        _ => None,
    }
}

/// Whether steps with a data dependency still run in order, and differing messages of one pair of ranks
/// and tag still start in order.
fn keeps_order(mutant: &Mutant<Script<'_>>, drawn: &RandomMutant) -> bool {
    let (task, collective) = (&drawn.contract.tasks[drawn.rank], drawn.case.collective);
    let acts = |i| step(&mutant.plan, i).1;
    let waits = awaited(mutant);
    let steps = 0..mutant.steps();
    let mut pairs = steps.flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    pairs.all(|(earlier, later)| {
        let [first, second] = [earlier, later].map(|i| mutant.source_step(i));
        let [one, other] = [earlier, later].map(acts);
        let in_order = first < second || !have_differing_messages(&one, &other, collective);
        in_order && (first < waits[second as usize] || are_independent(&one, &other, task))
    })
}

/// Whether every step finds scratch as large as in the plan.
fn keeps_room(mutant: &Mutant<Script<'_>>) -> bool {
    let plan = &mutant.plan;
    let in_scratch = |&i: &u32| {
        let is = |part: Option<Part>| part.is_some_and(|part| part.buf == Buf::Scratch);
        let acts = step(plan, i).1;
        acts.iter().any(|act| is(act.reads()) || is(act.writes()))
    };
    let mut steps = (0..plan.steps()).filter(in_scratch);
    steps.all(|i| {
        let there: BTreeSet<_> = room(mutant, mutant.source_step(i))
            .map(|i| mutant.source_step(i))
            .collect();
        room(plan, i).all(|learned| there.contains(&learned))
    })
}

/// The steps that learn a length which scratch has room for when step `i` starts: scratch grows before
/// each step that waits for all others.
fn room<P: Plan>(plan: &P, i: u32) -> impl Iterator<Item = u32> {
    let made = (0..=i).rev().find(|&i| step(plan, i).0 == i).unwrap_or(0);
    (0..made).filter(move |&i| {
        let learns = |act: &Act| matches!(act, Act::Size { .. } | Act::Learn { .. });
        step(plan, i).1.iter().any(learns)
    })
}

/// For each step, the number of leading steps that are done when it starts.
fn awaited<P: Plan>(plan: &P) -> Vec<u32> {
    let needs = (0..plan.steps()).map(|i| step(plan, i).0);
    let most = needs.scan(0, |most, needs| {
        *most = needs.max(*most);
        Some(*most)
    });
    most.collect()
}

/// Whether the two steps have messages of one sender, receiver and tag that differ.
fn have_differing_messages(one: &[Act], other: &[Act], collective: Collective) -> bool {
    // In these collectives a rank sends the same block to all neighbours.
    let sends_one = matches!(
        collective,
        Collective::NeighborAllgather | Collective::NeighborAllgatherv
    );
    let are_alike = |a: &Act, b: &Act| match (a, b) {
        (Act::Recv { into, .. }, Act::Recv { into: other, .. }) => {
            sends_one && into.len() == other.len()
        }
        _ => a == b,
    };
    let differ = |a: &Act, b: &Act| {
        message_key(a).is_some() && message_key(a) == message_key(b) && !are_alike(a, b)
    };
    one.iter().any(|a| other.iter().any(|b| differ(a, b)))
}

/// The direction, peer and tag of an act's message; for an intra-node phase its first rank, and no tag.
fn message_key(act: &Act) -> Option<(bool, u32, u32)> {
    match *act {
        Act::IntraNode(act) => Some((true, act.ranks.first, TAGS)),
        Act::Send { to, tag, .. } => Some((true, to, tag)),
        Act::Recv { from, tag, .. } | Act::Size { from, tag, .. } => Some((false, from, tag)),
        _ => None,
    }
}

/// Whether no act of one step writes elements that an act of the other step reads or writes.
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

/// The elements of a part, as buffer and index.
fn elements(part: Part, task: &Task) -> BTreeSet<(u8, u64)> {
    let (name, around, block) = match part.buf {
        Buf::In => (0, part.wrap, None),
        Buf::InBlock(block) => (0, task.input, Some((&task.blocks[0], block))),
        Buf::Out => (1, part.wrap, None),
        Buf::OutBlock(block) => (1, task.output, Some((&task.blocks[1], block))),
        Buf::Scratch => (2, part.wrap, None),
        _ => (3, part.wrap, None),
    };
    let indexes: Vec<u64> = match block {
        Some((blocks, block)) if part.limit < u64::MAX => short(blocks, block, part),
        Some((blocks, block)) => {
            let start = blocks.start(block).expect("a block");
            part.blocks().flatten().map(|index| start + index).collect()
        }
        None => part.blocks().flatten().collect(),
    };
    let turned = indexes.into_iter().map(|index| match around {
        0 => (name, index),
        around => (name, index % around),
    });
    turned.collect()
}

/// The indexes of a part that skips blocks longer than its limit, from block `first` on.
fn short(blocks: &Blocks, first: u32, part: Part) -> Vec<u64> {
    let start = |block| blocks.start(block);
    let ranges = (first..).map_while(|block| Some(start(block)?..start(block + 1)?));
    let short = ranges.filter(|block| block.end - block.start <= part.limit);
    short.flatten().take(part.len() as usize).collect()
}
