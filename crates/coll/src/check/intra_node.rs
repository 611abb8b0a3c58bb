//! Intra-node phases on symbols: when the last rank of a node has entered, each rank gets its result.

use alloc::vec::Vec;
use std::collections::HashMap;

use super::fault::FaultKind;
use super::memory::reduce_messages;
use super::message::SymbolMessage;
use super::sums::{SumHashState, Sums};
use crate::call::Collective;
use crate::plan::{IntraNodeOp, NodeRanks, Part};

/// The index of a pending act in the network.
pub(super) type Request = u32;

/// A rank that has entered the phase.
#[derive(Debug)]
pub(super) struct PhaseMember {
    /// Its number in the node.
    number: u32,
    pub(super) request: Request,
    /// Its contribution.
    contribution: SymbolMessage,
}

/// A phase that some ranks of a node have entered.
#[derive(Debug)]
struct PendingOp {
    act: IntraNodeOp,
    members: Vec<PhaseMember>,
}

/// All phases that some but not all ranks have entered.
#[derive(Debug, Default)]
pub(super) struct PendingOps(HashMap<NodeRanks, PendingOp, SumHashState>);

impl PendingOps {
    /// A rank enters its phase. Returns all ranks of the phase, in the order of their numbers, once the
    /// last has entered.
    pub(super) fn join(
        &mut self,
        act: &IntraNodeOp,
        request: Request,
        contribution: SymbolMessage,
    ) -> Result<Option<Vec<PhaseMember>>, FaultKind> {
        let none = || PendingOp {
            act: *act,
            members: Vec::new(),
        };
        let pending = self.0.entry(act.ranks).or_insert_with(none);
        if !act.agrees(&pending.act) {
            return Err(FaultKind::PhaseMismatch);
        }
        pending.members.push(PhaseMember {
            number: act.number,
            request,
            contribution,
        });
        if pending.members.len() < act.ranks.size as usize {
            return Ok(None);
        }
        let pending = self.0.remove(&act.ranks);
        let mut members = pending.map_or(Vec::new(), |pending| pending.members);
        members.sort_unstable_by_key(|member| member.number);
        // The count is right, so every rank has entered unless one entered twice.
        let has_entered = |(member, number): (&PhaseMember, u32)| member.number == number;
        match members.iter().zip(0..).all(has_entered) {
            true => Ok(Some(members)),
            false => Err(FaultKind::PhaseMismatch),
        }
    }
}

/// The part that holds a rank's contribution: `from` or, in place, a part of `into`.
///
/// # Errors
///
/// If the rank's parts have other lengths than the act says.
pub(super) fn contribution_part(act: &IntraNodeOp) -> Result<Part, FaultKind> {
    let [contribution, result_length] = act.lengths();
    let is_in_place = act.from.is_empty() && contribution > 0;
    let holds = match act.collective {
        Collective::ReduceScatterBlock if is_in_place => contribution,
        Collective::Scatter if act.into.is_empty() && act.number == act.root => 0,
        _ => result_length,
    };
    let length = |has: u64, must: u64| match has == must {
        true => Ok(()),
        false => Err(FaultKind::Length {
            from: has,
            into: must,
        }),
    };
    length(act.into.len(), holds)?;
    if !is_in_place {
        return length(act.from.len(), contribution).map(|()| act.from);
    }
    if act.into.times != 1 || act.into.wrap != 0 || holds < contribution {
        return length(0, contribution).map(|()| act.from);
    }
    Ok(Part {
        first: act.into.first + act.in_place(),
        count: contribution,
        ..act.into
    })
}

/// The result of each rank.
///
/// # Errors
///
/// If the contributions cannot be reduced with each other.
pub(super) fn results(
    act: &IntraNodeOp,
    members: &[PhaseMember],
    sums: &mut Sums,
) -> Result<Vec<SymbolMessage>, FaultKind> {
    let (count, root) = (act.count, act.root as usize);
    let block = |of: &SymbolMessage, number: u64| of.part(&(number * count..(number + 1) * count));
    let whole = |of: &dyn Fn(&PhaseMember) -> SymbolMessage| {
        let mut whole = SymbolMessage::default();
        for (at, member) in (0..).zip(members) {
            whole.append(at * count, &of(member));
        }
        whole
    };
    let same = |one: SymbolMessage| members.iter().map(|_| one.clone()).collect();
    let each =
        |of: &dyn Fn(u64) -> SymbolMessage| (0..).zip(members).map(|(at, _)| of(at)).collect();
    let mut sum = || {
        let mut all = members.iter().map(|member| &member.contribution);
        let first = all.next().cloned().unwrap_or_default();
        all.try_fold(first, |sum, next| reduce_messages(&sum, next, sums))
    };
    Ok(match act.collective {
        Collective::Bcast => same(members[root].contribution.clone()),
        Collective::Scatter => each(&|at| block(&members[root].contribution, at)),
        Collective::Gather | Collective::Allgather => same(whole(&|one| one.contribution.clone())),
        Collective::Alltoall => each(&|at| whole(&|one| block(&one.contribution, at))),
        Collective::ReduceScatterBlock => {
            let sum = sum()?;
            each(&|at| block(&sum, at))
        }
        _ => same(sum()?),
    })
}
