//! Receive queues of kind `X`: one connection to each node, which leads to the queues of all its ranks.
//!
//! ```text
//!  rank P of node A                        node N
//!  initiator to N  ---------------------   target of P    ---  queues of rank b
//!                                                         ---  queues of rank c
//! ```
//!
//! P makes an initiator for the first rank of N with which it connects, and that rank makes the target. For the next one P
//! uses the same initiator, and the rank opens the target by its number. The other direction is the same.
//!
//! Requests of one initiator have no room of their own for each rank: so many of each are in flight that all fit, and
//! further ranks of the node get another initiator.

use super::endpoint::{FOR_EVER, Offered, OpenRail, PairConnector, SHARED_RNR_TIMER};
use super::initiators::{
    ConnectedInitiator, NodeKey, OfferedEnds, OfferedInitiator, Target, initiator_capacity,
};
use super::options::VerbsTransportError;
use super::pair_address::{ExtendedAddress, PairAddress};
use super::rail::PortPair;
use super::receive_queues::ReceiveQueue;
use crate::objects::{
    Access, InitAttributes, QueuePair, ReadyToSend, ReceiveAttributes, SendAttributes,
};
use std::sync::Arc;

/// Both ends of a connection with a peer on a rail.
pub(super) struct ConnectedEnds {
    /// For each of the peer's queues.
    pub(super) pairs: Vec<QueuePair<ReadyToSend>>,
    pub(super) target: Target,
}

impl PairConnector {
    /// Whether all receive queues are of kind `X`.
    pub(crate) fn is_extended(&self) -> bool {
        let queues = &self.options().receive_queues;
        matches!(queues.first(), Some(ReceiveQueue::Extended(_)))
    }

    /// Where this rank is and which queues it has, on each rail: a peer can then offer an initiator that it has to this
    /// node.
    ///
    /// # Errors
    /// When a device does not answer.
    pub(crate) fn extended_addresses(&self) -> Result<Vec<PairAddress>, VerbsTransportError> {
        let of_rail = |rail| {
            let numbers = self.numbers_of_queues(rail);
            let extended = self.extended_address(rail);
            Ok(self.address(rail, numbers, Some(extended))?)
        };
        (0..self.rails.len()).map(of_rail).collect()
    }

    /// Whether an initiator is on its way to the node of a peer, which soon takes that peer, too.
    pub(crate) fn awaits_initiator(&self, port_pairs: &[PortPair]) -> bool {
        let is_awaited = |offered: &Offered, node| {
            let ends = offered.extended.as_ref();
            let new = ends.filter(|ends| matches!(ends.initiator, OfferedInitiator::New(_)));
            new.is_some_and(|ends| ends.node == Some(node))
        };
        port_pairs.iter().any(|port_pair| {
            let node = NodeKey::of(port_pair.rail, &port_pair.there);
            let mut offered = self.all_offered();
            node.is_some_and(|node| offered.any(|offered| is_awaited(offered, node)))
        })
    }

    fn extended_address(&self, rail: usize) -> ExtendedAddress {
        let OpenRail { extended, .. } = &self.rails[rail];
        ExtendedAddress {
            domain: extended.as_ref().map_or(0, |extended| extended.identity),
            initiator: 0,
            connected: 0,
            target: 0,
        }
    }

    fn numbers_of_queues(&self, rail: usize) -> Vec<u32> {
        let queues = self.queues_of(rail);
        let numbers = queues.map(|(_, number)| {
            let shared = self.shared[usize::from(number)].as_ref();
            shared.and_then(|shared| shared.xrc_number()).unwrap_or(0)
        });
        numbers.collect()
    }

