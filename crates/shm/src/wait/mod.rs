//! How a rank waits, spin, then yield, then sleep ([`Waiter`] by a [`WaitPolicy`]), and the node's barriers.
//!
//! What is best depends on whether another rank needs this processor. With a processor for each rank, spinning answers
//! fastest, and a wake across processors costs 20 us. With more ranks than processors a spinning rank may keep the
//! awaited rank from running: a yield costs about 1 us. A rank that waits long should sleep there; while the other ranks
//! on its processor sleep, it has the processor for itself.

mod backoff;
mod barriers;

use std::hint::spin_loop;
use std::thread::yield_now;
use std::time::Duration;

use oxmpi_os::clock;
use oxmpi_wire::{Bytes, Sleeper};

use self::barriers::CoLocated;
use crate::transport::ShmRx;

pub use self::barriers::NodeBarriers;

/// Longest sleep; then the next poll checks the peers' processes.
const NAP: Duration = Duration::from_millis(100);

/// Shortest and longest sleep of a thread that no peer can wake.
const NAP_RANGE: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(5)];

/// Such a sleep lasts at most one part in so many of the wait so far.
const NAP_SHARE: u32 = 8;

/// Polls, with a PAUSE each, on a processor that is shared with ranks that wait for the same: about the time
/// in which as many ranks on another processor arrive.
const SHARED_POLLS: u32 = 200;

/// Least number of yields before a sleep: where many ranks take turns, one turn is long.
const MIN_YIELDS: u32 = 4;

/// A yield of this length has let a program run that does not wait for messages. A sleeping rank is woken
/// before that program's slice ends; a yielding rank waits for the end.
const LONG_YIELD: Duration = Duration::from_millis(1);

/// How long a rank spins and yields before it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitPolicy {
    /// Empty polls with one PAUSE each.
    pub spin: u32,
    /// How long it then yields, by one `sched_yield` after each empty poll.
    pub yields: Duration,
    /// Whether ranks share processors. Then the rank spins only while no other one needs its processor, which
    /// it checks after each empty poll.
    pub shared: bool,
}

impl WaitPolicy {
    /// For a rank with a processor of its own: spins for about a millisecond, then yields for as long.
    #[must_use]
    pub const fn active() -> Self {
        Self::new(30_000, Duration::from_millis(1), false)
    }

    /// Never yields and never sleeps, for users who want that.
    #[must_use]
    pub const fn busy() -> Self {
        Self::new(u32::MAX, Duration::ZERO, false)
    }

    /// For more ranks than processors: as [`WaitPolicy::active`] while no other rank needs the processor.
    /// Else it yields at once, and sleeps after more than a turn of long collectives: a rank that waits
    /// longer takes its turns from ranks that work. With sleeps after 0.2 ms a reduce_scatter of 1 MiB took
    /// twice as long (eight ranks, two processors).
    #[must_use]
    pub const fn oversubscribed() -> Self {
        Self::new(30_000, Duration::from_millis(1), true)
    }

    /// For more ranks than processors where some ranks are not of this node, so that their need is unknown:
    /// yields at once.
    #[must_use]
    pub const fn oversubscribed_unseen() -> Self {
        Self::new(0, Duration::from_millis(1), false)
    }

    /// Sleeps soon, so that a rank that waits long takes no processor time.
    #[must_use]
    pub const fn passive(spin: u32, shared: bool) -> Self {
        Self::new(spin, Duration::from_micros(20), shared)
    }

    const fn new(spin: u32, yields: Duration, shared: bool) -> Self {
        Self {
            spin,
            yields,
            shared,
        }
    }
}

/// What a waiting rank does between two polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStep {
    /// One PAUSE of the processor.
    Spin,
    /// Let another thread run.
    Yield,
    /// Sleep until a peer sends.
    Sleep,
}

/// The state of a wait, or of several in sequence.
#[derive(Clone, Debug)]
pub struct Waiter {
    policy: WaitPolicy,
    empty: u32,
    yields: u32,
    /// When this wait first gave the processor away, by the [clock].
    since: Option<u64>,
    /// When it last gave the processor away.
    yielded_at: u64,
    /// This wait sleeps at once.
    sleeps_at_once: bool,
    /// Other ranks were awake on this processor at the last empty poll.
    shares: bool,
}

