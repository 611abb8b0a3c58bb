//! [`VerbsNetworkRx`]: the receiving half of the network.

use super::connection::{Notice, Stage};
use super::tx::{Ended, VerbsNetworkTx};
use crate::objects::CmChannel;
use crate::transport::{VerbsRx, VerbsTx};
use oxmpi_os::RawBytes;
use oxmpi_wire::{
    AsTx, Envelope, Fault, Header, Network, Peer, Rx, Sink, Sleeper, Take, Token, Tx, WaitObjects,
};
use std::fmt;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// Polls of the device between two of the control network, which are system calls, while it has nothing to do.
const POLLS_PER_CONTROL_POLL: u32 = 64;

/// The receiving half of the network, over the receiving half `R` of the control network.
pub struct VerbsNetworkRx<C, R> {
    control: R,
    verbs: VerbsRx,
    /// Where connections by rdmacm have their events.
    connections: Option<CmChannel>,
    /// Polls until the next one of the control network.
    polls: u32,
    /// The control network has used up the last poll: the next one is the device's.
    device_is_due: bool,
    /// The last poll found nothing.
    quiet: bool,
    network: PhantomData<fn(C)>,
}

impl<C, R> fmt::Debug for VerbsNetworkRx<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerbsNetworkRx").finish_non_exhaustive()
    }
}

/// The network's own sending half in the one of the poll.
fn network<C, T: AsTx<VerbsNetworkTx<C>>>(tx: &mut T) -> &mut VerbsNetworkTx<C> {
    tx.as_tx()
}

impl<C, R> VerbsNetworkRx<C, R> {
    pub(super) const fn new(control: R, verbs: VerbsRx, connections: Option<CmChannel>) -> Self {
        Self {
            control,
            verbs,
            connections,
            polls: 0,
            device_is_due: false,
            quiet: false,
            network: PhantomData,
        }
    }
}

impl<C: Network<Bytes = RawBytes>, R> VerbsNetworkRx<C, R> {
    /// Makes connections, and reports losses, completions and room to `sink`. Returns the number of steps. It looks at
    /// the events of connections by rdmacm if that is due, or one is being made.
    fn advance<T, S>(&mut self, tx: &mut T, sink: &mut S, is_due: bool) -> u32
    where
        T: AsTx<VerbsNetworkTx<C>>,
        S: Sink<T>,
    {
        let own = network(tx);
        let mut moved = 0;
        if own.needs_control() {
            own.send_notices();
        }
        if is_due || own.needs_control() {
            moved += own.advance_rdmacm(&mut self.verbs);
        }
        moved += own.take_notices(&mut self.verbs);
        while let Some((token, result)) = network(tx).completions.pop_front() {
            sink.done(tx, token, result);
            moved += 1;
        }
        while let Some((peer, why)) = network(tx).losses.pop_front() {
            sink.lost(tx, Peer(peer), why);
            moved += 1;
        }
        while let Some(peer) = network(tx).take_unblocked() {
            sink.room(tx, peer);
            moved += 1;
        }
        moved
    }
}

impl<C, R, T> Rx<T> for VerbsNetworkRx<C, R>
where
    C: Network<Bytes = RawBytes>,
    R: Rx<T>,
    T: AsTx<VerbsNetworkTx<C>> + AsTx<VerbsTx>,
{
    /// # Cost
    /// A system call in one poll of 64; in every one while a connection is being made, and where messages of some
    /// peers take the control network.
    fn poll<S: Sink<T>>(&mut self, tx: &mut T, budget: u32, sink: &mut S) -> u32 {
        let mut moved = 0;
        let is_due = std::mem::take(&mut self.device_is_due);
        let looks = !is_due && (self.polls == 0 || network(tx).needs_control());
        if looks {
            self.polls = POLLS_PER_CONTROL_POLL;
            let broken = std::mem::take(&mut network(tx).broken);
            moved += (self.control).poll(tx, budget, &mut ControlSink::<C, S>::new(sink));
            network(tx).close_broken(broken);
            self.device_is_due = moved >= budget;
        }
        self.polls = self.polls.saturating_sub(1);
        if moved < budget {
            let mut from_peers = VerbsSink::<C, S>::new(sink);
            let received = self.verbs.poll(tx, budget - moved, &mut from_peers);
            for ended in network(tx).take_ended(self.verbs.taken(), received == 0) {
                network(tx).verbs.give_up(Peer(ended.peer), ended.why);
                moved += 1;
            }
            moved += received;
        }
        moved += self.advance(tx, sink, looks);
        self.quiet = moved == 0;
        moved
    }

    /// All connections have one completion queue: other peers' arrivals are handed over, too.
    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, _from: Peer, sink: &mut S) -> u32 {
        self.poll(tx, 1, sink)
    }
}

