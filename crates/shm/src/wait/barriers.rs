//! Barriers among ranks of a node, without messages.

use std::sync::Arc;
use std::time::Duration;

use oxmpi_os::clock;
use oxmpi_wire::Bytes;

use crate::node::collective::{AwaitedSteps, NeverComes, NodeGroup, PredictedRoots};
use crate::ring::Corrupt;
use crate::segment::{BARRIERS, Segment};
use crate::transport::{ShmRx, ShmTx};

use super::backoff::Backoff;

/// The barriers of one rank: a few gates, each for barriers of one group of ranks.
///
/// Groups that use the same gate have no rank in common.
#[derive(Debug)]
pub struct NodeBarriers {
    passes: [Pass; Self::COUNT],
    me: u32,
    /// What the collective under way waits for.
    awaited: Option<AwaitedSteps>,
    /// Whether waits sleep at once.
    pub(crate) backoff: Backoff,
    segment: Arc<Segment>,
}

/// One gate as this rank knows it.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    /// Barriers entered here.
    count: u64,
    /// The others of the barrier under way, bit by bit.
    others: u64,
    /// Those of them that were not seen there yet.
    missing: u64,
}

/// Which other ranks are awake on a rank's processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoLocated {
    /// None.
    Alone,
    /// Some, which all wait for the same barrier or step of a collective as this rank, or a later one; or this rank is
    /// likely to be waited for next.
    Waiting,
    /// Some that may be waited for, or may go on.
    Needed,
}

impl<B: Bytes> ShmRx<B> {
    /// The barriers of this rank.
    #[must_use]
    pub fn node_barriers(&self) -> NodeBarriers {
        let (segment, me) = self.segment();
        NodeBarriers::new(Arc::clone(segment), me)
    }
}

impl NodeBarriers {
    /// NodeBarriers of a rank.
    pub const COUNT: usize = BARRIERS;

    /// Ranks that a node with gates has at most.
    pub const RANKS: u32 = u64::BITS;

    pub(crate) fn new(segment: Arc<Segment>, me: u32) -> Self {
        Self {
            passes: [Pass::default(); Self::COUNT],
            me,
            awaited: None,
            backoff: Backoff::default(),
            segment,
        }
    }

    /// Whether this rank's node has gates: up to [`NodeBarriers::RANKS`] ranks. Each looks at all others,
    /// so with more of them a tree of messages would be faster.
    #[must_use]
    pub fn are_available(&self) -> bool {
        self.segment.layout().ranks <= Self::RANKS
    }

    /// Enters the next barrier at `gate`, with the ranks `others`, bit by bit. False: one is under
    /// way there.
    ///
    /// # Panics
    /// If there is no such gate.
    ///
    /// # Cost
    /// One line written.
    pub fn enter(&mut self, gate: usize, others: u64) -> bool {
        let pass = &mut self.passes[gate];
        if pass.others != 0 {
            return false;
        }
        *pass = Pass {
            count: pass.count + 1,
            others,
            missing: others,
        };
        self.segment.barrier_count(self.me, gate).enter(pass.count);
        true
    }

    /// The ranks, bit by bit, that the barrier at `gate` waits for. None: it is over, and who
    /// sleeps there has been woken. A rank whose count cannot be is given up at the next poll.
    ///
    /// # Cost
    /// A load for each rank that was missing; at the end one for each rank, and a system call for
    /// each that sleeps.
    #[inline]
    pub fn look<B: Bytes>(&mut self, gate: usize, tx: &mut ShmTx<B>) -> u64 {
        let pass = &mut self.passes[gate];
        match absent(&self.segment, gate, pass) {
            Ok(absent) => pass.missing = absent,
            Err((rank, corrupt)) => tx.breach(rank, corrupt),
        }
        if pass.missing == 0 {
            for other in ranks(pass.others) {
                tx.wake_if_asleep(other);
            }
            pass.others = 0;
        }
        pass.missing
    }

    /// Gives up the barrier at `gate`: ranks that are missing never come.
    pub fn give_up(&mut self, gate: usize) {
        let pass = &mut self.passes[gate];
        (pass.others, pass.missing) = (0, 0);
    }

