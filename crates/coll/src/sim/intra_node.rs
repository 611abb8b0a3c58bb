//! Intra-node phases in the simulator: all ranks leave as long after the last one enters as the [cost
//! form](crate::cost) says.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::error::Error;
use crate::plan::{IntraNodeOp, NodeRanks};

/// An intra-node phase that some ranks have entered.
struct Meeting {
    act: IntraNodeOp,
    ranks: Vec<u32>,
    /// The time at which the last of them entered.
    last: u64,
}

/// All phases that some but not all ranks have entered.
#[derive(Default)]
pub(super) struct Meetings(BTreeMap<NodeRanks, Meeting>);

impl Meetings {
    /// A rank enters a phase at time `now`. If it is the last, returns all ranks of the phase and the
    /// time at which the last entered.
    pub(super) fn come(
        &mut self,
        rank: u32,
        act: &IntraNodeOp,
        now: u64,
    ) -> Result<Option<(Vec<u32>, u64)>, Error> {
        let meeting = self.0.entry(act.ranks).or_insert(Meeting {
            act: *act,
            ranks: Vec::new(),
            last: 0,
        });
        if !act.agrees(&meeting.act) || act.number(rank).is_none() {
            return Err(Error::Apart { rank });
        }
        meeting.ranks.push(rank);
        meeting.last = meeting.last.max(now);
        if meeting.ranks.len() < act.ranks.size as usize {
            return Ok(None);
        }
        let meeting = self.0.remove(&act.ranks);
        Ok(meeting.map(|meeting| (meeting.ranks, meeting.last)))
    }
}
