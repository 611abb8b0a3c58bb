//! How a peer is lost.

use super::{Pair, VerbsTx};
use crate::error::PostError;
use crate::objects::{Completion, CompletionError};
use crate::transport::control::Control;
use oxmpi_wire::Fault;

/// The device has no receive for a message, after all retries.
pub(in crate::transport) const NO_RECEIVE: Fault = Fault::Refused(
    "the peer takes no messages, and its receive buffers have been full for all retries: give the queues of \
     receive_queues more buffers and a higher low mark",
);

/// What ended the connection with another rank of the peer's node has ended this one.
pub(in crate::transport) const NODE_LOST: Fault = Fault::Refused(
    "the connection that the peer shares with other ranks of its node (receive queues of kind X) has failed with one of them",
);

impl VerbsTx {
    #[inline]
    pub(in crate::transport) fn is_lost(&self, peer: u32) -> bool {
        let link = self.links[peer as usize].as_ref();
        link.is_none_or(|link| link.lost.is_some())
    }

    /// Counts `peer` as lost for the reason `why`, and reports that to the sink once. Devices reach no memory of its
    /// operations any more.
    pub(in crate::transport) fn lose(&mut self, peer: u32, why: Fault) {
        let Some(link) = &mut self.links[peer as usize] else {
            return;
        };
        if link.lost.is_some() {
            return;
        }
        link.lost = Some(why);
        link.short_below = 0;
        let has_accesses = |pair: &&Pair| pair.accesses() > 0;
        let initiators = link.pairs.iter().filter(has_accesses);
        let initiators: Vec<u32> = initiators.filter_map(Pair::initiator).collect();
        link.pending.clear();
        let waiting = std::mem::take(&mut link.waiting);
        let waiting = waiting.iter().filter_map(Control::released);
        let mut released: Vec<_> = waiting.chain(link.port_pairs.clear()).collect();
        for (pair, shared) in link.pairs.iter_mut().zip(&mut self.shared) {
            released.extend(pair.released());
            // Requests of a queue pair that stays free their buffers when they complete.
            if !pair.end() {
                while pair.done(shared.as_mut()).is_some() {}
            }
        }
        released.into_iter().for_each(|region| self.leave(region));
        for number in initiators {
            self.end_initiator(number);
        }
        self.end_streams(peer);
        self.end_leases(peer);
        self.end_operations(peer, why);
        self.peers_awaiting_room
            .retain(|(waiting, _)| *waiting != peer);
        self.losses.push_back((peer, why));
        tracing::info!(peer, %why, "connection lost");
    }

    /// Ends an initiator now, with the connections of all peers that share it.
    #[cold]
    fn end_initiator(&mut self, number: u32) {
        for peer in 0..self.links.len() {
            let link = self.links[peer].as_ref();
            if !link.is_some_and(|link| {
                link.pairs
                    .iter()
                    .any(|pair| pair.initiator() == Some(number))
            }) {
                continue;
            }
            // Offers may keep it, and the device must reach no memory any more.
            let pairs = link.iter().flat_map(|link| &link.pairs);
            let own = pairs.filter(|pair| pair.initiator() == Some(number));
            own.for_each(Pair::fail_initiator);
            self.lose(peer as u32, NODE_LOST);
            let Some(link) = &mut self.links[peer] else {
                continue;
            };
            for (pair, shared) in link.pairs.iter_mut().zip(&mut self.shared) {
                if pair.initiator() == Some(number) {
                    pair.leave_initiator(number);
                    while pair.done(shared.as_mut()).is_some() {}
                }
            }
        }
    }

    /// Handles the failure of a request that completes only by failing.
    #[cold]
    pub(in crate::transport) fn unsignaled_failed(
        &mut self,
        peer: u32,
        queue: u8,
        completion: Completion,
    ) {
        if let Err(why) = completion.result() {
            self.fail_initiator(queue, completion.queue_pair());
            if !self.is_lost(peer) {
                self.broken(peer, queue, &why);
            }
        }
    }

    /// Puts the initiator of this number in error, of which a request has failed, so that no other rank is connected by it. Its
    /// peer may be lost already: others keep it then.
    #[cold]
    pub(super) fn fail_initiator(&self, queue: u8, number: u32) {
        if !self.has_initiators {
            return;
        }
        let queues = self.queues.queues_of(self.rail_of(queue));
        let links = self.links.iter().flatten();
        let mut pairs = links.flat_map(|link| &link.pairs[queues.clone()]);
        if let Some(pair) = pairs.find(|pair| pair.initiator() == Some(number)) {
            pair.fail_initiator();
        }
    }

    /// Loses `peer` if a request was not posted. There is room for all: something else is wrong.
    #[inline]
    pub(super) fn check(&mut self, peer: u32, posted: Result<(), PostError>) {
        if let Err(error) = posted {
            self.not_posted(peer, &error);
        }
    }

    #[cold]
    fn not_posted(&mut self, peer: u32, error: &PostError) {
        tracing::debug!(peer, %error, "a request was not posted");
        self.lose(peer, Fault::Refused("the device takes no request"));
    }

    /// Loses all peers: the completion queue has failed.
    #[cold]
    pub(in crate::transport) fn device_failed(&mut self, error: &dyn std::fmt::Display) {
        tracing::debug!(%error, "a device failed");
        for peer in 0..self.links.len() as u32 {
            self.lose(peer, Fault::Refused("the device gives no completions"));
        }
    }
}

/// Why a peer is lost whose queue pair has failed so.
pub(super) fn fault(error: &CompletionError) -> Fault {
    match error.name() {
        // What has failed before is not known: most often the peer's end.
        "IBV_WC_WR_FLUSH_ERR" => Fault::PeerDead,
        "IBV_WC_RETRY_EXC_ERR" | "IBV_WC_RESP_TIMEOUT_ERR" => Fault::Silent,
        "IBV_WC_RNR_RETRY_EXC_ERR" => NO_RECEIVE,
        "IBV_WC_REM_ACCESS_ERR" => {
            Fault::Refused("an access by a void key has broken the connection")
        }
        "IBV_WC_LOC_LEN_ERR" => Fault::Protocol("a message longer than buffers are"),
        _ => Fault::Refused("a request to the device has failed"),
    }
}
