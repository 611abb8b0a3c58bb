//! The answers that a rank waits for, of targets that it asked by messages: [`Answers`].

use std::collections::BTreeMap;

use oxmpi_os::RawBytes;
use oxmpi_wire::engine::{Failure, Status};
use oxmpi_wire::slab::{Handle, Slab};
use oxmpi_wire::{Bytes, Fault, Outcome, Peer, Take};

use super::{Accepted, Conflict, Peers};
use crate::request::OpenRequest;

/// The answers that have not come, or that nobody has looked at.
#[derive(Default)]
pub(crate) struct Answers {
    open: Slab<Answer>,
    /// How many requests were sent.
    sent: u64,
    /// Requests of the program, each of the bytes of one access.
    requests: Vec<Requested>,
    /// Requests that have ended, until the endpoint completes them.
    ended: Vec<(OpenRequest, Outcome)>,
    /// By link, why an access was not done whose bytes were to come.
    not_done: BTreeMap<u32, Answered>,
}

/// A request of the program.
struct Requested {
    request: OpenRequest,
    from: Peer,
    /// Bytes that are missing.
    left: u64,
}

struct Answer {
    from: Peer,
    /// How many requests were sent before; [`UNSENT`] until it is.
    sent: u64,
    state: AnswerState,
}

enum AnswerState {
    /// Bytes are missing.
    Bytes(AnswerBytes),
    /// Somebody waits for its end.
    Awaited,
    Ended(Answered),
}

/// Where an answer goes: to packed bytes `first..first + len` of the buffer.
struct AnswerBytes {
    into: RawBytes,
    first: u64,
    len: u64,
    /// Bytes that are missing.
    left: u64,
    awaited_by: AwaitedBy,
}

/// Who waits for bytes of a target, and gets the error if they do not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AwaitedBy {
    /// What ends the access: a flush, or the end of its epoch.
    Flush,
    /// The program's request for them.
    Request(OpenRequest),
    /// The call that asked for them.
    Call,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    Done,
    /// This rank of the window is lost, and may have had a lock that accesses needed; they were not done.
    Refused(u64),
    /// At this address no memory is attached; the accesses there were not done.
    Outside(u64),
    /// An access conflicts with another rank's.
    Conflict(Conflict),
}

/// The number of a request that was not sent.
const UNSENT: u64 = u64::MAX;

/// What a peer answers that was not asked.
const UNASKED: &str = "a message of a window answers what was asked of its sender";

impl Answers {
    /// The number of what `from` is asked for, whose answer are the `len` packed bytes of `into` from `first` on: a part of
    /// those of a request, if one awaits them.
    pub(crate) fn bytes(
        &mut self,
        from: Peer,
        (into, first, len): (RawBytes, u64, u64),
        awaited_by: AwaitedBy,
    ) -> u64 {
        let state = AnswerState::Bytes(AnswerBytes {
            into,
            first,
            len,
            left: len,
            awaited_by,
        });
        self.insert(from, state)
    }

    fn insert(&mut self, from: Peer, state: AnswerState) -> u64 {
        let sent = UNSENT;
        number_of(self.open.insert(Answer { from, sent, state }))
    }

    /// The request with this number is sent now.
    pub(crate) fn sent(&mut self, number: u64) {
        if let Some(index) = self.index(number)
            && let Some(answer) = self.open.get_mut(index)
        {
            answer.sent = self.sent;
            self.sent += 1;
        }
    }

    /// The number of a request to `from` whose end is awaited.
    pub(crate) fn awaited(&mut self, from: Peer) -> u64 {
        self.insert(from, AnswerState::Awaited)
    }

    /// Notes a request of the program for `left` bytes of a peer, which completes when they have come or the peer is lost.
    pub(crate) fn note_request(&mut self, request: OpenRequest, from: Peer, left: u64) {
        let noted = Requested {
            request,
            from,
            left,
        };
        self.requests.push(noted);
    }

    /// Whether the program has requests that have not ended.
    pub(super) const fn has_requests(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Whether bytes of this peer are missing.
    pub(crate) fn misses_bytes_of(&self, from: Peer) -> bool {
        self.missing().any(|answer| answer.from == from)
    }

    /// Whether bytes of any peer are missing.
    pub(crate) fn misses_bytes(&self) -> bool {
        self.missing().next().is_some()
    }

    /// The answers of which bytes are missing.
    fn missing(&self) -> impl Iterator<Item = &Answer> {
        let open = self.open.indices().filter_map(|index| self.open.get(index));
        open.filter(|answer| matches!(answer.state, AnswerState::Bytes(_)))
    }

    /// Why an access was not done that was to bring bytes of a peer, if there was one since the last call.
    pub(crate) fn take_not_done(&mut self, from: Peer) -> Option<Answered> {
        self.not_done.remove(&from.0)
    }

    /// The peers of which accesses were not done that were to bring bytes.
    pub(crate) fn not_done(&self) -> impl Iterator<Item = u32> + use<'_> {
        self.not_done.keys().copied()
    }

