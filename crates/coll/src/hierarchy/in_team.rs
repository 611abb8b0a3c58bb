//! A collective that the ranks of a node do together, by memory that they share: one act, and no
//! message.

use super::Inside;
use crate::catalog::{Call, Collective, Parameters};
use crate::plan::{Acts, Buf, Known, Part, Plan, Team, Together};

/// One rank's part in what all ranks of the call, who are on one node, do [together](Together). A rank
/// alone copies what it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InTeam {
    does: Collective,
    rank: u32,
    size: u32,
    root: u32,
    count: u64,
    in_place: bool,
}

impl InTeam {
    pub(crate) const fn of(call: &Call, _: &Parameters) -> Self {
        InTeam {
            does: call.collective,
            rank: call.rank,
            size: call.size,
            root: call.root,
            count: call.count,
            in_place: call.in_place,
        }
    }

    fn act(&self) -> Together {
        let act = Together {
            does: self.does,
            team: Team::of(self.size),
            root: self.root,
            count: self.count,
            from: Part::EMPTY,
            into: Part::EMPTY,
        };
        let [gives, gets] = act.lengths(self.rank);
        let gets = match self.does {
            Collective::Scatter if self.in_place => 0,
            Collective::ReduceScatterBlock if self.in_place => gives,
            _ => gets,
        };
        let gives = match self.does {
            Collective::Scatter => gives,
            _ if self.in_place => 0,
            _ => gives,
        };
        let part = |buf, count| match count {
            0 => Part::EMPTY,
            _ => Part::new(buf, 0, count),
        };
        Together {
            from: part(Buf::In, gives),
            into: part(Buf::Out, gets),
            ..act
        }
    }
}

impl Inside for InTeam {
    fn most_rounds(_: u32, _: &Parameters) -> u64 {
        0
    }
}

impl Plan for InTeam {
    fn steps(&self) -> u32 {
        u32::from(self.count > 0)
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, _: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let act = self.act();
        match (act.from.is_empty(), act.into.is_empty()) {
            _ if self.size > 1 => acts.together(act),
            (false, false) => acts.copy(act.from, act.into),
            _ => {}
        }
        Some(i)
    }
}