    /// The team of `ranks`, of which this is number `me`, at `place`: see [`NodeGroup`]. Ranks that use the
    /// same place are in one team, or in teams that have no rank in common. `None` where there is no
    /// memory for it.
    ///
    /// # Panics
    /// If a rank is not on the node.
    #[must_use]
    pub fn group(
        &self,
        place: usize,
        ranks: impl Iterator<Item = u32>,
        me: usize,
    ) -> Option<NodeGroup> {
        NodeGroup::new(&self.segment, place, ranks, me)
    }

    /// Whether what a collective waits for has come.
    ///
    /// # Errors
    /// A rank that is missing and never comes, and why. One whose words cannot be is given up at the
    /// next poll.
    pub fn has_come<B: Bytes>(
        &mut self,
        awaited: &mut AwaitedSteps,
        tx: &mut ShmTx<B>,
    ) -> Result<bool, (u32, NeverComes)> {
        let looked = awaited.look(&self.segment);
        if let Err((rank, NeverComes::Corrupt(corrupt))) = looked {
            tx.breach(rank, corrupt);
        }
        let waits = looked.is_ok() && awaited.missing() != 0;
        self.awaited = waits.then_some(*awaited);
        looked.map(|()| !waits)
    }

    /// The collective under way waits no more.
    pub const fn forget(&mut self) {
        self.awaited = None;
    }

    /// Whether a barrier or collective under way would go on, or be in error, at the next look.
    pub(crate) fn something(&self) -> bool {
        if let Some(mut awaited) = self.awaited {
            let looked = awaited.look(&self.segment);
            if looked.is_err() || awaited.missing() == 0 {
                return true;
            }
        }
        let mut gates = self.passes.iter().enumerate();
        gates.any(|(gate, pass)| {
            pass.missing != 0 && absent(&self.segment, gate, pass).unwrap_or(0) == 0
        })
    }

    /// This rank gives its processor away at `now`, by the [clock].
    pub(crate) fn rests(&self, now: u64) {
        self.segment.runnable_hint(self.me).end(now);
    }

    /// This rank has its processor again at `now`.
    pub(crate) fn works(&self, now: u64) {
        self.segment.runnable_hint(self.me).begin(now);
    }

    /// A late yield of this rank has lost the time between two readings of the clock to somebody foreign, unless ranks
    /// beside worked for half of it.
    pub(crate) fn lose_turn(&self, from: u64, now: u64) {
        let lost = clock::between(from, now);
        if self.worked_beside(from, now) < lost / 2 {
            self.backoff.lose(lost);
        }
    }

    /// For how long other ranks, of the node's first 64, worked on this one's processor: longer than the time itself,
    /// where they took turns at it.
    fn worked_beside(&self, from: u64, now: u64) -> Duration {
        let beside = self.segment.cpu_board().colocated(self.me as usize);
        let worked = ranks(beside).map(|rank| self.segment.runnable_hint(rank).within(from, now));
        Duration::from_nanos(worked.fold(0, u64::saturating_add))
    }

    /// Whether others see this rank work.
    #[cfg(test)]
    pub(crate) fn is_seen_at_work(&self) -> bool {
        let now = clock::now();
        self.segment.runnable_hint(self.me).within(now, now + 1) > 0
    }

    /// Who else is awake on this rank's processor. Tells the others where it runs, and for what it
    /// rests.
    ///
    /// # Cost
    /// Asks for the processor, without a system call, and looks at the board; where others are awake
    /// there and a collective is under way, at what each of them rests for.
    pub(crate) fn co_located(&self) -> CoLocated {
        self.co_located_on(oxmpi_os::cpu::current())
    }

    fn co_located_on(&self, cpu: u32) -> CoLocated {
        let (me, board) = (self.me as usize, self.segment.cpu_board());
        board.set_cpu(me, cpu);
        if let Some(awaited) = &self.awaited {
            awaited.rest(&self.segment, self.me);
        }
        if !board.is_cpu_shared(me, cpu) {
            return CoLocated::Alone;
        }
        let (beside, awaited) = (board.awake_on_cpu(me, cpu), self.awaited.as_ref());
        let steps = awaited.map_or(0, AwaitedSteps::missing);
        let missing = self
            .passes
            .iter()
            .fold(steps, |all, pass| all | pass.missing);
        // Of two ranks either has its turn soon.
        let before = awaited.and_then(AwaitedSteps::predicted_roots);
        let before = before.filter(|_| beside.count_ones() > 1);
        let is_next = |before: PredictedRoots| before.ranks & beside != 0;
        if missing == 0 || beside & missing != 0 || before.is_some_and(is_next) {
            return CoLocated::Needed;
        }
        // The next root of those here keeps its place.
        let is_behind = |awaited: &AwaitedSteps| awaited.has_behind(&self.segment, beside);
        match before.is_some_and(|before| before.includes_me) || !awaited.is_some_and(is_behind) {
            true => CoLocated::Waiting,
            false => CoLocated::Needed,
        }
    }
}

