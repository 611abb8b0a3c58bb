//! Intra-node phases in the simulator: all ranks leave as long after the last one enters as the [cost
//! form](crate::cost) says.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::error::Error;
use crate::plan::{IntraNodeOp, NodeRanks};

/// An intra-node phase that some ranks have entered.
struct PendingOp {
    act: IntraNodeOp,
    ranks: Vec<u32>,
    /// The time at which the last of them entered.
    last: u64,
}

/// All phases that some but not all ranks have entered.
#[derive(Default)]
pub(super) struct PendingOps(BTreeMap<NodeRanks, PendingOp>);

impl PendingOps {
    /// A rank enters a phase at time `now`. If it is the last, returns all ranks of the phase and the
    /// time at which the last entered.
    pub(super) fn join(
        &mut self,
        rank: u32,
        act: &IntraNodeOp,
        now: u64,
    ) -> Result<Option<(Vec<u32>, u64)>, Error> {
        let pending = self.0.entry(act.ranks).or_insert(PendingOp {
            act: *act,
            ranks: Vec::new(),
            last: 0,
        });
        if !act.agrees(&pending.act) || !act.is_well_formed() {
            return Err(Error::PhaseMismatch { rank });
        }
        pending.ranks.push(rank);
        pending.last = pending.last.max(now);
        if pending.ranks.len() < act.ranks.size as usize {
            return Ok(None);
        }
        let pending = self.0.remove(&act.ranks);
        Ok(pending.map(|pending| (pending.ranks, pending.last)))
    }
}
