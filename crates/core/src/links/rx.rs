//! The receiving half of an endpoint's transports, and how a rank rests between two polls of them.

use oxmpi_shm::wait::{WaitStep, Waiter};
use oxmpi_shm::{NodeBarriers, ShmRx};
use oxmpi_wire::{
    Bytes, Envelope, EnvelopeFilter, Fault, Header, Peer, QueueHead, Rx, ShortMessage, Sink,
    Sleeper, Take, Token, Tx,
};

use super::network::NetworkRx;
use super::sleep::{LinksSleeper, sleep};
use super::{LinkRanks, LinksTx};

/// Polls of shared memory between two of the network while the rank spins, where other ranks are on the node:
/// a poll of the network is a system call, which would delay their messages.
const NODE_POLLS_PER_NETWORK_POLL: u32 = 7;

/// Rests of a spinning rank between two in which it yields its processor. Arrivals may wait for a kernel thread
/// on this processor (ksoftirqd), which a spinning rank would keep from running until the next tick. A power
/// of two.
const RESTS_PER_YIELD: u32 = 64;

/// The receiving halves of an endpoint's transports.
pub(crate) struct LinksRx {
    pub(crate) node: ShmRx,
    /// From the ranks of other nodes; none when all are on this node or the endpoint has left the others.
    network: Option<(NetworkRx, LinkRanks, PollPace)>,
}

impl Rx<LinksTx> for NetworkRx {
    fn poll<S: Sink<LinksTx>>(&mut self, tx: &mut LinksTx, budget: u32, sink: &mut S) -> u32 {
        match self {
            #[cfg(feature = "tcp")]
            NetworkRx::Tcp(tcp) => tcp.poll(tx, budget, sink),
            #[cfg(feature = "verbs")]
            NetworkRx::Verbs(verbs) => verbs.poll(tx, budget, sink),
            NetworkRx::Other(other) => {
                let (moved, events) = other.poll(tx.other_network(), None, budget);
                events.into_iter().for_each(|event| event.hand(tx, sink));
                moved
            }
        }
    }

    fn poll_from<S: Sink<LinksTx>>(&mut self, tx: &mut LinksTx, from: Peer, sink: &mut S) -> u32 {
        match self {
            #[cfg(feature = "tcp")]
            NetworkRx::Tcp(tcp) => tcp.poll_from(tx, from, sink),
            #[cfg(feature = "verbs")]
            NetworkRx::Verbs(verbs) => verbs.poll_from(tx, from, sink),
            NetworkRx::Other(other) => {
                let (moved, events) = other.poll(tx.other_network(), Some(from), 1);
                events.into_iter().for_each(|event| event.hand(tx, sink));
                moved
            }
        }
    }
}

/// When the network is polled.
struct PollPace {
    /// Polls of shared memory until the next poll of the network.
    left: u32,
    /// The value of `left` after a poll of the network that brought nothing.
    skipped: u32,
    /// Rests so far.
    rests: u32,
}

impl LinksRx {
    /// Receives from the ranks of this node only.
    pub(crate) const fn node(node: ShmRx) -> Self {
        Self {
            node,
            network: None,
        }
    }

    /// Also receives from the ranks of other nodes; `node_links` ranks are on this node.
    pub(crate) fn with_network(
        mut self,
        network: NetworkRx,
        ranks: LinkRanks,
        node_links: u32,
    ) -> Self {
        let skipped = if node_links > 1 {
            NODE_POLLS_PER_NETWORK_POLL
        } else {
            0
        };
        let pace = PollPace {
            left: 0,
            skipped,
            rests: 0,
        };
        self.network = Some((network, ranks, pace));
        self
    }

    /// Closes the network.
    pub(crate) fn depart(&mut self) {
        self.network = None;
    }

    /// Notes that the rank slept for a moment between two polls.
    pub(crate) fn after_nap(&mut self) {
        self.node.napped();
        self.poll_network_next();
    }

    /// Makes the next poll include the network.
    pub(crate) fn poll_network_next(&mut self) {
        if let Some((_, _, pace)) = &mut self.network {
            pace.left = 0;
        }
    }

    /// Rests after a poll that brought nothing. What was sent before has been flushed, so this may sleep.
    #[inline(always)]
    pub(crate) fn idle(&mut self, tx: &mut LinksTx, waiter: &mut Waiter, barriers: &NodeBarriers) {
        match self.network {
            None => waiter.idle(&mut self.node, barriers),
            Some(_) => self.rest(tx, waiter, barriers),
        }
    }

    /// Rests where ranks are on several nodes: a sleep ends when the network has an arrival, or when a rank of
    /// this node rings the doorbell.
    #[inline(never)]
    fn rest(&mut self, tx: &mut LinksTx, waiter: &mut Waiter, barriers: &NodeBarriers) {
        let yields = self.is_time_to_yield() && !waiter.is_busy();
        match waiter.next(barriers) {
            WaitStep::Spin if !yields => std::hint::spin_loop(),
            WaitStep::Spin | WaitStep::Yield => {
                std::thread::yield_now();
                self.poll_network_next();
            }
            WaitStep::Sleep => {
                tx.watch_all();
                // Most polls leave the network out; one that includes it does what is pending there.
                if let Some((network, ..)) = &mut self.network
                    && !tx.has_local_work()
                {
                    waiter.sleep(&mut self.node, barriers, |node| {
                        if network.arm() {
                            sleep(network, node.doorbell(), node.longest_nap());
                        }
                        node.disarm();
                    });
                }
                self.poll_network_next();
            }
        }
    }

