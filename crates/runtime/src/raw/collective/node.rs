//! Collectives of ranks that share a node: by their team's flags and buffers, without messages.
//!
//! A communicator's team is made at its first collective, by all ranks at once: either all have one
//! or none has, and then messages do it. What the user asks an algorithm for, by a setting or by a rule
//! that speaks of groups of this size, goes by messages too; so do reductions whose results are to be
//! the same wherever the ranks are.
//!
//! Where ranks are on several nodes, those of each node have a team, or none has one on any node. What a plan lets them do
//! [together](Together) goes by that.

use oxmpi_coll::catalog::{Call, Collective, Teams};
use oxmpi_coll::plan::{self, Side, Together};
use oxmpi_os::RawBytes;
use oxmpi_shm::node::collective::{Awaited, Driver, Operands, Team};
use oxmpi_wire::Bytes;

use super::super::access::Access;
use super::super::communicator::Communicator;
use super::super::lane::{Lane, Lent, Missed, OnNodes};
use super::places::pairs;
use super::trouble::{Cause, look};
use super::{Area, Buffers, Meeting, Operation};
use crate::error::{Error, Result};

impl<A: Access> Communicator<A> {
    /// Runs the call, if a team does; all ranks find the same. See [`Communicator::collective`].
    pub(super) fn in_node(
        &self,
        call: &Call,
        buffers: &Buffers,
        operation: Option<Operation<'_>>,
    ) -> Result<bool> {
        let (Area::Whole(input), Area::Whole(output)) = (&buffers.input, &buffers.output) else {
            return Ok(false);
        };
        let is_bound = self.reproducible().binds(call);
        if call.size < 2 || call.remote > 0 || !serves_in_node(call) || is_bound {
            return Ok(false);
        }
        let (team, looks) = match self.lend(call)? {
            Lent::Team(team, looks) => (team, looks),
            Lent::None | Lent::Unmade => return Ok(false),
            Lent::Away => return Err(self.refused(&UNDER_WAY)),
        };
        let mut run = Run {
            team: Some(team),
            caller: Caller {
                meeting: self.meeting(),
                operation,
                looks,
            },
            done: false,
        };
        let ended = run.go(call, input, output);
        run.done = ended.is_ok();
        ended.map_err(|error| self.meeting().end_for(error))
    }

    /// Which ranks can act together in a call that goes by a plan, and for which all wait; all ranks find the
    /// same.
    #[inline]
    pub(super) fn teams(&self, call: &Call) -> Result<Teams> {
        let place = self.group().place();
        let (nodes, per_node) = (place.nodes(), place.per_node());
        let are_some = nodes > 1 && per_node > 1 && call.remote == 0;
        if !are_some || !serves_on_nodes(call, per_node) || self.reproducible().binds(call) {
            return Ok(Teams::None);
        }
        let have = || (self.access()).with(|lane| lane.teams_on_nodes(self.context()));
        let have = match have() {
            OnNodes::Unmade => self.meet().map(|()| have())?,
            known => known,
        };
        match have {
            OnNodes::Made => Ok(Teams::OnNodes),
            OnNodes::None | OnNodes::Unmade => Ok(Teams::None),
            OnNodes::Away => Err(self.refused(&UNDER_WAY)),
        }
    }

    /// Lends the communicator's team, which is made at first.
    #[inline]
    fn lend(&self, call: &Call) -> Result<Lent> {
        let lend = || {
            let (context, ours) = (self.context(), self.collective_context());
            self.access().with(|lane| match lane.troubles.of(ours) {
                None if self.group().is_on_one_node() => lane.lend_team(context, call),
                _ => Ok(Lent::None),
            })
        };
        match lend()? {
            Lent::Unmade => self.meet().and_then(|()| lend()),
            lent => Ok(lent),
        }
    }
}

/// Why a communicator's team is away.
const UNDER_WAY: &str = "one is under way on this communicator, in another thread or in whose operation this one is called";

/// Why a collective ends early.
enum Stop {
    /// What it waits for never comes.
    Here(Missed),
    /// Another rank tells of it.
    Told(Cause),
}

/// Whether plans of such a call may let ranks act together, so many being on each of several nodes.
pub(crate) const fn serves_on_nodes(call: &Call, per_node: u32) -> bool {
    match call.collective {
        Collective::Bcast | Collective::Gather | Collective::Scatter => true,
        Collective::Reduce | Collective::Allreduce => {
            let has_size = call.element_bytes > 0 && call.element_bytes <= Team::ELEMENT;
            has_size && Team::is_worth_reducing(per_node as usize, call.bytes())
        }
        _ => false,
    }
}

