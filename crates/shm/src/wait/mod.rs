//! How a rank waits: spin, then yield, then sleep.
//!
//! What is best depends on whether another rank needs this processor. With a processor for each
//! rank, spinning answers fastest, and a wake across processors would cost 20 us. With more ranks
//! than processors spinning may keep the very rank from running that is waited for: yielding at
//! once costs about 1 us. But there a rank that waits long should sleep, and while the others on its
//! processor do, it has that processor for itself.

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

/// Longest sleep; then the peers' processes are looked at.
const NAP: Duration = Duration::from_millis(100);

/// The least and the longest sleep of who cannot be woken.
const SHORT_NAPS: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(5)];

/// The part of its time so far that a wait may be prolonged by such a sleep.
const PROLONGED: u32 = 8;

/// Polls with a PAUSE each beside ranks that wait for the same: about the time in which as many on
/// another processor come and go.
const BESIDE: u32 = 200;

/// Yields before a sleep at least: where many ranks take turns, one turn is long.
const TURNS: u32 = 4;

/// From so long on one yield, or a few, let somebody run who does not wait for messages, such as
/// another program. Who sleeps is woken before that one's time is over; who yields waits for it.
const FOREIGN: Duration = Duration::from_millis(1);

/// How long a rank does what before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitPolicy {
    /// Empty polls with one PAUSE each.
    pub spin: u32,
    /// How long to yield after those, by one `sched_yield` after each empty poll.
    pub yields: Duration,
    /// Whether ranks share processors. Then this rank spins only while no other one needs its
    /// processor, which it looks up after each empty poll.
    pub shared: bool,
}

impl WaitPolicy {
    /// With a processor of its own: about a millisecond of spinning, then yields of about as long.
    #[must_use]
    pub const fn active() -> Self {
        Self {
            spin: 30_000,
            yields: Duration::from_millis(1),
            shared: false,
        }
    }

    /// Never yields and never sleeps: for who has asked for it.
    #[must_use]
    pub const fn busy() -> Self {
        Self {
            spin: u32::MAX,
            yields: Duration::ZERO,
            shared: false,
        }
    }

    /// With more ranks than processors: as [`WaitPolicy::active`] while no other rank needs the
    /// processor. Else yield at once, and sleep when that has gone on for longer than a turn of long
    /// collectives takes: each turn of a rank that waits longer is taken from one that works. With eight
    /// ranks on two processors a reduce_scatter of 1 MiB took twice as long where ranks slept after 0.2 ms.
    #[must_use]
    pub const fn oversubscribed() -> Self {
        Self {
            spin: 30_000,
            yields: Duration::from_millis(1),
            shared: true,
        }
    }

    /// With more ranks than processors, some of which are not of this node, so that one does not see
    /// whether they need the processor: yield at once.
    #[must_use]
    pub const fn oversubscribed_unseen() -> Self {
        Self {
            spin: 0,
            yields: Duration::from_millis(1),
            shared: false,
        }
    }

    /// Sparing: sleep soon, so that a rank that waits long takes no processor time.
    #[must_use]
    pub const fn passive(spin: u32, shared: bool) -> Self {
        Self {
            spin,
            yields: Duration::from_micros(20),
            shared,
        }
    }
}

/// What to do between two polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStep {
    /// One PAUSE of the processor.
    Spin,
    /// Let another thread run.
    Yield,
    /// Sleep until a peer sends.
    Sleep,
}

/// One wait, or a row of them.
#[derive(Clone, Debug)]
pub struct Waiter {
    patience: WaitPolicy,
    empty: u32,
    turns: u32,
    /// When it gave the processor away first, by the [clock].
    since: Option<u64>,
    /// When it gave the processor away last.
    gave_way: u64,
    /// This wait sleeps at once.
    wary: bool,
    /// Others were awake on this processor at the last poll that brought nothing.
    beside: bool,
}

impl Waiter {
    /// Waits with this patience.
    #[must_use]
    pub const fn new(patience: WaitPolicy) -> Self {
        Self {
            patience,
            empty: 0,
            turns: 0,
            since: None,
            gave_way: 0,
            wary: false,
            beside: false,
        }
    }

    /// A poll brought something, or a new wait begins.
    #[inline(always)]
    pub const fn progressed(&mut self) {
        self.empty = 0;
        self.since = None;
        self.wary = false;
    }

