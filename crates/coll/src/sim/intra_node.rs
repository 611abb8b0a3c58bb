//! What ranks of a node do together: all are done as long after the last of them has come as the
//! [form](crate::cost) says.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::error::Error;
use crate::plan::{IntraNodeOp, NodeRanks};

/// Ranks that have come to do this.
struct PendingOp {
    act: IntraNodeOp,
    ranks: Vec<u32>,
    /// When the last of them came.
    last: u64,
}

/// All teams of which some rank waits.
#[derive(Default)]
pub(super) struct PendingOps(BTreeMap<NodeRanks, PendingOp>);

impl PendingOps {
    /// A rank comes at a time. Once it is the last one: all of its node, and when the last of them came.
    ///
    /// # Errors
    ///
    /// When it does not do what the others do.
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
        if !act.agrees(&pending.act) || act.number(rank).is_none() {
            return Err(Error::Apart { rank });
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
