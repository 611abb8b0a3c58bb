//! [`VerbsNetworkTx`]: the sending half of the network.

use super::connection::{Notice, Stage};
use super::fabric::Fabric;
use super::rdmacm::CmConnections;
use super::slot::VerbsNetworkSlot;
use crate::transport::{PairConnector, VerbsTx};
use oxmpi_os::RawBytes;
use oxmpi_wire::{AsTx, Busy, Bytes, Fault, Header, Limits, Network, Peer, Token, Tx};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// Why a peer is lost whose queue pair was not made or connected; the log says more.
pub(super) const NO_PAIR: Fault = Fault::Refused(
    "the RDMA device makes no queue pair for the peer or finds no way to it: see `ulimit -l`, or leave the device out \
     with transports=^verbs",
);

/// The sending half of the network, over the control network `C`.
pub struct VerbsNetworkTx<C> {
    pub(super) control: C,
    pub(super) verbs: VerbsTx,
    pub(super) connector: PairConnector,
    /// The fabric of each rail, and the place of its device.
    pub(super) rails: Vec<(Fabric, u8)>,
    /// How connections are made; `None`: by the control network.
    // Dropped after the queue pairs in `verbs`.
    pub(super) rdmacm: Option<CmConnections>,
    pub(super) stages: Vec<Stage>,
    /// Peers whose connections are being made.
    connecting: u32,
    /// Messages of some peers go over the control network.
    pub(super) shares_control: bool,
    /// Those of a peer to which no connection is made may.
    pub(super) falls_back: bool,
    /// Notices that wait for room on the control network.
    pub(super) unsent: VecDeque<(u32, Notice)>,
    /// Notices that have arrived.
    pub(super) arrived: VecDeque<(u32, Notice)>,
    /// Questions of ranks to whose node a connection is being made: they get the same.
    pub(super) deferred: Vec<Deferred>,
    /// Peers for which a call has returned [`Busy`] before they were ready.
    peers_awaiting_room: Vec<u32>,
    /// Peers whose control connection has ended: what they have sent before may not have been received.
    pub(super) ended: Vec<Ended>,
    /// Peers whose queue pairs have failed: the next poll of the control network may know why.
    pub(super) broken: Vec<(u32, Fault)>,
    /// Tokens of released regions with two registrations, of which none has ended.
    pub(super) half_released: Vec<Token>,
    /// Why each lost peer is lost.
    pub(super) lost: BTreeMap<u32, Fault>,
    pub(super) completions: VecDeque<(Token, Result<(), Fault>)>,
    pub(super) losses: VecDeque<(u32, Fault)>,
}

/// A notice of a peer that waits.
#[derive(Debug)]
pub(super) struct Deferred {
    pub(super) peer: u32,
    pub(super) notice: Notice,
    /// Polls for which it has waited.
    pub(super) polls: u32,
}

/// A peer whose control connection has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) peer: u32,
    pub(super) why: Fault,
    /// After so many completions, all that it has sent has been received; the next poll says how many.
    pub(super) after: Option<u64>,
}

impl<C> fmt::Debug for VerbsNetworkTx<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerbsNetworkTx")
            .field("verbs", &self.verbs)
            .finish_non_exhaustive()
    }
}

impl<C: Network> VerbsNetworkTx<C> {
    /// Begins without a connection. `by_verbs` says of each peer whether its messages take verbs; if no connection is
    /// made, and it `falls_back`, they take the control network.
    pub(super) fn new(
        control: C,
        verbs: VerbsTx,
        (connector, rails, rdmacm): (PairConnector, Vec<(Fabric, u8)>, Option<CmConnections>),
        by_verbs: &[bool],
        falls_back: bool,
    ) -> Self {
        let stage = |by_verbs: &bool| match by_verbs {
            true => Stage::Idle,
            false => Stage::Control,
        };
        Self {
            control,
            verbs,
            connector,
            rails,
            rdmacm,
            stages: by_verbs.iter().map(stage).collect(),
            connecting: 0,
            shares_control: by_verbs.contains(&false),
            falls_back,
            unsent: VecDeque::new(),
            arrived: VecDeque::new(),
            deferred: Vec::new(),
            peers_awaiting_room: Vec::new(),
            ended: Vec::new(),
            broken: Vec::new(),
            half_released: Vec::new(),
            lost: BTreeMap::new(),
            completions: VecDeque::new(),
            losses: VecDeque::new(),
        }
    }

