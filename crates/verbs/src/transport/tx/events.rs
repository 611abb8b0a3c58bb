//! What becomes of the connections of a rail, a queue pair or a device that has failed without a completion.

use super::{Pair, VerbsTx};
use oxmpi_wire::Fault;

/// The device has said so.
const DEVICE_FAILED: Fault = Fault::Refused("the RDMA device has failed");
const QUEUE_PAIR_FAILED: Fault = Fault::Refused("a queue pair of the RDMA device has failed");

impl VerbsTx {
    /// The rail of a queue.
    pub(in crate::transport) fn rail_of(&self, queue: u8) -> u8 {
        self.queues.rail_of(queue)
    }

    fn peers(&self) -> std::ops::Range<u32> {
        0..self.links.len() as u32
    }

    /// The peers of a queue pair on one of `rails`, several of an initiator, each with a queue for which it is.
    pub(in crate::transport) fn of_number(&self, rails: &[u8], number: u32) -> Vec<(u32, u8)> {
        let queues = rails.iter().flat_map(|rail| self.queues.queues_of(*rail));
        let queues: Vec<usize> = queues.collect();
        let of_peer = |peer: u32| {
            let link = self.links[peer as usize].as_ref()?;
            let is_it = |queue: &&usize| link.pairs[**queue].number() == Some(number);
            let queue = queues.iter().find(is_it)?;
            Some((peer, *queue as u8))
        };
        self.peers().filter_map(of_peer).collect()
    }

    /// Leaves a rail for another one, for all peers that have one; the others are lost if this is the end.
    #[cold]
    pub(in crate::transport) fn rail_failed(&mut self, rail: u8, is_end: bool) {
        for peer in self.peers() {
            match self.leave_rail(peer, rail) {
                Some(true) => {
                    let queues = self.queues.queues_of(rail);
                    let pairs = &self.link(peer).pairs[queues];
                    pairs.iter().for_each(Pair::fail_initiator);
                }
                Some(false) if is_end => self.lose(peer, Fault::Silent),
                Some(false) | None => {}
            }
        }
    }

    /// Leaves the port pair of a rail, or has left it. `None`: the peer has none, or is lost; false: it has no other.
    fn leave_rail(&mut self, peer: u32, rail: u8) -> Option<bool> {
        if self.is_lost(peer) {
            return None;
        }
        let port_pairs = &self.link(peer).port_pairs;
        let port_pair = port_pairs.of_rail(rail)?;
        if port_pairs.has_left(port_pair) {
            return Some(true);
        }
        let has_left = self.leave_port_pair(peer, port_pair);
        if has_left {
            self.advance(peer);
        }
        Some(has_left)
    }

    /// Leaves the port pair of a queue pair that completes nothing any more.
    #[cold]
    pub(in crate::transport) fn queue_pair_failed(&mut self, peer: u32, queue: u8) {
        match self.leave_rail(peer, self.rail_of(queue)) {
            Some(true) => self.abandon(peer, queue),
            Some(false) => {
                self.link(peer).pair(queue).fail_initiator();
                self.lose(peer, QUEUE_PAIR_FAILED);
            }
            None => {}
        }
    }

    /// Leaves the port pair of a target by which messages of `peer` come. What goes to the peer completes nevertheless.
    #[cold]
    pub(in crate::transport) fn target_failed(&mut self, peer: u32, queue: u8) {
        if self.leave_rail(peer, self.rail_of(queue)) == Some(false) {
            self.lose(peer, QUEUE_PAIR_FAILED);
        }
    }

    /// Leaves the rails of a device that completes nothing any more.
    #[cold]
    pub(in crate::transport) fn device_gone(&mut self, rails: &[u8]) {
        for peer in self.peers() {
            for &rail in rails {
                match self.leave_rail(peer, rail) {
                    Some(true) => {
                        for queue in self.queues.queues_of(rail) {
                            self.abandon(peer, queue as u8);
                        }
                    }
                    Some(false) => self.lose(peer, DEVICE_FAILED),
                    None => {}
                }
            }
        }
    }

    /// Counts the requests of a queue pair on a port pair that was left as failed: they are repeated by another one.
    fn abandon(&mut self, peer: u32, queue: u8) {
        while !self.is_lost(peer) && self.link(peer).pair(queue).oldest().is_some() {
            self.keep_oldest(peer, queue);
            let shared = self.shared[queue as usize].as_mut();
            if let Some(link) = &mut self.links[peer as usize] {
                link.pair(queue).done(shared);
            }
        }
        if !self.is_lost(peer) {
            self.advance(peer);
        }
    }

    /// Destroys a queue pair in error that was kept until it has given back its receives. False if requests of it have not
    /// completed.
    pub(in crate::transport) fn destroy_retired(&mut self, rails: &[u8], number: u32) -> bool {
        let of_number = self.of_number(rails, number);
        (of_number.into_iter()).all(|(peer, queue)| self.link(peer).pair(queue).destroy_retired())
    }
}
