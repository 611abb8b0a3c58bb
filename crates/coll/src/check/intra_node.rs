//! Intra-node phases on symbols: when the last rank of a node has entered, each rank gets its result.

use alloc::vec::Vec;
use std::collections::HashMap;

use super::fault::FaultKind;
use super::memory::joined;
use super::message::Message;
use super::sums::{State, Sums};
use crate::call::Collective;
use crate::plan::{IntraNodeOp, NodeRanks, Part};

/// Names a message under way: an index into [`World::ends`].
pub(super) type Request = u32;

/// A rank that has entered the phase.
#[derive(Debug)]
pub(super) struct Member {
    /// Its number in the node.
    number: u32,
    pub(super) request: Request,
    /// Its contribution.
    gives: Message,
}

/// A phase that some ranks of a node have entered.
#[derive(Debug)]
struct PendingOp {
    act: IntraNodeOp,
    members: Vec<Member>,
}

/// All phases that some but not all ranks have entered.
#[derive(Debug, Default)]
pub(super) struct PendingOps(HashMap<NodeRanks, PendingOp, State>);

impl PendingOps {
    /// A rank enters its phase. Returns all ranks of the phase, in the order of their numbers, once the
    /// last has entered.
    pub(super) fn join(
        &mut self,
        act: &IntraNodeOp,
        number: u32,
        request: Request,
        gives: Message,
    ) -> Result<Option<Vec<Member>>, FaultKind> {
        let none = || PendingOp {
            act: *act,
            members: Vec::new(),
        };
        let pending = self.0.entry(act.ranks).or_insert_with(none);
        if !act.agrees(&pending.act) {
            return Err(FaultKind::Apart);
        }
        pending.members.push(Member {
            number,
            request,
            gives,
        });
        if pending.members.len() < act.ranks.size as usize {
            return Ok(None);
        }
        let pending = self.0.remove(&act.ranks);
        let mut members = pending.map_or(Vec::new(), |pending| pending.members);
        members.sort_unstable_by_key(|member| member.number);
        // The count is right, so every rank has entered unless one entered twice.
        let has_come = |(member, number): (&Member, u32)| member.number == number;
        match members.iter().zip(0..).all(has_come) {
            true => Ok(Some(members)),
            false => Err(FaultKind::Apart),
        }
    }
}

/// The part that holds a rank's contribution: `from` or, in place, a part of `into`.
///
/// # Errors
///
/// If the rank's parts have other lengths than the act says.
pub(super) fn given(act: &IntraNodeOp, number: u32) -> Result<Part, FaultKind> {
    let [gives, gets] = act.lengths(number);
    let is_in_place = act.from.is_empty() && gives > 0;
    let holds = match act.collective {
        Collective::ReduceScatterBlock if is_in_place => gives,
        Collective::Scatter if act.into.is_empty() && number == act.root => 0,
        _ => gets,
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
        return length(act.from.len(), gives).map(|()| act.from);
    }
    if act.into.times != 1 || act.into.wrap != 0 || holds < gives {
        return length(0, gives).map(|()| act.from);
    }
    Ok(Part {
        first: act.into.first + act.in_place(number),
        count: gives,
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
    members: &[Member],
    sums: &mut Sums,
) -> Result<Vec<Message>, FaultKind> {
    let (count, root) = (act.count, act.root as usize);
    let block = |of: &Message, number: u64| of.part(&(number * count..(number + 1) * count));
    let whole = |of: &dyn Fn(&Member) -> Message| {
        let mut whole = Message::default();
        for (at, member) in (0..).zip(members) {
            whole.append(at * count, &of(member));
        }
        whole
    };
    let same = |one: Message| members.iter().map(|_| one.clone()).collect();
    let each = |of: &dyn Fn(u64) -> Message| (0..).zip(members).map(|(at, _)| of(at)).collect();
    let mut sum = || {
        let mut all = members.iter().map(|member| &member.gives);
        let first = all.next().cloned().unwrap_or_default();
        all.try_fold(first, |sum, next| joined(&sum, next, sums))
    };
    Ok(match act.collective {
        Collective::Bcast => same(members[root].gives.clone()),
        Collective::Scatter => each(&|at| block(&members[root].gives, at)),
        Collective::Gather | Collective::Allgather => same(whole(&|one| one.gives.clone())),
        Collective::Alltoall => each(&|at| whole(&|one| block(&one.gives, at))),
        Collective::ReduceScatterBlock => {
            let sum = sum()?;
            each(&|at| block(&sum, at))
        }
        _ => same(sum()?),
    })
}