    /// Ends the requests of lost peers.
    pub(super) fn end_lost(&mut self, peers: &Peers<'_>) {
        let Self {
            requests, ended, ..
        } = self;
        requests.retain(|&Requested { request, from, .. }| {
            let fault = peers.engine.fault(from);
            let lost = fault.map(|fault| Err(Failure::Fault { peer: from, fault }));
            ended.extend(lost.map(|outcome| (request, outcome)));
            fault.is_none()
        });
    }

    /// The requests that have ended since the last call.
    pub(super) fn take_ended(&mut self) -> impl Iterator<Item = (OpenRequest, Outcome)> + use<'_> {
        self.ended.drain(..)
    }

    /// Ends a request of which not all bytes come.
    pub(crate) fn end_request(&mut self, request: OpenRequest) {
        if let Some(at) = (self.requests.iter()).position(|noted| noted.request == request) {
            let peer = self.requests.swap_remove(at).from;
            let fault = Fault::NOT_REGISTERED;
            self.ended
                .push((request, Err(Failure::Fault { peer, fault })));
        }
    }

    /// Notes that `come` bytes of a request have come.
    fn less_missing(&mut self, request: OpenRequest, come: u64) {
        let noted = (self.requests.iter()).position(|noted| noted.request == request);
        let Some(at) = noted else {
            return;
        };
        let noted = &mut self.requests[at];
        noted.left = noted.left.saturating_sub(come);
        if noted.left == 0 {
            self.requests.swap_remove(at);
            self.ended.push((request, Ok(Status::generalized(false))));
        }
    }

    /// How the request ended; `None` while it has not. It is forgotten then.
    pub(crate) fn end(&mut self, number: u64) -> Option<Answered> {
        let index = self.index(number)?;
        match self.open.get(index)?.state {
            AnswerState::Ended(answered) => {
                self.open.free(index);
                Some(answered)
            }
            AnswerState::Bytes(_) | AnswerState::Awaited => None,
        }
    }

    /// Forgets a request, whose answer does not come any more.
    pub(crate) fn forget(&mut self, number: u64) {
        if let Some(index) = self.index(number) {
            self.open.free(index);
        }
    }

    /// Bytes of an answer have come.
    pub(super) fn data(
        &mut self,
        from: Peer,
        number: u64,
        at: u64,
        body: &mut impl Take,
    ) -> Accepted {
        let come = body.left() as u64;
        let (index, answer) = self.find(from, number)?;
        let AnswerState::Bytes(bytes) = &mut answer.state else {
            return Err(UNASKED);
        };
        let end = at.checked_add(come).filter(|&end| end <= bytes.len);
        if end.is_none() || come > bytes.left {
            return Err("an answer of a window has as many bytes as were asked for");
        }
        bytes.into.fill(bytes.first + at, body);
        bytes.left -= come;
        let AnswerBytes {
            awaited_by, left, ..
        } = *bytes;
        if left == 0 && awaited_by == AwaitedBy::Call {
            answer.state = AnswerState::Ended(Answered::Done);
        } else if left == 0 {
            self.open.free(index);
        }
        if let AwaitedBy::Request(request) = awaited_by {
            self.less_missing(request, come);
        }
        Ok(())
    }

    /// The peer has no memory attached at this address.
    pub(super) fn outside(&mut self, from: Peer, number: u64, at: u64) -> Accepted {
        self.give_up(from, number, Answered::Outside(at))
    }

    pub(super) fn refused(&mut self, from: Peer, number: u64, rank: u64) -> Accepted {
        self.give_up(from, number, Answered::Refused(rank))
    }

    fn give_up(&mut self, from: Peer, number: u64, why: Answered) -> Accepted {
        let (index, answer) = self.find(from, number)?;
        let AnswerState::Bytes(bytes) = &answer.state else {
            return self.answered(from, number, why);
        };
        let awaited_by = bytes.awaited_by;
        if awaited_by == AwaitedBy::Call {
            answer.state = AnswerState::Ended(why);
            return Ok(());
        }
        self.open.free(index);
        self.not_done.insert(from.0, why);
        if let AwaitedBy::Request(request) = awaited_by {
            self.end_request(request);
        }
        Ok(())
    }

    pub(super) fn done(&mut self, from: Peer, number: u64) -> Accepted {
        self.answered(from, number, Answered::Done)
    }

    pub(super) fn conflict(&mut self, from: Peer, number: u64, conflict: Conflict) -> Accepted {
        self.answered(from, number, Answered::Conflict(conflict))
    }

    fn answered(&mut self, from: Peer, number: u64, how: Answered) -> Accepted {
        let (index, answer) = self.find(from, number)?;
        let (AnswerState::Awaited, sent) = (&answer.state, answer.sent) else {
            return Err(UNASKED);
        };
        // Who waits for this answer may give up the buffers of those before.
        let is_before = |other: &Answer| other.from == from && other.sent < sent;
        if self.missing().any(is_before) {
            return Err("what was asked before is answered before");
        }
        if let Some(answer) = self.open.get_mut(index) {
            answer.state = AnswerState::Ended(how);
        }
        Ok(())
    }

    /// The entry of a number.
    fn index(&self, number: u64) -> Option<u32> {
        self.open.find(Handle::from_word(number.checked_sub(1)?))
    }

    fn find(&mut self, from: Peer, number: u64) -> Result<(u32, &mut Answer), &'static str> {
        let index = self.index(number).ok_or(UNASKED)?;
        match self.open.get_mut(index) {
            Some(answer) if answer.from == from => Ok((index, answer)),
            _ => Err(UNASKED),
        }
    }
}

