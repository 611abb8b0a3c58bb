//! The part of a scenario that passes the engines' events to the oracle and compares the outcomes.

use oxmpi_wire::{Envelope, Failure, Fault, Outcome, Peer, Request};

use super::{Expected, Received, Scenario, Sent};
use crate::memory::Buffer;
use crate::oracle::Arrival;
use crate::spy::{Payload, SinkEvent};

impl Scenario {
    /// Passes the events of the engine of rank `at` to its oracle.
    pub(super) fn digest(&mut self, at: u32) {
        for event in core::mem::take(&mut self.ranks[at as usize].0.rx.events) {
            match event {
                SinkEvent::Message {
                    from,
                    envelope,
                    len,
                    id,
                    bytes,
                } => {
                    let whole = matches!(bytes, Payload::Inline(_));
                    let bytes = match bytes {
                        Payload::Inline(bytes) => bytes,
                        Payload::Remote(key) => self
                            .fabric
                            .registered(Peer(from), &key)
                            .expect("an offered message stays registered"),
                    };
                    let number = self.arrived(from, at, envelope, &bytes);
                    let arrival = Arrival {
                        number,
                        from,
                        envelope,
                        len,
                        id,
                        whole,
                    };
                    if let Some(receive) = self.ranks[at as usize].1.arrive(arrival) {
                        self.gets(receive, &arrival);
                    }
                }
                SinkEvent::Cancel { from, id } => self.ranks[at as usize].1.cancel_send(from, id),
                SinkEvent::Lost(from) => {
                    for receive in self.ranks[at as usize].1.lose(from) {
                        self.received[receive].expected = Expected::Lost;
                    }
                }
            }
        }
    }

    /// The number of the message that arrives: the oldest under way that was not cancelled.
    fn arrived(&mut self, from: u32, at: u32, envelope: Envelope, bytes: &[u8]) -> usize {
        while let Some(number) = self.in_flight(from, at).pop_front() {
            let sent = &self.sent[number];
            if sent.envelope == envelope && sent.body(number) == bytes {
                return number;
            }
            assert!(sent.cancelled, "message {number} was overtaken or lost");
        }
        panic!("rank {at} got a message from {from} that was not sent");
    }

    /// Checks all requests that became complete. Drops those of dead ranks.
    pub(super) fn harvest(&mut self) {
        let mut at = 0;
        while let Some(&number) = self.open_sends.get(at) {
            let Sent { from, request, .. } = self.sent[number];
            match self.outcome(from, request) {
                Some(outcome) => {
                    self.sent[number].request = None;
                    self.open_sends.swap_remove(at);
                    if let Some(outcome) = outcome {
                        self.check_sent(number, outcome);
                    }
                }
                None => at += 1,
            }
        }
        let mut at = 0;
        while let Some(&receive) = self.open_receives.get(at) {
            let Received {
                at: rank, request, ..
            } = self.received[receive];
            match self.outcome(rank, request) {
                Some(outcome) => {
                    self.received[receive].request = None;
                    self.open_receives.swap_remove(at);
                    if let Some(outcome) = outcome {
                        self.check_received(receive, outcome);
                    }
                    self.received[receive].room = Buffer::default();
                }
                None => at += 1,
            }
        }
    }

    /// The outcome of a request, if it is complete; of a dead rank's request `Some(None)`.
    fn outcome(&mut self, rank: u32, request: Option<Request>) -> Option<Option<Outcome>> {
        if !self.alive[rank as usize] {
            return Some(None);
        }
        let engine = &mut self.ranks[rank as usize].0.engine;
        request.and_then(|request| engine.test(request)).map(Some)
    }

    fn check_sent(&self, number: usize, outcome: Outcome) {
        let sent = &self.sent[number];
        match outcome {
            Ok(status) if status.cancelled => {
                assert!(sent.cancelled, "message {number} was not cancelled");
                assert!(!sent.matched, "message {number} was matched and cancelled");
            }
            Ok(status) => assert_eq!(status.len, u64::from(sent.len)),
            Err(failure) => self.assert_lost(sent.to, failure),
        }
    }

    pub(super) fn check_received(&self, receive: usize, outcome: Outcome) {
        let Received { room, expected, .. } = &self.received[receive];
        match (expected, outcome) {
            (Expected::Message(number), Ok(status)) => {
                let sent = &self.sent[*number];
                assert_eq!(status.source.0, sent.from);
                assert_eq!(status.tag, sent.envelope.tag);
                assert_eq!(status.len, u64::from(sent.len));
                assert!(!status.cancelled);
                let body = sent.body(*number);
                assert!(
                    room.to_vec()[..body.len()] == body,
                    "message {number} was changed"
                );
            }
            (
                Expected::Message(number),
                Err(Failure::Truncated {
                    sent: len,
                    room: fits,
                    ..
                }),
            ) => {
                let body = self.sent[*number].body(*number);
                assert_eq!(len, body.len() as u64);
                assert_eq!(fits, room.to_vec().len() as u64);
                assert!(
                    room.to_vec() == body[..fits as usize],
                    "message {number} was changed"
                );
            }
            (Expected::Message(number), Err(failure)) => {
                self.assert_lost(self.sent[*number].from, failure);
            }
            (Expected::Cancelled, Ok(status)) => assert!(status.cancelled),
            (Expected::Lost, Err(Failure::Fault { fault, .. })) => {
                assert_eq!(fault, Fault::PeerDead);
            }
            (expected, outcome) => {
                panic!("receive {receive}: expected {expected:?}, got {outcome:?}")
            }
        }
    }

    fn assert_lost(&self, peer: u32, failure: Failure) {
        assert!(!self.alive[peer as usize], "rank {peer} lives: {failure}");
    }
}