impl Waiter {
    /// A waiter with this policy.
    #[must_use]
    pub const fn new(policy: WaitPolicy) -> Self {
        Self {
            policy,
            empty: 0,
            yields: 0,
            since: None,
            yielded_at: 0,
            sleeps_at_once: false,
            shares: false,
        }
    }

    /// Tells the waiter that a poll brought something, or that a new wait begins.
    #[inline(always)]
    pub const fn progressed(&mut self) {
        self.empty = 0;
        self.since = None;
        self.sleeps_at_once = false;
    }

    /// Whether this wait gave the processor away, or soon will since other ranks are awake on it.
    #[inline(always)]
    #[must_use]
    pub const fn is_yielding(&self) -> bool {
        self.since.is_some() || self.sleeps_at_once || self.shares
    }

    /// Whether it always spins: [`WaitPolicy::busy`].
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        self.policy.spin == u32::MAX
    }

    /// The step after a poll that brought nothing.
    ///
    /// # Cost
    /// Nothing while spinning on a processor of its own; on a shared one a look at the other ranks.
    #[inline(always)]
    pub fn next(&mut self, barriers: &NodeBarriers) -> WaitStep {
        if self.empty < self.spins(barriers) {
            self.empty = self.empty.saturating_add(1);
            WaitStep::Spin
        } else if self.is_busy() {
            WaitStep::Spin
        } else {
            self.give_up_processor(barriers)
        }
    }

    /// Polls to spin for at the moment.
    #[inline(always)]
    fn spins(&mut self, barriers: &NodeBarriers) -> u32 {
        if !self.policy.shared {
            return self.policy.spin;
        }
        let co_located = barriers.co_located();
        self.shares = co_located != CoLocated::Alone;
        match co_located {
            CoLocated::Alone => self.policy.spin,
            CoLocated::Waiting => self.policy.spin.min(SHARED_POLLS),
            CoLocated::Needed => 0,
        }
    }

    #[inline(never)]
    fn give_up_processor(&mut self, barriers: &NodeBarriers) -> WaitStep {
        self.yielded_at = clock::now();
        if self.policy.shared {
            barriers.set_waiting(self.yielded_at);
        }
        let Some(since) = self.since else {
            if self.sleeps_at_once || (self.policy.shared && barriers.backoff.begin_wait()) {
                self.sleeps_at_once = true;
                return WaitStep::Sleep;
            }
            self.since = Some(self.yielded_at);
            self.yields = 1;
            return WaitStep::Yield;
        };
        let waited = clock::between(since, self.yielded_at);
        if waited < self.policy.yields || (self.yields < MIN_YIELDS && waited < LONG_YIELD) {
            self.yields += 1;
            WaitStep::Yield
        } else {
            WaitStep::Sleep
        }
    }

    /// Lets co-located ranks do their part of a long call before this rank begins the next one. Else it would
    /// run several calls in one slice, and ranks that wait for the co-located ones would wait for all of
    /// them. Does nothing while another program takes the turns that a rank gives away.
    ///
    /// # Cost
    /// A look at the other ranks; where one of them is awake here, a yield.
    pub fn yield_to_co_located(&mut self, barriers: &NodeBarriers) {
        let is_shared = self.policy.shared && barriers.co_located() != CoLocated::Alone;
        if is_shared && !barriers.backoff.has_competing_program() {
            // It yields: without another program about, waits do not sleep at once.
            self.give_up_processor(barriers);
            self.yield_processor(barriers);
        }
    }

    /// Yields. On a shared processor it tells the backoff if one of the first yields took long.
    fn yield_processor(&mut self, barriers: &NodeBarriers) {
        yield_now();
        if self.policy.shared {
            let now = clock::now();
            barriers.set_running(now);
            self.learn(barriers, now);
        }
    }

    fn learn(&mut self, barriers: &NodeBarriers, now: u64) {
        let first = self.since.filter(|_| self.yields < MIN_YIELDS);
        if let Some(since) = first.filter(|&since| clock::between(since, now) >= LONG_YIELD) {
            self.yields = MIN_YIELDS;
            barriers.count_lost_yield(since, now);
        }
    }

    /// Does `step` where no message can wake the thread: a sleep is a short one. Whether it slept; then call
    /// [`ShmRx::napped`].
    pub fn rest_unwoken(&self, step: WaitStep) -> bool {
        match step {
            WaitStep::Spin => spin_loop(),
            WaitStep::Yield => yield_now(),
            WaitStep::Sleep => std::thread::sleep(self.short_nap()),
        }
        step == WaitStep::Sleep
    }

    /// Length of a short sleep: a part of the wait so far.
    fn short_nap(&self) -> Duration {
        let waited = self.since.map_or(Duration::ZERO, clock::since);
        let [least, longest] = NAP_RANGE;
        (waited / NAP_SHARE).clamp(least, longest)
    }

    /// Spins, yields or sleeps after a poll that brought nothing. Flush what was sent before.
    ///
    /// # Cost
    /// One PAUSE while spinning.
    #[inline(always)]
    pub fn idle<B: Bytes>(&mut self, rx: &mut ShmRx<B>, barriers: &NodeBarriers) {
        match self.next(barriers) {
            WaitStep::Spin => spin_loop(),
            WaitStep::Yield => self.yield_processor(barriers),
            WaitStep::Sleep => self.sleep(rx, barriers, |rx| rx.nap(NAP)),
        }
    }

    /// Sleeps by `nap`, unless a poll would bring something: until a peer sends, or a barrier or collective
    /// of the node goes on. `nap` lasts at most about 100 ms and ends by [`ShmRx::disarm`], as [`ShmRx::nap`]
    /// does.
    #[cold]
    #[inline(never)]
    pub fn sleep<B: Bytes>(
        &self,
        rx: &mut ShmRx<B>,
        barriers: &NodeBarriers,
        nap: impl FnOnce(&mut ShmRx<B>),
    ) {
        if rx.arm() {
            if barriers.can_go_on() {
                rx.disarm();
            } else {
                nap(rx);
            }
        }
        if self.policy.shared {
            let now = clock::now();
            barriers.set_running(now);
            if self.sleeps_at_once {
                // In full, even if co-located ranks worked meanwhile: judged as late yields are, four ranks
                // slept at once for longer and took 1.3 to 3 times as long beside a busy program.
                barriers.backoff.lose(clock::between(self.yielded_at, now));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use oxmpi_os::affinity;

    use super::*;
    use crate::segment::SegmentLayout;
    use crate::{Node, NodeBarriers, ShmRx, ShmTx};

    fn barriers() -> NodeBarriers {
        let (_, rx): (_, ShmRx) = Node::alone(SegmentLayout::new(1)).unwrap().ends().unwrap();
        rx.node_barriers()
    }

    #[test]
    fn steps_follow_each_other() {
        let barriers = barriers();
        let wait_policy = WaitPolicy {
            spin: 3,
            yields: Duration::ZERO,
            shared: false,
        };
        let mut waiter = Waiter::new(wait_policy);
        for _ in 0..2 {
            for _ in 0..3 {
                assert_eq!(waiter.next(&barriers), WaitStep::Spin);
            }
            assert_eq!(waiter.next(&barriers), WaitStep::Yield);
            while waiter.next(&barriers) == WaitStep::Yield {}
            assert_eq!(waiter.next(&barriers), WaitStep::Sleep);
            waiter.progressed();
        }
    }

    #[test]
    fn a_busy_policy_never_sleeps() {
        let barriers = barriers();
        let mut waiter = Waiter::new(WaitPolicy::busy());
        waiter.empty = u32::MAX;
        assert_eq!(waiter.next(&barriers), WaitStep::Spin);
    }

    /// After a long yield waits sleep at once for a while.
    #[test]
    fn after_a_loss_waits_sleep_at_once() {
        let barriers = barriers();
        let mut waiter = Waiter::new(WaitPolicy {
            spin: 0,
            ..WaitPolicy::oversubscribed()
        });
        barriers.backoff.lose(LONG_YIELD);
        for _ in 0..3 {
            assert_eq!(waiter.next(&barriers), WaitStep::Sleep);
            assert!(waiter.is_yielding());
        }
        waiter.progressed();
        assert!(!waiter.is_yielding());
        barriers.backoff.lose(2 * LONG_YIELD);
        assert_eq!(waiter.next(&barriers), WaitStep::Yield);
    }

    /// Two ranks on one processor, which have not published where they run.
    fn co_located_pair() -> [NodeBarriers; 2] {
        let allowed = affinity::current().unwrap();
        let here = affinity::cpus(&allowed).next().unwrap();
        affinity::set_current(&affinity::mask([here])).unwrap();
        let nodes = Node::in_process(SegmentLayout::new(2)).unwrap();
        let ends = nodes.into_iter().map(|node| node.ends().unwrap());
        let ranks: Vec<NodeBarriers> = ends
            .map(|(_, rx): (ShmTx, ShmRx)| rx.node_barriers())
            .collect();
        ranks.try_into().expect("two ranks")
    }

    /// A rank yields to co-located ranks only, and not where another program takes the turn.
    #[test]
    fn a_rank_yields_to_co_located_ranks_after_its_part() {
        let [me, other] = co_located_pair();
        let yields = |wait_policy| {
            let mut waiter = Waiter::new(wait_policy);
            waiter.yield_to_co_located(&me);
            waiter.is_yielding()
        };
        assert!(
            !yields(WaitPolicy::oversubscribed()),
            "no rank is co-located"
        );
        let _ = other.co_located();
        assert!(yields(WaitPolicy::oversubscribed()));
        assert!(!yields(WaitPolicy::active()));
        me.backoff.lose(3 * LONG_YIELD);
        assert!(!yields(WaitPolicy::oversubscribed()), "another program is");
    }

    /// A late yield counts as a loss, unless a co-located rank worked meanwhile.
    #[test]
    fn work_of_co_located_ranks_is_no_loss() {
        let [me, other] = co_located_pair();
        let learns = |now| {
            let mut waiter = Waiter::new(WaitPolicy::oversubscribed());
            (waiter.since, waiter.yields) = (Some(1), 1);
            waiter.learn(&me, now);
            (waiter.yields == MIN_YIELDS, me.backoff.begin_wait())
        };
        let late = 3 * LONG_YIELD.as_nanos() as u64;
        // They publish where they run.
        let _ = (me.co_located(), other.co_located());
        other.set_running(late / 4);
        assert_eq!(learns(1000), (false, false), "it was soon back");
        assert_eq!(learns(late), (true, false), "the other one works");
        other.set_waiting(late);
        assert_eq!(learns(late), (true, false), "the other one has worked");
        assert_eq!(learns(3 * late), (true, true), "another program mostly has");
    }

    /// A wait publishes when the rank works.
    #[test]
    fn a_wait_publishes_work_before_and_after_it() {
        let (_, mut rx): (_, ShmRx) = Node::alone(SegmentLayout::new(1)).unwrap().ends().unwrap();
        let barriers = rx.node_barriers();
        // Another yield follows, however long one takes.
        let mut waiter = Waiter::new(WaitPolicy {
            spin: 0,
            yields: Duration::MAX,
            ..WaitPolicy::oversubscribed()
        });
        let works = || barriers.is_shown_running();
        assert!(!works());
        waiter.idle(&mut rx, &barriers);
        assert!(works(), "after a yield");
        assert_eq!(waiter.next(&barriers), WaitStep::Yield);
        assert!(!works(), "before a yield");
        waiter.sleep(&mut rx, &barriers, |rx| {
            assert!(!works());
            rx.disarm();
        });
        assert!(works(), "after a sleep");
    }

    /// Alone on its node, a rank spins whatever its policy.
    #[test]
    fn a_shared_processor_is_kept_while_no_other_rank_is_awake() {
        let barriers = barriers();
        let mut waiter = Waiter::new(WaitPolicy::oversubscribed());
        assert_eq!(waiter.next(&barriers), WaitStep::Spin);
    }
}