impl<C, R: Sleeper> Sleeper for VerbsNetworkRx<C, R> {
    fn arm(&mut self) -> bool {
        // Whatever ends the sleep, or forbids it, the next poll looks at both.
        self.polls = 0;
        self.quiet && self.control.arm() && self.verbs.arm()
    }
}

impl<C, R> WaitObjects for VerbsNetworkRx<C, R>
where
    R: for<'a> WaitObjects<WaitObject<'a> = BorrowedFd<'a>> + 'static,
{
    type WaitObject<'a>
        = BorrowedFd<'a>
    where
        Self: 'a;

    fn watch<'a>(&'a self, watch: &mut dyn FnMut(BorrowedFd<'a>)) {
        self.control.watch(watch);
        self.verbs.watch(watch);
        if let Some(connections) = &self.connections {
            watch(connections.as_fd());
        }
    }

    fn longest_sleep(&self) -> Duration {
        (self.control.longest_sleep()).min(self.verbs.longest_sleep())
    }
}

/// The sink of the control network: of peers whose messages take verbs, it takes notices and losses itself.
struct ControlSink<'a, C, S> {
    sink: &'a mut S,
    network: PhantomData<fn(C)>,
}

/// The sink of the transport, which keeps losses until the control network was asked.
struct VerbsSink<'a, C, S> {
    sink: &'a mut S,
    network: PhantomData<fn(C)>,
}

impl<'a, C, S> ControlSink<'a, C, S> {
    const fn new(sink: &'a mut S) -> Self {
        Self {
            sink,
            network: PhantomData,
        }
    }
}

impl<'a, C, S> VerbsSink<'a, C, S> {
    const fn new(sink: &'a mut S) -> Self {
        Self {
            sink,
            network: PhantomData,
        }
    }
}

impl<C, S, T> Sink<T> for ControlSink<'_, C, S>
where
    C: Network<Bytes = RawBytes>,
    S: Sink<T>,
    T: AsTx<VerbsNetworkTx<C>>,
{
    fn frame(&mut self, tx: &mut T, from: Peer, head: &Header, body: &mut impl Take) {
        if network(tx).stage(from) == Stage::Control {
            return self.sink.frame(tx, from, head, body);
        }
        let len = body.left();
        let mut bytes = Vec::new();
        if *head == Notice::header(len) && len <= Notice::MOST {
            bytes.resize(len, 0);
            body.take(&mut bytes);
        }
        let text = std::str::from_utf8(&bytes).ok();
        match text.and_then(Notice::parse) {
            Some(notice) => network(tx).take_notice(from.0, notice),
            None => network(tx).give_up(from, Fault::Protocol("a frame that is no notice")),
        }
    }

    fn done(&mut self, tx: &mut T, token: Token, result: Result<(), Fault>) {
        if !network(tx).is_half_released(token) {
            self.sink.done(tx, token, result);
        }
    }

    fn room(&mut self, tx: &mut T, to: Peer) {
        if network(tx).stage(to) == Stage::Control {
            self.sink.room(tx, to);
        }
    }

    fn lost(&mut self, tx: &mut T, peer: Peer, why: Fault) {
        let own = network(tx);
        let is_reported_now = match own.stage(peer) {
            Stage::Control => true,
            _ if own.has_pair(peer.0) => {
                let (peer, after) = (peer.0, None);
                own.ended.push(Ended { peer, why, after });
                false
            }
            _ => own.closed(peer.0, why),
        };
        if is_reported_now {
            self.sink.lost(tx, peer, why);
        }
    }
}

impl<C, S, T> Sink<T> for VerbsSink<'_, C, S>
where
    C: Network<Bytes = RawBytes>,
    S: Sink<T>,
    T: AsTx<VerbsNetworkTx<C>>,
{
    fn expected(&mut self, from: Peer, envelope: Envelope, body: &mut impl Take) -> bool {
        self.sink.expected(from, envelope, body)
    }

    fn frame(&mut self, tx: &mut T, from: Peer, head: &Header, body: &mut impl Take) {
        self.sink.frame(tx, from, head, body);
    }

    fn done(&mut self, tx: &mut T, token: Token, result: Result<(), Fault>) {
        if !network(tx).is_half_released(token) {
            self.sink.done(tx, token, result);
        }
    }

    fn room(&mut self, tx: &mut T, to: Peer) {
        self.sink.room(tx, to);
    }

    fn lost(&mut self, tx: &mut T, peer: Peer, why: Fault) {
        network(tx).broken.push((peer.0, why));
    }
}
