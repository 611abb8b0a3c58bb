//! Collectives of ranks that share a node: by their team's flags and buffers, without messages.
//!
//! A communicator's team is made at its first collective, by all ranks at once: either all have one
//! or none has, and then messages do it. What the user asks an algorithm for, by a setting or by a rule
//! that speaks of groups of this size, goes by messages too; so do reductions whose results are to be
//! the same wherever the ranks are.

use std::sync::LazyLock;

use oxmpi_coll::catalog::{Call, Collective};
use oxmpi_coll::plan::Side;
use oxmpi_os::cache::{self, Cache};
use oxmpi_os::{RawBytes, affinity, cpu};
use oxmpi_shm::node::collective::{Awaited, Driver, Operands, Team};

use super::super::access::Access;
use super::super::communicator::Communicator;
use super::super::lane::{Lane, Lent, Missed};
use super::trouble::{Cause, look};
use super::{Area, Buffers, Operation};
use crate::error::{Error, Result};
use crate::op::Op;

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
        if call.size < 2 || call.remote > 0 || !is_served(call.collective) || is_bound {
            return Ok(false);
        }
        let (team, looks) = match self.lend(call)? {
            Lent::Team(team, looks) => (team, looks),
            Lent::None | Lent::Unmade => return Ok(false),
            Lent::Away => {
                let why = "one is under way on this communicator, in another thread or in whose \
                           operation this one is called";
                return Err(self.refused(&why));
            }
        };
        let mut run = Run {
            team: Some(team),
            caller: Caller {
                communicator: self,
                operation,
                looks,
            },
            done: false,
        };
        let ended = run.go(call, input, output);
        run.done = ended.is_ok();
        ended.map_err(|error| self.meeting().end_for(error))
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

    /// Makes a team with all others, or agrees that there is none. Meanwhile there is none.
    #[cold]
    fn meet(&self) -> Result<()> {
        let (context, group) = (self.context(), self.group());
        let links = (0..group.size()).filter_map(|rank| group.link(rank as usize));
        let me = group.rank() as usize;
        let team = self
            .access()
            .with(|lane| lane.make_team(context, links, me));
        if !self.all_do(team.is_some())? {
            return Ok(());
        }
        if let Some(mut team) = team.map(Box::new) {
            let (all_can_read, processors) = self.surroundings(team.can_read())?;
            if !all_can_read {
                team.read_no_memory();
            }
            team.know_processors(&processors);
            if let Some(cache) = &*LAST_CACHE {
                let known = processors.iter().map(|processor| processor - 1);
                team.know_cache(cache.bytes, cache.sharers(team.ranks_on_node(), known));
            }
            self.access().with(|lane| lane.keep_team(context, team));
        }
        Ok(())
    }

    /// Whether all ranks can read the others' memory, of which this one can or not; and the processor of each, counted from
    /// 1, if all have one, maybe with others, else none.
    fn surroundings(&self, can_read: bool) -> Result<(bool, Vec<u32>)> {
        let (size, me) = (self.group().size() as usize, self.group().rank() as usize);
        let mut all = vec![0_u32; size];
        let processor = own_processor().map_or(0, |own| own + 1);
        all[me] = processor << 1 | u32::from(can_read);
        self.allreduce_in_place(&mut all, Op::MAX)?;
        let all_can_read = all.iter().all(|one| one & 1 == 1);
        let mut processors: Vec<_> = all.into_iter().map(|one| one >> 1).collect();
        if processors.contains(&0) {
            processors.clear();
        }
        Ok((all_can_read, processors))
    }

    /// Whether all ranks do, of which this one does or not.
    fn all_do(&self, does: bool) -> Result<bool> {
        let mut all = [u8::from(does)];
        self.allreduce_in_place(&mut all, Op::MIN)?;
        Ok(all == [1])
    }

    /// Why a collective ends that waits for what never comes.
    #[cold]
    fn stopped(&self, stop: Stop) -> Error {
        match stop {
            Stop::Told(cause) => self.meeting().error(cause),
            Stop::Here(Missed::Lost(failure)) => self.meeting().failed(failure),
            Stop::Here(Missed::Differs(peer)) => {
                let rank = self.group().rank_of(peer.0).unwrap_or_default();
                self.refused(&format_args!(
                    "rank {rank} calls another one, or with another root or count: the ranks do not \
                     agree on the call"
                ))
            }
        }
    }
}

/// The last cache of the processor on which this process first asked; all are taken to be alike.
static LAST_CACHE: LazyLock<Option<Cache>> = LazyLock::new(|| cache::last(cpu::current()));

/// The only processor on which this rank may run.
fn own_processor() -> Option<u32> {
    let mask = affinity::current().ok()?;
    let mut processors = affinity::cpus(&mask);
    let first = processors.next()?;
    match processors.next() {
        None => u32::try_from(first).ok(),
        Some(_) => None,
    }
}

/// Why a collective ends early.
enum Stop {
    /// What it waits for never comes.
    Here(Missed),
    /// Another rank tells of it.
    Told(Cause),
}

/// Whether ranks that share a node are served by a team in such a call.
pub(crate) const fn serves_in_node(call: &Call) -> bool {
    let (size, reduces) = (call.size as usize, call.collective.reduces());
    is_served(call.collective) && (!reduces || Team::is_worth_reducing(size, call.bytes()))
}

/// Whether teams have the collective, where all blocks are equally long.
const fn is_served(collective: Collective) -> bool {
    matches!(
        collective,
        Collective::Bcast
            | Collective::Scatter
            | Collective::Gather
            | Collective::Allgather
            | Collective::Alltoall
            | Collective::Reduce
            | Collective::Allreduce
            | Collective::ReduceScatterBlock
    )
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
                let reduces = team.reduces(call.element_bytes, bytes);
                if !reduces || caller.operation.is_none() {
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
        let communicator = self.caller.communicator;
        if !self.done {
            communicator.meeting().end_all(None);
        }
        let context = communicator.context();
        communicator
            .access()
            .with(|lane| lane.keep_team(context, team));
    }
}

/// What a team's collective needs of the communicator.
struct Caller<'a, A: Access> {
    communicator: &'a Communicator<A>,
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
            _ => Err(self
                .communicator
                .refused(&"a buffer is shorter than the call says")),
        }
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
        let (access, context, group) = (
            self.communicator.access(),
            self.communicator.collective_context(),
            self.communicator.group(),
        );
        let come = access.until(|lane| match lane.has_come(&mut awaited) {
            Some(come) => Some(come.map_err(Stop::Here)),
            None => look(lane, context, group).map(|cause| Err(Stop::Told(cause))),
        })?;
        self.looks = access.with(|lane| {
            lane.forget_awaited();
            lane.looks
        });
        come.map_err(|stop| self.communicator.stopped(stop))
    }

    fn make_way(&mut self) {
        // A yield that holds the lane would keep other threads from it.
        if A::ALONE {
            self.communicator.access().with(Lane::make_way);
        }
    }

    #[cold]
    fn unreadable(&mut self, rank: u32) -> Error {
        let rank = self.communicator.group().rank_of(rank).unwrap_or_default();
        self.communicator.refused(&format_args!(
            "the system does not let this rank and rank {rank} reach each other's memory any more"
        ))
    }

    #[inline]
    fn wake(&mut self, ranks: u64) {
        self.communicator.access().with(|lane| lane.wake(ranks));
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
