//! [`ConnectedPortPair`]: a port pair whose queue pairs are connected, by whomever, on its way into both halves.

use super::buffers::Buffers;
use super::endpoint::{Offered, OpenRail, PairConnector};
use super::initiators::Target;
use super::order::Order;
use super::receive_queues::ReceiveQueue;
use super::rx::{Incoming, VerbsRx};
use super::tx::{Link, Pair, PortPairs, VerbsTx};
use crate::error::VerbsError;
use crate::objects::{QueuePair, ReadyToSend};
use crate::registration::MEMORY_DEVICES;
use oxmpi_wire::Peer;

/// A port pair to a peer, to be added to both halves.
#[derive(Debug)]
pub(super) struct ConnectedPortPair {
    pub(super) rail: u8,
    /// As [`PortPair::device`](super::PortPair::device).
    pub(super) device: u8,
    /// `None`: it has failed.
    pub(super) pairs: Option<Vec<ConnectedPair>>,
    /// Where messages come from by `X` queues.
    pub(super) target: Option<Target>,
}

/// A queue pair that is connected, with its buffers.
#[derive(Debug)]
pub(super) struct ConnectedPair {
    queue: u8,
    number: u32,
    pair: Pair,
    /// The posted buffers of a queue of the peer's own.
    buffers: Option<Buffers>,
}

impl PairConnector {
    /// What both halves need of the queue pairs of `offered`, which are `connected`, on a rail. Messages of the peer complete as
    /// those of these queue pairs, or of `target`.
    ///
    /// # Errors
    /// When this process may lock no more memory for what is sent.
    pub(super) fn connected_pairs(
        &self,
        peer: Peer,
        rail: u8,
        offered: Offered,
        connected: Vec<QueuePair<ReadyToSend>>,
        target: Option<u32>,
    ) -> Result<Vec<ConnectedPair>, VerbsError> {
        let OpenRail { domain, .. } = &self.rails[usize::from(rail)];
        let connected = connected.into_iter().zip(offered.buffers);
        let mut pairs = Vec::new();
        for ((pair, buffers), (queue, number)) in connected.zip(self.queues_of(rail.into())) {
            let own = match queue.is_shared() {
                true => None,
                false => Some(Buffers::all_free(domain, queue.sends(), queue.size())?),
            };
            let (share, most) = (queue.of_each(self.peers), queue.most_in_flight(self.peers));
            pairs.push(ConnectedPair {
                queue: number,
                number: target.unwrap_or_else(|| pair.number()),
                pair: Pair::new(pair, (peer.0, number), share, most, own),
                buffers,
            });
        }
        Ok(pairs)
    }

    /// Lets both halves use port pairs to `peer`.
    pub(super) fn add(
        &mut self,
        peer: Peer,
        port_pairs: Vec<ConnectedPortPair>,
        tx: &mut VerbsTx,
        rx: &mut VerbsRx,
    ) {
        let queues = &self.options().receive_queues;
        let of_rail: u32 = queues.iter().map(ReceiveQueue::buffers).sum();
        let all = of_rail * port_pairs.len() as u32;
        let on_rails = (0..self.rails.len()).flat_map(|_| queues);
        let absent = on_rails.map(|queue| Pair::absent(queue.of_each(self.peers)));
        let mut pairs: Vec<Pair> = absent.collect();
        let mut buffers: Vec<Option<Buffers>> = pairs.iter().map(|_| None).collect();
        let (mut numbers, mut rails, mut failed) = (Vec::new(), Vec::new(), 0_u8);
        let mut targets = Vec::new();
        let has_several = port_pairs.len() > 1;
        for (at, port_pair) in port_pairs.into_iter().enumerate() {
            let devices = [self.device(port_pair.rail), port_pair.device.into()];
            let reach_memory = devices.iter().all(|device| *device < MEMORY_DEVICES);
            rails.push((port_pair.rail, reach_memory.then_some(devices)));
            targets.extend(port_pair.target);
            failed |= u8::from(port_pair.pairs.is_none()) << at;
            for mut connected in port_pair.pairs.into_iter().flatten() {
                if has_several {
                    connected.pair.keep_copies();
                }
                let at = usize::from(connected.queue);
                numbers.push((connected.queue, connected.number));
                (pairs[at], buffers[at]) = (connected.pair, connected.buffers);
            }
        }
        let port_pairs = PortPairs::new(rails, failed, self.connected);
        self.connected += 1;
        tx.add(peer.0, Link::new(pairs, port_pairs, &self.sizes));
        rx.add(
            peer.0,
            &numbers,
            Incoming::new(buffers, targets, Order::new(all, has_several)),
        );
    }
}