    #[inline(always)]
    pub(super) fn stage(&self, peer: Peer) -> Stage {
        self.stages[peer.0 as usize]
    }

    pub(super) fn set_stage(&mut self, peer: u32, stage: Stage) {
        let is_connecting = |stage| {
            let stages = [
                Stage::Asked,
                Stage::Offered,
                Stage::Connecting,
                Stage::Receiving,
                Stage::Refused,
                Stage::Leaving,
            ];
            u32::from(stages.contains(&stage))
        };
        let before = std::mem::replace(&mut self.stages[peer as usize], stage);
        self.connecting = self.connecting + is_connecting(stage) - is_connecting(before);
    }

    /// Whether each poll looks at the control network: a connection is being made, or it carries messages.
    pub(super) fn needs_control(&self) -> bool {
        self.shares_control
            || self.connecting > 0
            || !(self.unsent.is_empty() && self.broken.is_empty())
    }

    /// Refuses a message to a peer that is not ready, and connects to it.
    #[cold]
    pub(super) fn refuse(&mut self, peer: Peer) -> Busy {
        if !self.peers_awaiting_room.contains(&peer.0) {
            self.peers_awaiting_room.push(peer.0);
        }
        self.offer(peer);
        Busy
    }

    /// Whether a queue pair is connected with `peer`: its loss is reported by the transport.
    pub(super) fn has_pair(&self, peer: u32) -> bool {
        matches!(self.stages[peer as usize], Stage::Receiving | Stage::Ready)
    }

    /// Loses `peer`, whose messages take verbs, for the reason `why`.
    pub(super) fn lose(&mut self, peer: u32, why: Fault) {
        if self.has_pair(peer) {
            self.verbs.give_up(Peer(peer), why);
        } else if self.closed(peer, why) {
            self.losses.push_back((peer, why));
        }
    }

    /// Counts `peer` as lost, and ends its control connection. False if it was before.
    pub(super) fn closed(&mut self, peer: u32, why: Fault) -> bool {
        if self.stages[peer as usize] == Stage::Lost {
            return false;
        }
        self.set_stage(peer, Stage::Lost);
        self.lost.insert(peer, why);
        self.drop_offer(peer);
        self.unsent.retain(|(to, _)| *to != peer);
        self.control.give_up(Peer(peer), why);
        true
    }

    /// Counts the peers of `broken` as lost, for the reason that the control network gives, if it does. Their losses are
    /// reported next.
    pub(super) fn close_broken(&mut self, broken: Vec<(u32, Fault)>) {
        for (peer, why) in broken {
            let has_ended = self.ended.iter().any(|ended| ended.peer == peer);
            if self.stages[peer as usize] == Stage::Receiving && !has_ended {
                // Its notice says whether it has given up the connection, or has used it.
                self.broken.push((peer, why));
                continue;
            }
            let ended = self.ended.iter().position(|ended| ended.peer == peer);
            let why = ended.map_or(why, |at| self.ended.swap_remove(at).why);
            if self.closed(peer, why) {
                self.losses.push_back((peer, why));
            }
        }
    }

    /// The peers whose control connection has ended and all of whose messages have been received: `taken` completions
    /// were taken so far, and the last poll found nothing if it was `quiet`.
    #[inline]
    pub(super) fn take_ended(&mut self, taken: u64, quiet: bool) -> Vec<Ended> {
        if self.ended.is_empty() {
            return Vec::new();
        }
        // What was in the queue then, and in rings, which are polled in turn with it.
        let most = 2 * u64::from(self.connector.depth());
        let is_over =
            |ended: &mut Ended| quiet || *ended.after.get_or_insert(taken + most) <= taken;
        self.ended.extract_if(.., is_over).collect()
    }

