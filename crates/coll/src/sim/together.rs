//! Intra-node phases in the simulator: all ranks leave as long after the last one enters as the [cost
//! form](crate::cost) says.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::error::Error;
use super::events::What;
use super::world::World;
use crate::cost::together;
use crate::plan::{Team, Together};

/// An intra-node phase that some ranks have entered.
struct Meeting {
    act: Together,
    ranks: Vec<u32>,
    /// The time at which the last of them entered.
    last: u64,
}

/// All phases that some but not all ranks have entered.
#[derive(Default)]
pub(super) struct Meetings(BTreeMap<Team, Meeting>);

impl World<'_> {
    /// A rank enters a phase. Returns the number of the phase among the rank's phases.
    pub(super) fn come(&mut self, rank: u32, act: &Together) -> Result<u32, Error> {
        let me = self.rank(rank);
        me.joined += 1;
        let (ticket, now) = (me.joined, me.cpu);
        let meeting = self.meetings.0.entry(act.team).or_insert(Meeting {
            act: *act,
            ranks: Vec::new(),
            last: 0,
        });
        if !act.agrees(&meeting.act) || act.number(rank).is_none() {
            return Err(Error::Apart { rank });
        }
        meeting.ranks.push(rank);
        meeting.last = meeting.last.max(now);
        if meeting.ranks.len() == act.team.size as usize
            && let Some(meeting) = self.meetings.0.remove(&act.team)
        {
            let bytes = act.count * self.element;
            let node = self.setup.machine.node;
            let end = meeting.last + together(node, act.does, act.team.size, bytes);
            for rank in meeting.ranks {
                self.passes(rank, end, What::Met);
            }
        }
        Ok(ticket)
    }
}