/// Whether ranks that share a node are served by a team in such a call.
pub(crate) const fn serves_in_node(call: &Call) -> bool {
    let (size, reduces) = (call.size as usize, call.collective.reduces());
    Together::is_done(call.collective) && (!reduces || Team::is_worth_reducing(size, call.bytes()))
}

impl<A: Access> Meeting<'_, A> {
    /// Does what the ranks of this node do together, of elements of so many bytes: this rank reads and writes these.
    ///
    /// # Errors
    /// When a rank that this one waits for is lost or does something else, or there is no team.
    pub(super) fn together(
        self,
        act: &Together,
        (element, [input, output]): (u64, [RawBytes; 2]),
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        let (team, looks) = match (self.access).with(|lane| lane.lend_team_on_node(self.context)) {
            Lent::Team(team, looks) => (team, looks),
            Lent::Away => return Err(self.refused(&UNDER_WAY)),
            Lent::None | Lent::Unmade => {
                return Err(self.refused(&"its plan lets ranks act together that have no team"));
            }
        };
        let (place, rank) = (self.group.place(), self.group.rank());
        let is_ours = act.team == plan::Team::on(place, place.node(rank));
        let number = act.number(rank).filter(|_| is_ours);
        let mut run = Run {
            team: Some(team),
            caller: Caller {
                meeting: self,
                operation,
                looks,
            },
            // Who runs the plan tells all of an error.
            done: true,
        };
        let done = match number {
            Some(number) => run.go(&act.call(number, element), &input, &output)?,
            None => false,
        };
        match done {
            true => Ok(()),
            false => Err(self.refused(&"its plan lets ranks do together what they do not")),
        }
    }

    /// Why a collective ends that waits for what never comes.
    #[cold]
    fn stopped(self, stop: Stop) -> Error {
        match stop {
            Stop::Told(cause) => self.error(cause),
            Stop::Here(Missed::Lost(failure)) => self.failed(failure),
            Stop::Here(Missed::Differs(peer)) => {
                let rank = self.group.rank_of(peer.0).unwrap_or_default();
                self.refused(&format_args!(
                    "rank {rank} calls another one, or with another root or count: the ranks do not \
                     agree on the call"
                ))
            }
        }
    }
}

/// One collective under way. Dropping it gives the team back; if the collective has not ended, all
/// ranks learn of it.
struct Run<'a, A: Access> {
    /// `None` after the drop.
    team: Option<Box<Team>>,
    caller: Caller<'a, A>,
    done: bool,
}