    /// A peer that awaits room and has it now.
    pub(super) fn take_unblocked(&mut self) -> Option<Peer> {
        let has_room = |peer: &u32| {
            let stage = self.stages[*peer as usize];
            matches!(stage, Stage::Ready | Stage::Control | Stage::Lost)
        };
        let at = self.peers_awaiting_room.iter().position(has_room)?;
        Some(Peer(self.peers_awaiting_room.swap_remove(at)))
    }
}

/// A lost peer's frames go to the control network, which drops them.
impl<C: Network> Tx for VerbsNetworkTx<C> {
    type Slot<'a>
        = VerbsNetworkSlot<'a, C::Slot<'a>>
    where
        C: 'a;

    fn limits(&self, to: Peer) -> &Limits {
        match self.stage(to) {
            Stage::Control => self.control.limits(to),
            _ => self.verbs.limits(to),
        }
    }

    #[inline]
    fn short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        match self.stage(to) {
            Stage::Ready => self.verbs.short(to, head, body),
            Stage::Control => self.control.short(to, head, body),
            Stage::Lost => Ok(()),
            _ => Err(self.refuse(to)),
        }
    }

    #[inline]
    fn whole<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        match self.stage(to) {
            Stage::Ready => self.verbs.whole(to, head, body),
            Stage::Control => self.control.whole(to, head, body),
            Stage::Lost => Ok(()),
            _ => Err(self.refuse(to)),
        }
    }

    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<Self::Slot<'_>, Busy> {
        match self.stage(to) {
            Stage::Ready => (self.verbs.frame(to, head, len)).map(VerbsNetworkSlot::Verbs),
            Stage::Control | Stage::Lost => {
                (self.control.frame(to, head, len)).map(VerbsNetworkSlot::Control)
            }
            _ => Err(self.refuse(to)),
        }
    }

    fn flush(&mut self) {
        self.control.flush();
    }

    fn give_up(&mut self, peer: Peer, why: Fault) {
        match self.stage(peer) {
            Stage::Control => self.control.give_up(peer, why),
            _ => self.lose(peer.0, why),
        }
    }
}

impl<C: Network<Bytes = RawBytes>> Network for VerbsNetworkTx<C> {
    type CardError = C::CardError;

    fn introduce(&mut self, card: &str, peers: &[(Peer, Option<u16>)]) -> Result<(), C::CardError> {
        self.control.introduce(card, peers)
    }

    fn connect(&mut self, peer: Peer) {
        self.control.connect(peer);
        self.offer(peer);
    }

    /// No queue pair is made for a peer that is only waited for.
    fn watch(&mut self, peer: Peer) {
        self.control.watch(peer);
    }

    fn is_connected(&self, peer: Peer) -> bool {
        match self.stage(peer) {
            Stage::Control => self.control.is_connected(peer),
            stage => matches!(stage, Stage::Ready | Stage::Lost),
        }
    }

    fn host(&self, peer: Peer) -> &str {
        self.control.host(peer)
    }

    fn routes(&self, peer: Peer) -> String {
        self.control.routes(peer)
    }

    fn has_local_work(&self) -> bool {
        self.control.has_local_work()
            || self.verbs.has_local_work()
            || !(self.arrived.is_empty() && self.deferred.is_empty())
            || !(self.ended.is_empty() && self.broken.is_empty())
            || !(self.completions.is_empty() && self.losses.is_empty())
    }

    fn has_unsent(&self) -> bool {
        self.control.has_unsent() || self.verbs.has_unsent() || !self.unsent.is_empty()
    }

    fn abort(self) {
        self.control.abort();
    }
}

impl<C> AsTx<VerbsTx> for VerbsNetworkTx<C> {
    #[inline(always)]
    fn as_tx(&mut self) -> &mut VerbsTx {
        &mut self.verbs
    }
}

impl<C: Network> AsTx<C> for VerbsNetworkTx<C> {
    #[inline(always)]
    fn as_tx(&mut self) -> &mut C {
        &mut self.control
    }
}