    /// Makes the ends that a rail offers a peer, of which `there` is known if it has said where it is.
    pub(super) fn offer_extended(
        &mut self,
        rail: usize,
        there: Option<&PairAddress>,
    ) -> Result<Offered, VerbsTransportError> {
        let OpenRail {
            rail: at,
            domain,
            queue,
            extended,
            ..
        } = &self.rails[rail];
        let init = InitAttributes {
            access: Access::REMOTE_READ | Access::REMOTE_WRITE,
            pkey_index: self.options().connection.pkey_index,
            ..InitAttributes::new(at.port)
        };
        let (capacity, most) = initiator_capacity(&at.context, self.options(), self.peers)?;
        let mut address = self.extended_address(rail);
        let mut target = None;
        let ends_there = there.and_then(|there| there.extended);
        if ends_there.is_none_or(|there| there.connected == 0)
            && let Some(extended) = extended
        {
            let made = extended.domain.create_target()?.init(init)?;
            address.target = made.number();
            target = Some(made);
        }
        let make = || domain.create_initiator(queue, capacity)?.init(init);
        let node = there.and_then(|there| NodeKey::of(rail as u8, there));
        let known = node.and_then(|node| self.initiators.find(node, most));
        let known = known.and_then(|known| known.pair.upgrade().zip(Some(known)));
        let initiator = match known {
            Some((pair, known)) => {
                (address.initiator, address.connected) = (pair.number(), known.target);
                OfferedInitiator::Connected(pair, Arc::clone(&known.offers))
            }
            None => {
                let pair = make()?;
                address.initiator = pair.number();
                OfferedInitiator::New(pair)
            }
        };
        let numbers = self.numbers_of_queues(rail);
        Ok(Offered {
            rail: rail as u8,
            pairs: Vec::new(),
            buffers: numbers.iter().map(|_| None).collect(),
            address: self.address(rail, numbers, Some(address))?,
            extended: Some(OfferedEnds {
                node,
                initiator,
                target,
            }),
        })
    }

    /// Connects the ends that were offered to a peer with those that it has offered.
    ///
    /// # Errors
    /// When the peer has offered none that fit, or the device refuses.
    pub(super) fn connect_extended(
        &mut self,
        port_pair: &PortPair,
        offered: &mut Offered,
        receive: &ReceiveAttributes,
        send: &SendAttributes,
    ) -> Result<ConnectedEnds, VerbsTransportError> {
        const UNFIT: VerbsTransportError = VerbsTransportError::BadRequest;
        let PortPair { rail, there, .. } = port_pair;
        let node = NodeKey::of(*rail, there).ok_or(UNFIT)?;
        let to = there.extended.ok_or(UNFIT)?;
        let OfferedEnds {
            initiator, target, ..
        } = offered.extended.take().ok_or(UNFIT)?;
        let receive = |number| ReceiveAttributes {
            dest_qp_num: number,
            min_rnr_timer: SHARED_RNR_TIMER,
            ..*receive
        };
        let OpenRail { extended, .. } = &self.rails[usize::from(*rail)];
        let target = match (to.connected, target, extended) {
            (0, Some(target), _) => target.ready_to_receive(receive(to.initiator))?,
            (number @ 1.., _, Some(extended)) => extended.domain.open_target(number)?,
            _ => return Err(UNFIT),
        };
        let initiator = match initiator {
            OfferedInitiator::Connected(pair, _offer) => {
                if !self.initiators.count(node, pair.number()) {
                    return Err(VerbsTransportError::NodeLost);
                }
                pair
            }
            OfferedInitiator::New(pair) if to.target != 0 => {
                let pair = pair.ready_to_receive(receive(to.target))?;
                let pair = pair.ready_to_send(SendAttributes {
                    rnr_retry: FOR_EVER,
                    ..*send
                })?;
                self.initiators.0.push(ConnectedInitiator {
                    node,
                    pair: pair.downgrade(),
                    target: to.target,
                    peers: 1,
                    offers: Arc::new(()),
                });
                pair
            }
            OfferedInitiator::New(_) => return Err(UNFIT),
        };
        let queues = there.numbers.iter();
        Ok(ConnectedEnds {
            pairs: queues.map(|queue| initiator.addressed_to(*queue)).collect(),
            target,
        })
    }
}
