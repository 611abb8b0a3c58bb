//! How [`VerbsNetworkTx`] makes connections: the notices that it sends, and what it does about those of peers.

use super::connection::{Answer, ListenAddress, Notice, Stage};
use super::rail_address::RailAddresses;
use super::rdmacm::MadePairs;
use super::tx::{Deferred, NO_PAIR, VerbsNetworkTx};
use crate::transport::{PairAddress, PortPair, VerbsRx, VerbsTransportError};
use oxmpi_wire::{Busy, Fault, Network, Peer, Put, Slot, Tx};

/// Polls for which the question of a rank waits for a connection that another rank of its node has to complete. If that rank
/// computes meanwhile, there is one more connection with the node.
const MOST_DEFERRALS: u32 = 1000;

impl<C: Network> VerbsNetworkTx<C> {
    /// Offers a queue pair to a peer to which nobody has offered one.
    pub(super) fn offer(&mut self, peer: Peer) {
        if self.stage(peer) != Stage::Idle {
            return;
        }
        if self.connector.is_extended() {
            return match self.addresses() {
                Ok(address) => {
                    self.set_stage(peer.0, Stage::Asked);
                    self.send(peer.0, Notice::Ask { address });
                }
                Err(why) => self.not_connected(peer.0, &why),
            };
        }
        match self.first_notice(peer) {
            Ok(notice) => {
                self.set_stage(peer.0, Stage::Offered);
                self.send(peer.0, notice);
            }
            Err(why) => self.not_connected(peer.0, &why),
        }
    }

    /// What this rank offers a peer: all rails, or one by rdmacm.
    fn first_notice(&mut self, peer: Peer) -> Result<Notice, VerbsTransportError> {
        let Some(rdmacm) = &mut self.rdmacm else {
            let pairs = self.connector.offer(peer, &[])?;
            let (address, ready) = (RailAddresses::new(&self.rails, pairs), false);
            return Ok(Notice::Offer { address, ready });
        };
        let rail = rdmacm.deal();
        let address = self.connector.offer_on_rail(peer, rail)?;
        let (_, device) = self.rails[usize::from(rail)];
        let at = rdmacm.offer(peer.0, rail, device);
        Ok(Notice::Listen { address, at })
    }

    /// Where this rank is, for peers whose offers depend on that.
    fn addresses(&self) -> Result<RailAddresses, VerbsTransportError> {
        let addresses = self.connector.extended_addresses()?;
        Ok(RailAddresses::new(&self.rails, addresses))
    }

    /// The port pairs with a peer that is `there`, where an offer to it depends on them.
    fn port_pairs_before(
        &self,
        there: &RailAddresses,
    ) -> Result<Vec<PortPair>, VerbsTransportError> {
        match self.connector.is_extended() {
            true => Ok(self.addresses()?.port_pairs(there)),
            false => Ok(Vec::new()),
        }
    }

    /// Whether the answer to a question comes later: a connection is being made that the peer gets, too.
    fn comes_later(&self, notice: &Notice) -> bool {
        let Notice::Ask { address } = notice else {
            return false;
        };
        let port_pairs = self.port_pairs_before(address);
        port_pairs.is_ok_and(|port_pairs| self.connector.awaits_initiator(&port_pairs))
    }

    /// No connection is made to `peer`, to which no message was sent: they take the control network, or it is lost.
    fn not_connected(&mut self, peer: u32, why: &VerbsTransportError) {
        tracing::warn!(peer, %why, "no connection by verbs");
        if !self.may_leave(peer) {
            return self.lose(peer, NO_PAIR);
        }
        self.drop_offer(peer);
        self.set_stage(peer, Stage::Refused);
        self.refuse_pair(peer);
    }

    /// Whether the control network can carry the messages of `peer`, which are as long as those of verbs.
    pub(super) fn may_leave(&self, peer: u32) -> bool {
        let [here, there] = [
            self.verbs.limits(Peer(peer)),
            self.control.limits(Peer(peer)),
        ];
        self.falls_back && here.frame <= there.frame
    }

    /// Says so to the peer, after which nothing but messages may follow.
    fn refuse_pair(&mut self, peer: u32) {
        self.unsent.retain(|(to, _)| *to != peer);
        self.send(peer, Notice::Refuse);
    }

