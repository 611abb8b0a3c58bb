//! What ranks of a node do together: all are done as long after the last of them has come as the
//! [form](crate::cost) says.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::error::Error;
use super::events::What;
use super::world::World;
use crate::cost::together;
use crate::plan::{Team, Together};

/// Ranks that have come to do this.
struct Meeting {
    act: Together,
    ranks: Vec<u32>,
    /// When the last of them came.
    last: u64,
}

/// All teams of which some rank waits.
#[derive(Default)]
pub(super) struct Meetings(BTreeMap<Team, Meeting>);

impl World<'_> {
    /// A rank comes. What it gets names it among what the rank does together with others.
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
