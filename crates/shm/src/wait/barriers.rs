//! Barriers of the ranks of a node without messages, and which ranks share a processor: [`NodeBarriers`].

use std::sync::Arc;
use std::time::Duration;
use std::vec::Vec;

use oxmpi_os::clock;
use oxmpi_wire::Bytes;

use crate::node::collective::{AwaitedSteps, NodeGroup, PredictedRoots, StepLost, ranks_of};
use crate::ring::Corrupt;
use crate::segment::{BARRIERS, Segment};
use crate::transport::{ShmRx, ShmTx};

use super::backoff::Backoff;

/// The barriers of one rank: a few, each for one group of ranks at a time. Groups that use the same barrier have no rank
/// in common.
///
/// It also knows which ranks are awake on this rank's processor, for waits that share one.
#[derive(Debug)]
pub struct NodeBarriers {
    barriers: [Barrier; Self::COUNT],
    me: u32,
    /// The steps that collectives under way wait for, at most one of each group.
    awaited: Vec<AwaitedSteps>,
    /// Whether waits on a shared processor sleep or yield.
    pub(crate) backoff: Backoff,
    segment: Arc<Segment>,
}

/// One barrier as this rank knows it.
#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    /// Times that this rank has entered it.
    count: u64,
    /// The other ranks of the barrier under way, a bit each.
    others: u64,
    /// Those of them that have not been seen to enter.
    missing: u64,
}