    /// Lets the messages of `peer` take the control network, if both sides have said so.
    fn leave(&mut self, peer: u32) {
        let is_said = self.unsent.iter().all(|(to, _)| *to != peer);
        if self.stages[peer as usize] == Stage::Leaving && is_said {
            self.set_stage(peer, Stage::Control);
            self.shares_control = true;
        }
    }

    /// Takes a notice. After the peer's refusal, the next frame may be a message.
    pub(super) fn take_notice(&mut self, peer: u32, notice: Notice) {
        if (self.stages[peer as usize], &notice) != (Stage::Refused, &Notice::Refuse) {
            return self.arrived.push_back((peer, notice));
        }
        self.arrived.retain(|(from, _)| *from != peer);
        self.set_stage(peer, Stage::Leaving);
        self.leave(peer);
    }

    fn send(&mut self, peer: u32, notice: Notice) {
        self.unsent.push_back((peer, notice));
        self.send_notices();
    }

    /// Sends the notices for which the control network has room now.
    pub(super) fn send_notices(&mut self) {
        for _ in 0..self.unsent.len() {
            let Some((peer, notice)) = self.unsent.pop_front() else {
                break;
            };
            let text = notice.text();
            let (head, len) = (Notice::header(text.len()), text.len());
            let frame = self.control.frame(Peer(peer), &head, len);
            let sent = frame.map(|mut slot| {
                slot.put(text.as_bytes());
                slot.send();
            });
            match sent {
                Ok(()) => self.leave(peer),
                Err(Busy) => self.unsent.push_back((peer, notice)),
            }
        }
        self.control.flush();
    }

    /// Acts on the notices that have arrived. Returns how many.
    pub(super) fn take_notices(&mut self, rx: &mut VerbsRx) -> u32 {
        let mut taken = 0;
        for deferred in std::mem::take(&mut self.deferred) {
            taken += self.take_or_defer(deferred, rx);
        }
        while let Some((peer, notice)) = self.arrived.pop_front() {
            // A later notice of the peer answers its own question.
            self.deferred.retain(|deferred| deferred.peer != peer);
            let polls = 0;
            let arrived = Deferred {
                peer,
                notice,
                polls,
            };
            taken += self.take_or_defer(arrived, rx);
        }
        taken
    }

    /// Acts on a notice, unless its answer comes later. Returns the number of notices on which it has acted.
    fn take_or_defer(&mut self, mut of_peer: Deferred, rx: &mut VerbsRx) -> u32 {
        let (peer, notice) = (of_peer.peer, &of_peer.notice);
        let stage = self.stage(Peer(peer));
        if matches!(stage, Stage::Idle | Stage::Asked)
            && of_peer.polls < MOST_DEFERRALS
            && self.comes_later(notice)
        {
            of_peer.polls += 1;
            self.deferred.push(of_peer);
            return 0;
        }
        if stage != Stage::Lost {
            let key = self.rdmacm.as_ref().and_then(|rdmacm| rdmacm.key(peer));
            match stage.after(notice, key) {
                Ok((next, answer)) => self.answer(peer, next, answer, rx),
                Err(rule) => self.lose(peer, Fault::Protocol(rule)),
            }
        }
        1
    }

    fn answer(&mut self, peer: u32, next: Stage, answer: Answer, rx: &mut VerbsRx) {
        if answer == Answer::Refuse {
            return self.forget_pair(peer, next, rx);
        }
        let connected = match answer {
            Answer::Nothing | Answer::Refuse => Ok(None),
            Answer::Connect(there, at) => (self.connect_by_rdmacm(peer, &there, at)).map(|()| None),
            Answer::Ready(there) => {
                (self.connect_pair(peer, &there, rx)).map(|()| Some(Notice::Ready))
            }
            Answer::Propose(there) => (self.offer_to(peer, &there)).map(|address| {
                let ready = false;
                Some(Notice::Offer { address, ready })
            }),
            Answer::Offer(there) => self.offer_to(peer, &there).and_then(|address| {
                let ready = true;
                self.connect_pair(peer, &there, rx)?;
                Ok(Some(Notice::Offer { address, ready }))
            }),
        };
        match connected {
            Ok(notice) => {
                self.set_stage(peer, next);
                notice
                    .into_iter()
                    .for_each(|notice| self.send(peer, notice));
                if next == Stage::Ready {
                    self.verbs.connected(peer);
                }
            }
            Err(why) => self.not_connected(peer, &why),
        }
        self.leave(peer);
    }