/// The number of an entry in messages, in which 0 is nobody's.
const fn number_of(entry: Handle) -> u64 {
    entry.word() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::target;

    #[test]
    fn only_what_was_asked_is_answered() {
        let mut bytes = [0u8; 4];
        let mut answers = Answers::default();
        let (peer, other) = (Peer(1), Peer(2));
        let number = answers.bytes(peer, (target(&mut bytes), 0, 4), AwaitedBy::Flush);
        assert!(answers.data(other, number, 0, &mut &[1u8; 4][..]).is_err());
        assert!(answers.data(peer, number, 1, &mut &[1u8; 4][..]).is_err());
        assert!(
            answers
                .data(peer, number, u64::MAX, &mut &[1u8][..])
                .is_err()
        );
        assert!(answers.done(peer, number).is_err());
        assert_eq!(answers.data(peer, number, 2, &mut &[3u8, 4][..]), Ok(()));
        assert_eq!(answers.data(peer, number, 0, &mut &[1u8, 2][..]), Ok(()));
        assert_eq!(bytes, [1, 2, 3, 4]);
        assert!(
            answers.data(peer, number, 0, &mut &[1u8][..]).is_err(),
            "it is over"
        );

        let bytes = answers.bytes(peer, (target(&mut bytes), 0, 4), AwaitedBy::Flush);
        let number = answers.awaited(peer);
        answers.sent(number);
        assert_eq!(
            answers.done(peer, number),
            Ok(()),
            "before the bytes were asked for"
        );
        answers.end(number);
        let number = answers.awaited(peer);
        answers.sent(bytes);
        answers.sent(number);
        assert!(answers.done(peer, number).is_err(), "bytes are missing");
        assert_eq!(answers.data(peer, bytes, 0, &mut &[9u8; 4][..]), Ok(()));
        assert!(answers.done(other, number).is_err() && answers.end(number).is_none());
        assert_eq!(answers.refused(peer, number, 7), Ok(()));
        assert!(answers.done(peer, number).is_err(), "once");
        assert_eq!(answers.end(number), Some(Answered::Refused(7)));
        assert!(answers.end(number).is_none() && answers.done(peer, number).is_err());
    }

    /// Whoever awaits bytes learns why they do not come, and nobody else.
    #[test]
    fn a_call_has_its_own_answer() {
        let mut bytes = [0u8; 4];
        let mut answers = Answers::default();
        let peer = Peer(1);
        let mut ask = |answers: &mut Answers, awaited_by| {
            answers.bytes(peer, (target(&mut bytes), 0, 4), awaited_by)
        };
        let mine = ask(&mut answers, AwaitedBy::Call);
        let others = ask(&mut answers, AwaitedBy::Flush);
        assert_eq!(answers.outside(peer, mine, 64), Ok(()));
        assert_eq!(
            answers.take_not_done(peer),
            None,
            "a flush of another thread"
        );
        assert_eq!(answers.end(others), None);
        assert_eq!(answers.end(mine), Some(Answered::Outside(64)));
        assert_eq!(answers.refused(peer, others, 3), Ok(()));
        assert_eq!(answers.take_not_done(peer), Some(Answered::Refused(3)));

        let mine = ask(&mut answers, AwaitedBy::Call);
        assert_eq!(answers.data(peer, mine, 0, &mut &[1u8; 3][..]), Ok(()));
        assert!(answers.end(mine).is_none() && answers.misses_bytes_of(peer));
        assert_eq!(answers.data(peer, mine, 3, &mut &[1u8][..]), Ok(()));
        assert!(!answers.misses_bytes_of(peer));
        assert!(answers.data(peer, mine, 0, &mut &[1u8][..]).is_err());
        assert_eq!(answers.end(mine), Some(Answered::Done));
    }
}