/// Those missing in `pass` who still are.
#[inline]
fn absent(segment: &Segment, gate: usize, pass: &Pass) -> Result<u64, (u32, Corrupt)> {
    let mut absent = pass.missing;
    for rank in ranks(pass.missing) {
        let entered = segment.barrier_count(rank, gate).entered();
        // A rank is never two barriers from another one: the one between holds it.
        match entered.wrapping_sub(pass.count) {
            0 | 1 => absent &= !(1 << rank),
            u64::MAX => {}
            _ => return Err((rank, Corrupt("a barrier's count"))),
        }
    }
    Ok(absent)
}

/// The ranks whose bits are set.
fn ranks(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let rank = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(rank)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::SegmentLayout;
    use crate::{Node, ShmRx, ShmTx};

    /// Four ranks of a node.
    fn four() -> std::vec::Vec<(ShmTx, NodeBarriers)> {
        let nodes = Node::in_process(SegmentLayout::new(4)).unwrap();
        let ends = nodes.into_iter().map(|node| node.ends().unwrap());
        let ends = ends.map(|(tx, rx): (ShmTx, ShmRx)| {
            let gates = rx.node_barriers();
            (tx, gates)
        });
        ends.collect()
    }

    /// A rank waits for what is not there, on processor 0; who is beside?
    fn wait((tx, gates): &mut (ShmTx, NodeBarriers), mut awaited: AwaitedSteps) -> CoLocated {
        assert_eq!(gates.has_come(&mut awaited, tx), Ok(false));
        gates.co_located_on(0)
    }

    #[test]
    fn who_waits_gives_way_to_those_who_may_go_on() {
        let mut ranks = four();
        let mut wait = |rank: usize, root: u32, step| {
            let awaited = AwaitedSteps::published(0, step, 0, 1 << root);
            wait(&mut ranks[rank], awaited)
        };
        assert_eq!(wait(0, 3, 1), CoLocated::Alone);
        assert_eq!(wait(1, 3, 1), CoLocated::Waiting);
        assert_eq!(wait(0, 3, 1), CoLocated::Waiting, "both wait for the same");
        assert_eq!(wait(0, 3, 2), CoLocated::Needed, "the other is behind");
        assert_eq!(wait(1, 3, 1), CoLocated::Waiting, "the other is ahead");
        assert_eq!(wait(1, 0, 1), CoLocated::Needed, "the other is awaited");
        assert_eq!(wait(2, 3, 1), CoLocated::Waiting);
        assert_eq!(wait(2, 3, 2), CoLocated::Needed, "one of two is behind");
    }

    #[test]
    fn the_next_root_of_those_on_a_processor_keeps_it() {
        let mut ranks = four();
        let mut wait = |rank: usize, step, before: &[u32], leads| {
            let ranks_before = before.iter().fold(0, |all, rank| all | 1 << rank);
            let before = PredictedRoots {
                ranks: ranks_before,
                includes_me: leads,
            };
            let awaited = AwaitedSteps::published(0, step, 0, 1 << 3);
            wait(&mut ranks[rank], awaited.of_root(before))
        };
        assert_eq!(wait(1, 1, &[2, 0], true), CoLocated::Alone);
        assert_eq!(wait(2, 2, &[3], true), CoLocated::Needed, "one is beside");
        assert_eq!(
            wait(0, 3, &[3], true),
            CoLocated::Waiting,
            "nobody is before"
        );
        assert_eq!(
            wait(1, 3, &[2, 0], true),
            CoLocated::Needed,
            "another is next"
        );
        assert_eq!(wait(1, 3, &[0], false), CoLocated::Needed, "it never leads");
        assert_eq!(wait(0, 4, &[3], false), CoLocated::Needed, "two are behind");
        assert_eq!(
            wait(2, 3, &[3], false),
            CoLocated::Waiting,
            "none of them leads"
        );
    }
}