    /// Offers queue pairs to a peer that is `there`.
    fn offer_to(
        &mut self,
        peer: u32,
        there: &RailAddresses,
    ) -> Result<RailAddresses, VerbsTransportError> {
        let port_pairs = self.port_pairs_before(there)?;
        let pairs = self.connector.offer(Peer(peer), &port_pairs)?;
        Ok(RailAddresses::new(&self.rails, pairs))
    }

    /// Ends the connection that the peer does not make.
    fn forget_pair(&mut self, peer: u32, next: Stage, rx: &mut VerbsRx) {
        if !self.may_leave(peer) {
            return self.lose(peer, NO_PAIR);
        }
        self.verbs.forget(peer);
        rx.forget(peer);
        self.broken.retain(|(of, _)| *of != peer);
        self.drop_offer(peer);
        self.set_stage(peer, next);
        self.refuse_pair(peer);
    }

    fn connect_pair(
        &mut self,
        peer: u32,
        there: &RailAddresses,
        rx: &mut VerbsRx,
    ) -> Result<(), VerbsTransportError> {
        let here = RailAddresses::new(&self.rails, self.connector.offered(Peer(peer)));
        let port_pairs = here.port_pairs(there);
        (self.connector).connect(Peer(peer), &port_pairs, &mut self.verbs, rx)
    }

    /// Asks for the connections that `there` offers at `at`, by queue pairs that were offered, or that are made now.
    fn connect_by_rdmacm(
        &mut self,
        peer: u32,
        there: &PairAddress,
        at: ListenAddress,
    ) -> Result<(), VerbsTransportError> {
        let Some(rdmacm) = &mut self.rdmacm else {
            return Err(VerbsTransportError::BadRequest);
        };
        self.connector.check_queues(Peer(peer), there)?;
        let rail = rdmacm.rail_to(at.address);
        let offered = self.connector.take_only_offered(peer);
        let mut offered = offered.filter(|offered| offered.rail == rail);
        if offered.is_none() {
            self.connector.offer_on_rail(Peer(peer), rail)?;
            offered = self.connector.take_only_offered(peer);
        }
        let offered = offered.expect("an offer to this peer");
        let (_, device) = self.rails[usize::from(rail)];
        Ok(rdmacm.connect(peer, (offered, device), at)?)
    }

    /// Goes on with the connections by rdmacm. Returns how many queue pairs were made, or not.
    pub(super) fn advance_rdmacm(&mut self, rx: &mut VerbsRx) -> u32 {
        let mut moved = 0;
        while let Some(rdmacm) = &mut self.rdmacm
            && let Some((peer, made)) = rdmacm.advance(&mut self.connector)
        {
            moved += 1;
            if let Err(why) = made.and_then(|made| self.add_made(peer, made, rx)) {
                self.not_connected(peer, &why);
            }
        }
        moved
    }

    /// Lets messages take the queue pairs of `peer`. A rank that has connected says so.
    fn add_made(
        &mut self,
        peer: u32,
        made: MadePairs,
        rx: &mut VerbsRx,
    ) -> Result<(), VerbsTransportError> {
        let MadePairs {
            offered,
            device,
            pairs,
            has_connected,
        } = made;
        let offered = (offered, device);
        (self.connector).add_only(Peer(peer), offered, pairs, &mut self.verbs, rx)?;
        if has_connected {
            self.set_stage(peer, Stage::Ready);
            self.send(peer, Notice::Ready);
        } else {
            self.set_stage(peer, Stage::Receiving);
        }
        Ok(())
    }

    /// Forgets the queue pairs that were offered to `peer`, and its connections.
    pub(super) fn drop_offer(&mut self, peer: u32) {
        self.connector.forget(Peer(peer));
        if let Some(rdmacm) = &mut self.rdmacm {
            rdmacm.forget(peer);
        }
    }
}
