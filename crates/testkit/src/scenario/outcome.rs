//! What the engines were told, and whether each outcome is the oracle's.

use oxmpi_wire::{Envelope, Failure, Fault, Outcome, Peer};

use super::{Expected, RANKS, Received, Scenario};
use crate::oracle::Arrival;
use crate::spy::{Event, Payload};

impl Scenario {
    /// Tells the oracle of rank `at` what its engine was told.
    pub(super) fn digest(&mut self, at: u32) {
        for event in core::mem::take(&mut self.ranks[at as usize].rx.events) {
            match event {
                Event::Message {
                    from,
                    envelope,
                    len,
                    id,
                    bytes,
                } => {
                    let whole = matches!(bytes, Payload::Here(_));
                    let bytes = match bytes {
                        Payload::Here(bytes) => bytes,
                        Payload::There(key) => self
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
                    if let Some(receive) = self.ranks[at as usize].oracle.arrive(arrival) {
                        self.gets(receive, &arrival);
                    }
                }
                Event::Recall { from, id } => self.ranks[at as usize].oracle.recall(from, id),
                Event::Lost(from) => {
                    for receive in self.ranks[at as usize].oracle.lose(from) {
                        self.received[receive].expected = Expected::Lost;
                    }
                }
            }
        }
    }

    /// The number of the message that arrives: the oldest under way, but for those taken back.
    fn arrived(&mut self, from: u32, at: u32, envelope: Envelope, bytes: &[u8]) -> usize {
        let under_way = &mut self.under_way[(from * RANKS + at) as usize];
        while let Some(number) = under_way.pop_front() {
            let sent = &self.sent[number];
            if sent.envelope == envelope && sent.body == bytes {
                return number;
            }
            assert!(sent.recalled, "message {number} was overtaken or lost");
        }
        panic!("rank {at} got a message from {from} that was not sent");
    }

    /// Looks at all requests that became complete.
    pub(super) fn harvest(&mut self) {
        for number in 0..self.sent.len() {
            let sent = &mut self.sent[number];
            if !self.alive[sent.from as usize] {
                continue;
            }
            let engine = &mut self.ranks[sent.from as usize].engine;
            if let Some(outcome) = sent.request.and_then(|request| engine.test(request)) {
                sent.request = None;
                self.check_sent(number, outcome);
            }
        }
        for receive in 0..self.received.len() {
            let Received { at, request, .. } = self.received[receive];
            if !self.alive[at as usize] {
                continue;
            }
            let engine = &mut self.ranks[at as usize].engine;
            if let Some(outcome) = request.and_then(|request| engine.test(request)) {
                self.received[receive].request = None;
                self.check_received(receive, outcome);
            }
        }
    }

    fn check_sent(&self, number: usize, outcome: Outcome) {
        let sent = &self.sent[number];
        match outcome {
            Ok(status) if status.cancelled => {
                assert!(sent.recalled, "nobody took message {number} back");
                assert!(!sent.matched, "message {number} was matched and taken back");
            }
            Ok(status) => assert_eq!(status.len, sent.body.len() as u64),
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
                assert_eq!(status.len, sent.body.len() as u64);
                assert!(!status.cancelled);
                let bytes = &room.to_vec()[..sent.body.len()];
                assert!(bytes == sent.body, "message {number} was changed");
            }
            (
                Expected::Message(number),
                Err(Failure::Truncated {
                    sent: len,
                    room: fits,
                    ..
                }),
            ) => {
                let body = &self.sent[*number].body;
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