    /// Prepares a sleep in which another thread may use the endpoint: how to sleep. `None`: a poll would bring something.
    pub(crate) fn arm(
        &mut self,
        tx: &mut LinksTx,
        barriers: &NodeBarriers,
    ) -> Option<LinksSleeper> {
        tx.watch_all();
        if tx.has_local_work() || !self.node.arm() {
            self.poll_network_next();
            return None;
        }
        let network = match &mut self.network {
            Some((network, ..)) => network.arm().then_some(Some(&*network)),
            None => Some(None),
        };
        let sleeper = network
            .filter(|_| !barriers.can_go_on())
            .and_then(|network| {
                // Without descriptors the helper naps.
                LinksSleeper::new(self.node.sleeper(), network).ok()
            });
        if sleeper.is_none() {
            self.disarm();
        }
        sleeper
    }

    /// Takes [`LinksRx::arm`] back.
    pub(crate) fn disarm(&mut self) {
        self.node.disarm();
        self.poll_network_next();
    }

    /// Whether nothing that an armed thread sleeps for has come from a rank of this node, where there are no others.
    pub(crate) fn is_armed(&self) -> bool {
        self.network.is_none() && self.node.is_armed()
    }

    /// Whether a spinning rank yields its processor in this rest.
    const fn is_time_to_yield(&mut self) -> bool {
        let Some((_, _, pace)) = &mut self.network else {
            return false;
        };
        pace.rests = pace.rests.wrapping_add(1);
        pace.rests & (RESTS_PER_YIELD - 1) == 0
    }

    /// Polls the network, at its interval.
    #[inline]
    fn poll_network<S: Sink<LinksTx>>(
        &mut self,
        tx: &mut LinksTx,
        budget: u32,
        sink: &mut S,
    ) -> u32 {
        let Some((network, ranks, pace)) = &mut self.network else {
            return 0;
        };
        if let Some(left) = pace.left.checked_sub(1) {
            pace.left = left;
            return 0;
        }
        let moved = network.poll(tx, budget, &mut RankedSink { sink, ranks });
        pace.left = if moved == 0 { pace.skipped } else { 0 };
        moved
    }
}

impl Rx<LinksTx> for LinksRx {
    #[inline(always)]
    fn poll<S: Sink<LinksTx>>(&mut self, tx: &mut LinksTx, budget: u32, sink: &mut S) -> u32 {
        let moved = self.node.poll(tx, budget, sink);
        match self.network {
            None => moved,
            Some(_) => {
                // Flushes what the engine has sent since, also when this poll leaves the network out.
                tx.flush();
                moved + self.poll_network(tx, budget, sink)
            }
        }
    }

    #[inline]
    fn poll_from<S: Sink<LinksTx>>(&mut self, tx: &mut LinksTx, from: Peer, sink: &mut S) -> u32 {
        if !tx.is_remote(from) {
            return self.node.poll_from(tx, from, sink);
        }
        tx.watch(from);
        match &mut self.network {
            None => 0,
            Some((network, ranks, _)) => {
                let from = Peer(ranks.rank(from.0));
                network.poll_from(tx, from, &mut RankedSink { sink, ranks })
            }
        }
    }

    /// Looks at the queues of this node: a network's cannot be looked at in place.
    #[inline(always)]
    fn take_head<C: Bytes>(
        &mut self,
        tx: &mut LinksTx,
        from: Option<Peer>,
        wanted: EnvelopeFilter,
        body: &C,
    ) -> QueueHead {
        match from {
            Some(from) if tx.is_remote(from) => QueueHead::Other,
            _ => self.node.take_head(tx, from, wanted, body),
        }
    }

    /// Shared memory finds nothing at a link to another node.
    #[inline(always)]
    fn take_short<C: Bytes>(
        &mut self,
        tx: &mut LinksTx,
        from: Peer,
        wanted: EnvelopeFilter,
        body: &C,
    ) -> Option<ShortMessage> {
        self.node.take_short(tx, from, wanted, body)
    }

    #[inline(always)]
    fn take_word(
        &mut self,
        from: Peer,
        is_wanted: impl FnOnce(Envelope) -> bool,
    ) -> Option<(u64, u32)> {
        Rx::<LinksTx>::take_word(&mut self.node, from, is_wanted)
    }
}

/// A sink that is told links where the network reports endpoint ranks.
struct RankedSink<'a, S> {
    sink: &'a mut S,
    ranks: &'a LinkRanks,
}

impl<S> RankedSink<'_, S> {
    fn link(&self, peer: Peer) -> Peer {
        Peer(self.ranks.link(peer.0))
    }
}

impl<S: Sink<LinksTx>> Sink<LinksTx> for RankedSink<'_, S> {
    fn expected(&mut self, from: Peer, envelope: Envelope, body: &mut impl Take) -> bool {
        self.sink.expected(self.link(from), envelope, body)
    }

    fn frame(&mut self, tx: &mut LinksTx, from: Peer, head: &Header, body: &mut impl Take) {
        self.sink.frame(tx, self.link(from), head, body);
    }

    fn done(&mut self, tx: &mut LinksTx, token: Token, result: Result<(), Fault>) {
        self.sink.done(tx, token, result);
    }

    fn room(&mut self, tx: &mut LinksTx, to: Peer) {
        self.sink.room(tx, self.link(to));
    }

    fn lost(&mut self, tx: &mut LinksTx, peer: Peer, why: Fault) {
        self.sink.lost(tx, self.link(peer), why);
    }
}