impl<A: Access> Run<'_, A> {
    /// Runs the call. False: it is none for a team.
    // Inlined, as all around it: each call of a function on this way takes as long as what a short collective does.
    #[inline(always)]
    fn go(&mut self, call: &Call, input: &RawBytes, output: &RawBytes) -> Result<bool> {
        let Self { team, caller, .. } = self;
        let Some(team) = team.as_deref_mut() else {
            return Ok(false);
        };
        let (root, bytes) = (call.root as usize, call.bytes());
        let (is_root, mine) = (call.rank == call.root, u64::from(call.rank) * bytes);
        let given = if call.in_place { output } else { input };
        match call.collective {
            Collective::Bcast => {
                let given = if is_root { input } else { output };
                team.bcast(caller, root, (given, bytes))?;
            }
            Collective::Scatter => {
                team.scatter(caller, root, (input, bytes), output, |caller| {
                    match call.in_place {
                        true => Ok(()),
                        false => caller.copy((input, mine), (output, 0), bytes),
                    }
                })?;
            }
            Collective::Gather => {
                team.gather(caller, root, (input, bytes), output, |caller| {
                    match call.in_place {
                        true => Ok(()),
                        false => caller.copy((input, 0), (output, mine), bytes),
                    }
                })?;
            }
            Collective::Allgather => {
                if call.in_place {
                    team.allgather(caller, (output, mine, bytes), output, |_| Ok(()))?;
                } else {
                    team.allgather(caller, (input, 0, bytes), output, |caller| {
                        caller.copy((input, 0), (output, mine), bytes)
                    })?;
                }
            }
            Collective::Alltoall => {
                team.alltoall(caller, (given, bytes), output, |caller| {
                    match call.in_place {
                        true => Ok(()),
                        false => caller.copy((input, mine), (output, mine), bytes),
                    }
                })?;
            }
            Collective::Reduce | Collective::Allreduce | Collective::ReduceScatterBlock => {
                if !team.reduces(call.element_bytes) || caller.operation.is_none() {
                    return Ok(false);
                }
                let given = match call.collective {
                    Collective::Reduce if !is_root => input,
                    _ => given,
                };
                let operands = Operands {
                    input: given,
                    output,
                    len: bytes,
                    element: call.element_bytes as usize,
                    commutes: call.commutative,
                };
                match call.collective {
                    Collective::Reduce => team.reduce(caller, root, operands)?,
                    Collective::Allreduce => team.allreduce(caller, operands)?,
                    _ => team.reduce_scatter(caller, operands)?,
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<A: Access> Drop for Run<'_, A> {
    #[inline]
    fn drop(&mut self) {
        let Some(team) = self.team.take() else {
            return;
        };
        let meeting = self.caller.meeting;
        if !self.done {
            meeting.end_all(None);
        }
        (meeting.access).with(|lane| lane.keep_team(meeting.context, team));
    }
}

/// What a team's collective needs of the communicator.
struct Caller<'a, A: Access> {
    meeting: Meeting<'a, A>,
    operation: Option<Operation<'a>>,
    looks: u32,
}

impl<A: Access> Caller<'_, A> {
    /// Copies this rank's own block.
    fn copy(
        &self,
        (from, at): (&RawBytes, u64),
        (into, place): (&RawBytes, u64),
        bytes: u64,
    ) -> Result<()> {
        match (from.range(at, bytes), into.range(place, bytes)) {
            (Some(from), Some(into)) => {
                into.copy_from(&from);
                Ok(())
            }
            _ => self.copy_runs((from, at), (into, place), bytes),
        }
    }

    /// The same where either has gaps.
    #[cold]
    fn copy_runs(
        &self,
        (from, at): (&RawBytes, u64),
        (into, place): (&RawBytes, u64),
        bytes: u64,
    ) -> Result<()> {
        let ends_within = |whole: &RawBytes, end: u64| end <= whole.len();
        let holds = |whole, at: u64| {
            at.checked_add(bytes)
                .is_some_and(|end| ends_within(whole, end))
        };
        if !holds(from, at) || !holds(into, place) {
            return Err((self.meeting).refused(&"a buffer is shorter than the call says"));
        }
        let runs = |whole: &RawBytes, at| whole.pieces(at, bytes).map(Ok);
        for [from, into] in pairs(runs(from, at), runs(into, place)).flatten() {
            into.copy_from(&from);
        }
        Ok(())
    }
}

impl<A: Access> Driver for Caller<'_, A> {
    type Error = Error;

    #[inline]
    fn looks(&self) -> u32 {
        self.looks
    }

    #[cold]
    #[inline(never)]
    fn wait(&mut self, mut awaited: Awaited) -> Result<()> {
        let Meeting {
            access,
            group,
            context,
        } = self.meeting;
        let come = access.until(|lane| match lane.has_come(&mut awaited) {
            Some(come) => Some(come.map_err(Stop::Here)),
            None => look(lane, context, group).map(|cause| Err(Stop::Told(cause))),
        })?;
        self.looks = access.with(|lane| {
            lane.forget_awaited();
            lane.looks
        });
        come.map_err(|stop| self.meeting.stopped(stop))
    }

    fn make_way(&mut self) {
        // A yield that holds the lane would keep other threads from it.
        if A::ALONE {
            self.meeting.access.with(Lane::make_way);
        }
    }

    #[cold]
    fn unreadable(&mut self, rank: u32) -> Error {
        let rank = self.meeting.group.rank_of(rank).unwrap_or_default();
        self.meeting.refused(&format_args!(
            "the system does not let this rank and rank {rank} reach each other's memory any more"
        ))
    }

    #[inline]
    fn wake(&mut self, ranks: u64) {
        self.meeting.access.with(|lane| lane.wake(ranks));
    }

    #[inline]
    fn fold(&mut self, from: RawBytes, into: RawBytes) {
        if let Some(operation) = self.operation {
            operation(from, into, Side::Right);
        }
    }

    #[inline]
    fn fold_left(&mut self, from: RawBytes, into: RawBytes) {
        if let Some(operation) = self.operation {
            operation(from, into, Side::Left);
        }
    }
}