    /// Whether it gave the processor away since the last poll that brought something, or will soon,
    /// since others are awake on it.
    #[inline(always)]
    #[must_use]
    pub const fn is_yielding(&self) -> bool {
        self.since.is_some() || self.wary || self.beside
    }

    /// Whether it spins whatever happens, since somebody has asked for that.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        self.patience.spin == u32::MAX
    }

    /// A poll brought nothing: what to do before the next one.
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
            self.give_way(barriers)
        }
    }

    /// Polls to spin for, as things stand.
    #[inline(always)]
    fn spins(&mut self, barriers: &NodeBarriers) -> u32 {
        if !self.patience.shared {
            return self.patience.spin;
        }
        let co_located = barriers.co_located();
        self.beside = co_located != CoLocated::Alone;
        match co_located {
            CoLocated::Alone => self.patience.spin,
            CoLocated::Waiting => self.patience.spin.min(BESIDE),
            CoLocated::Needed => 0,
        }
    }

    #[inline(never)]
    fn give_way(&mut self, barriers: &NodeBarriers) -> WaitStep {
        self.gave_way = clock::now();
        if self.patience.shared {
            barriers.set_resting(self.gave_way);
        }
        let Some(since) = self.since else {
            if self.wary || (self.patience.shared && barriers.backoff.begin_wait()) {
                self.wary = true;
                return WaitStep::Sleep;
            }
            self.since = Some(self.gave_way);
            self.turns = 1;
            return WaitStep::Yield;
        };
        let waited = clock::between(since, self.gave_way);
        if waited < self.patience.yields || (self.turns < TURNS && waited < FOREIGN) {
            self.turns += 1;
            WaitStep::Yield
        } else {
            WaitStep::Sleep
        }
    }

    /// Lets the ranks that share this processor do their part of a long call, before this rank goes on to the next one.
    /// Else it would go through one call after another while it may keep its processor, and whoever waits for those
    /// beside would wait for all of that. Not where another program takes what a rank gives away.
    ///
    /// # Cost
    /// A look at the other ranks; where one of them is awake here, a yield.
    pub fn yield_to_colocated(&mut self, barriers: &NodeBarriers) {
        let is_shared = self.patience.shared && barriers.co_located() != CoLocated::Alone;
        if is_shared && !barriers.backoff.has_met_others() {
            // It yields, as a rank that has met nobody is not wary.
            self.give_way(barriers);
            self.give_turn(barriers);
        }
    }

    /// Yields. On a shared processor it learns of somebody foreign, where one of the first yields ends late.
    fn give_turn(&mut self, barriers: &NodeBarriers) {
        yield_now();
        if self.patience.shared {
            let now = clock::now();
            barriers.set_working(now);
            self.learn(barriers, now);
        }
    }

    fn learn(&mut self, barriers: &NodeBarriers, now: u64) {
        let first = self.since.filter(|_| self.turns < TURNS);
        if let Some(since) = first.filter(|&since| clock::between(since, now) >= FOREIGN) {
            self.turns = TURNS;
            barriers.lose_turn(since, now);
        }
    }

    /// Rests where no peer's message can wake the thread: what would be a sleep until then is a
    /// short one. True if it was: tell the transport by [`ShmRx::napped`].
    pub fn rest_unwoken(&self, rest: WaitStep) -> bool {
        match rest {
            WaitStep::Spin => spin_loop(),
            WaitStep::Yield => yield_now(),
            WaitStep::Sleep => std::thread::sleep(self.short_nap()),
        }
        rest == WaitStep::Sleep
    }

    /// How long a short sleep is, which prolongs the wait by a part of its time so far.
    fn short_nap(&self) -> Duration {
        let waited = self.since.map_or(Duration::ZERO, clock::since);
        let [least, longest] = SHORT_NAPS;
        (waited / PROLONGED).clamp(least, longest)
    }

    /// A poll brought nothing. Flush what was sent before: this may sleep.
    ///
    /// # Cost
    /// One PAUSE while spinning.
    #[inline(always)]
    pub fn idle<B: Bytes>(&mut self, rx: &mut ShmRx<B>, barriers: &NodeBarriers) {
        match self.next(barriers) {
            WaitStep::Spin => spin_loop(),
            WaitStep::Yield => self.give_turn(barriers),
            WaitStep::Sleep => self.sleep(rx, barriers, |rx| rx.nap(NAP)),
        }
    }

    /// Sleeps by `nap`, unless something has come: until a peer sends, or a barrier or a collective of the
    /// node goes on. `nap` ends by [`ShmRx::disarm`], as [`ShmRx::nap`] does, and after about 100 ms.
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
        if self.patience.shared {
            let now = clock::now();
            barriers.set_working(now);
            if self.wary {
                // In full, whoever worked beside: judged as late yields are, four ranks stayed wary for longer, and took
                // 1.3 to 3 times as long beside a busy program.
                barriers.backoff.lose(clock::between(self.gave_way, now));
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
        let patience = WaitPolicy {
            spin: 3,
            yields: Duration::ZERO,
            shared: false,
        };
        let mut waiter = Waiter::new(patience);
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
    fn who_has_asked_for_it_never_sleeps() {
        let barriers = barriers();
        let mut waiter = Waiter::new(WaitPolicy::busy());
        waiter.empty = u32::MAX;
        assert_eq!(waiter.next(&barriers), WaitStep::Spin);
    }

    /// Whoever a long yield let run is not yielded to again for a while.
    #[test]
    fn a_wary_rank_sleeps_at_once() {
        let barriers = barriers();
        let mut waiter = Waiter::new(WaitPolicy {
            spin: 0,
            ..WaitPolicy::oversubscribed()
        });
        barriers.backoff.lose(FOREIGN);
        for _ in 0..3 {
            assert_eq!(waiter.next(&barriers), WaitStep::Sleep);
            assert!(waiter.is_yielding());
        }
        waiter.progressed();
        assert!(!waiter.is_yielding());
        barriers.backoff.lose(2 * FOREIGN);
        assert_eq!(waiter.next(&barriers), WaitStep::Yield);
    }

    /// Two ranks on one processor; they have not told where they are.
    fn mates() -> [NodeBarriers; 2] {
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

    /// Way is made for those beside, who must be there, and not for another program.
    #[test]
    fn who_has_done_its_part_makes_way_for_ranks_beside() {
        let [me, other] = mates();
        let makes_way = |patience| {
            let mut waiter = Waiter::new(patience);
            waiter.yield_to_colocated(&me);
            waiter.is_yielding()
        };
        assert!(!makes_way(WaitPolicy::oversubscribed()), "nobody is beside");
        let _ = other.co_located();
        assert!(makes_way(WaitPolicy::oversubscribed()));
        assert!(!makes_way(WaitPolicy::active()));
        me.backoff.lose(3 * FOREIGN);
        assert!(
            !makes_way(WaitPolicy::oversubscribed()),
            "somebody foreign is"
        );
    }

    /// A late yield makes wary, unless a rank beside worked meanwhile.
    #[test]
    fn who_worked_beside_is_not_foreign() {
        let [me, other] = mates();
        let learns = |now| {
            let mut waiter = Waiter::new(WaitPolicy::oversubscribed());
            (waiter.since, waiter.turns) = (Some(1), 1);
            waiter.learn(&me, now);
            (waiter.turns == TURNS, me.backoff.begin_wait())
        };
        let late = 3 * FOREIGN.as_nanos() as u64;
        // They tell where they are.
        let _ = (me.co_located(), other.co_located());
        other.set_working(late / 4);
        assert_eq!(learns(1000), (false, false), "it was soon back");
        assert_eq!(learns(late), (true, false), "the other one works");
        other.set_resting(late);
        assert_eq!(learns(late), (true, false), "the other one has worked");
        assert_eq!(learns(3 * late), (true, true), "mostly somebody else has");
    }

    /// Whoever waits tells when it works.
    #[test]
    fn a_wait_tells_of_work_before_and_after_it() {
        let (_, mut rx): (_, ShmRx) = Node::alone(SegmentLayout::new(1)).unwrap().ends().unwrap();
        let barriers = rx.node_barriers();
        // However long a yield takes, another one follows.
        let mut waiter = Waiter::new(WaitPolicy {
            spin: 0,
            yields: Duration::MAX,
            ..WaitPolicy::oversubscribed()
        });
        let works = || barriers.is_seen_at_work();
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

    /// Alone on its node, a rank has its processor for itself, whatever it was told.
    #[test]
    fn a_shared_processor_is_kept_while_nobody_else_is_awake() {
        let barriers = barriers();
        let mut waiter = Waiter::new(WaitPolicy::oversubscribed());
        assert_eq!(waiter.next(&barriers), WaitStep::Spin);
    }
}