/// Which other ranks are awake on this rank's processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoLocated {
    /// None.
    Alone,
    /// Some, all of which wait for the same barrier or step of a collective as this rank or for a later one; or others
    /// will likely wait for this rank next.
    Waiting,
    /// Some that this rank may be waiting for, or that may go on.
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
    /// Barriers of a rank.
    pub const COUNT: usize = BARRIERS;

    /// The greatest number of ranks of a node with barriers.
    pub const RANKS: u32 = u64::BITS;

    pub(crate) fn new(segment: Arc<Segment>, me: u32) -> Self {
        Self {
            barriers: [Barrier::default(); Self::COUNT],
            me,
            awaited: Vec::new(),
            backoff: Backoff::default(),
            segment,
        }
    }

    /// Whether the node has barriers: it has at most [`NodeBarriers::RANKS`] ranks. Each rank polls all others, so
    /// beyond that a tree of messages is faster.
    #[must_use]
    pub fn are_available(&self) -> bool {
        self.segment.layout().ranks <= Self::RANKS
    }

    /// Enters barrier `index` with the ranks `others`, a bit each. False: that barrier is under way.
    ///
    /// # Panics
    /// If there is no such barrier.
    ///
    /// # Cost
    /// One line written.
    pub fn enter(&mut self, index: usize, others: u64) -> bool {
        let barrier = &mut self.barriers[index];
        if barrier.others != 0 {
            return false;
        }
        *barrier = Barrier {
            count: barrier.count + 1,
            others,
            missing: others,
        };
        self.segment
            .barrier_count(self.me, index)
            .enter(barrier.count);
        true
    }

    /// The ranks, a bit each, that barrier `index` still waits for. 0: it is over, and sleeping ranks were woken. The
    /// next poll of the transport gives up a rank that wrote an impossible count.
    ///
    /// # Cost
    /// A load for each missing rank; at the end a load for each rank, and a system call for each that sleeps.
    #[inline]
    pub fn poll<B: Bytes>(&mut self, index: usize, tx: &mut ShmTx<B>) -> u64 {
        let barrier = &mut self.barriers[index];
        match absent(&self.segment, index, barrier) {
            Ok(absent) => barrier.missing = absent,
            Err((rank, corrupt)) => tx.breach(rank, corrupt),
        }
        if barrier.missing == 0 {
            for other in ranks_of(barrier.others) {
                tx.wake_if_asleep(other);
            }
            barrier.others = 0;
        }
        barrier.missing
    }

    /// Abandons barrier `index`, for instance because a missing rank has died.
    pub fn abandon(&mut self, index: usize) {
        let barrier = &mut self.barriers[index];
        (barrier.others, barrier.missing) = (0, 0);
    }

    /// The group of `ranks`, of which this is number `me`, with index `group`: see [`NodeGroup`]. Groups of one index
    /// have no rank in common. `None` where its memory cannot be mapped.
    ///
    /// # Panics
    /// If a rank is not on the node.
    #[must_use]
    pub fn group(
        &self,
        group: usize,
        ranks: impl Iterator<Item = u32>,
        me: usize,
    ) -> Option<NodeGroup> {
        NodeGroup::new(&self.segment, group, ranks, me)
    }

    /// Whether all steps that a collective waits for have come.
    ///
    /// # Errors
    /// A missing rank that will never come, and why. The next poll of the transport gives up a rank that wrote
    /// impossible words.
    pub fn has_arrived<B: Bytes>(
        &mut self,
        awaited: &mut AwaitedSteps,
        tx: &mut ShmTx<B>,
    ) -> Result<bool, (u32, StepLost)> {
        let polled = awaited.poll(&self.segment);
        if let Err((rank, StepLost::Corrupt(corrupt))) = polled {
            tx.breach(rank, corrupt);
        }
        let waits = polled.is_ok() && awaited.missing() != 0;
        if waits {
            let mut known = self.awaited.iter_mut();
            match known.find(|other| other.is_of_group(awaited)) {
                Some(known) => *known = *awaited,
                None => self.awaited.push(*awaited),
            }
        } else {
            self.forget(awaited);
        }
        polled.map(|()| !waits)
    }

    /// Forgets the steps that the collective of the same group waited for.
    pub fn forget(&mut self, awaited: &AwaitedSteps) {
        if self.awaited.is_empty() {
            return;
        }
        self.awaited.retain(|other| !other.is_of_group(awaited));
    }

    /// Whether a barrier or collective under way would go on or fail at the next poll.
    #[must_use]
    pub fn can_go_on(&self) -> bool {
        let mut awaited = self.awaited.iter().copied();
        let has_come = |mut awaited: AwaitedSteps| {
            awaited.poll(&self.segment).is_err() || awaited.missing() == 0
        };
        let mut barriers = self.barriers.iter().enumerate();
        awaited.any(has_come)
            || barriers.any(|(index, barrier)| {
                barrier.missing != 0 && absent(&self.segment, index, barrier).unwrap_or(0) == 0
            })
    }

    /// Tells the other ranks that this rank gives its processor away at `now`, by the [clock].
    pub(crate) fn set_waiting(&self, now: u64) {
        self.segment.runnable_hint(self.me).end(now);
    }

    /// Tells the other ranks that this rank has its processor again at `now`.
    pub(crate) fn set_running(&self, now: u64) {
        self.segment.runnable_hint(self.me).begin(now);
    }

    /// Counts the time between two readings of the clock, in which a yield took long, as lost to another program, unless
    /// co-located ranks worked for half of it.
    pub(crate) fn count_lost_yield(&self, from: u64, now: u64) {
        let lost = clock::between(from, now);
        if self.co_located_work(from, now) < lost / 2 {
            self.backoff.lose(lost);
        }
    }

    /// The time that co-located ranks, of the node's first 64, worked: the sum, which may exceed the time itself.
    fn co_located_work(&self, from: u64, now: u64) -> Duration {
        let ranks_here = self.segment.cpu_board().co_located(self.me as usize);
        let worked =
            ranks_of(ranks_here).map(|rank| self.segment.runnable_hint(rank).within(from, now));
        Duration::from_nanos(worked.fold(0, u64::saturating_add))
    }

    /// Whether the other ranks see that this rank works.
    #[cfg(test)]
    pub(crate) fn is_shown_running(&self) -> bool {
        let now = clock::now();
        self.segment.runnable_hint(self.me).within(now, now + 1) > 0
    }

    /// Which other ranks are awake on this rank's processor. Tells them where this rank runs and which step it waits for.
    ///
    /// # Cost
    /// Reads the number of the processor, without a system call, and the board of all ranks; where others are awake there
    /// and a collective is under way, the step that each of them waits for.
    pub(crate) fn co_located(&self) -> CoLocated {
        self.co_located_on(oxmpi_os::cpu::current())
    }

    fn co_located_on(&self, cpu: u32) -> CoLocated {
        let (me, board) = (self.me as usize, self.segment.cpu_board());
        board.set_cpu(me, cpu);
        for awaited in &self.awaited {
            awaited.publish_wait(&self.segment, self.me);
        }
        if !board.is_cpu_shared(me, cpu) {
            return CoLocated::Alone;
        }
        let (beside, awaited) = (board.awake_on_cpu(me, cpu), self.awaited.first());
        let steps = (self.awaited.iter()).fold(0, |all, awaited| all | awaited.missing());
        let missing = self
            .barriers
            .iter()
            .fold(steps, |all, barrier| all | barrier.missing);
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

/// The missing ranks of `barrier` that have still not entered.
#[inline]
fn absent(segment: &Segment, index: usize, barrier: &Barrier) -> Result<u64, (u32, Corrupt)> {
    let mut absent = barrier.missing;
    for rank in ranks_of(barrier.missing) {
        let entered = segment.barrier_count(rank, index).entered();
        // Ranks are at most one barrier apart: the one between holds them.
        match entered.wrapping_sub(barrier.count) {
            0 | 1 => absent &= !(1 << rank),
            u64::MAX => {}
            _ => return Err((rank, Corrupt("an impossible count of barriers"))),
        }
    }
    Ok(absent)
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
            let barriers = rx.node_barriers();
            (tx, barriers)
        });
        ends.collect()
    }

    /// A rank waits on processor 0 for steps that have not come: which ranks are awake there?
    fn wait((tx, barriers): &mut (ShmTx, NodeBarriers), mut awaited: AwaitedSteps) -> CoLocated {
        assert_eq!(barriers.has_arrived(&mut awaited, tx), Ok(false));
        barriers.co_located_on(0)
    }

    #[test]
    fn a_waiting_rank_yields_to_ranks_that_may_go_on() {
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
    fn the_next_root_on_a_processor_keeps_it() {
        let mut ranks = four();
        for (rank, step, before, includes_me, expected, why) in [
            (1, 1, 0b101, true, CoLocated::Alone, "none is awake here"),
            (2, 2, 0b1000, true, CoLocated::Needed, "one is awake here"),
            (0, 3, 0b1000, true, CoLocated::Waiting, "no root before"),
            (1, 3, 0b101, true, CoLocated::Needed, "another is next"),
            (1, 3, 0b1, false, CoLocated::Needed, "it never leads"),
            (0, 4, 0b1000, false, CoLocated::Needed, "two are behind"),
            (2, 3, 0b1000, false, CoLocated::Waiting, "none leads"),
        ] {
            let before = PredictedRoots {
                ranks: before,
                includes_me,
            };
            let awaited = AwaitedSteps::published(0, step, 0, 1 << 3).of_root(before);
            assert_eq!(wait(&mut ranks[rank], awaited), expected, "{why}");
        }
    }
}
