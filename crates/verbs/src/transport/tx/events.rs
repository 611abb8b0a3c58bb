//! What becomes of the connections of a rail, a queue pair or a device that has failed without a completion.

use super::VerbsTx;
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

    /// The peer and the queue of a queue pair on one of `rails`.
    pub(in crate::transport) fn of_number(&self, rails: &[u8], number: u32) -> Option<(u32, u8)> {
        let queues = rails.iter().flat_map(|rail| self.queues.queues_of(*rail));
        let queues: Vec<usize> = queues.collect();
        self.peers().find_map(|peer| {
            let link = self.links[peer as usize].as_ref()?;
            let mut queues = queues.iter();
            let queue = queues.find(|queue| link.pairs[**queue].number() == Some(number))?;
            Some((peer, *queue as u8))
        })
    }

    /// Leaves a rail for another one, for all peers that have one; the others are lost if this is the end.
    #[cold]
    pub(in crate::transport) fn rail_failed(&mut self, rail: u8, is_end: bool) {
        for peer in self.peers() {
            let left = self.leave_rail(peer, rail);
            if is_end && left == Some(false) {
                self.lose(peer, Fault::Silent);
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
        match self.of_number(rails, number) {
            Some((peer, queue)) => self.link(peer).pair(queue).destroy_retired(),
            None => true,
        }
    }
}
