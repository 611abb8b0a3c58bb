//! The answers that a rank waits for, of targets that it asked by messages: [`Answers`].

use oxmpi_os::RawBytes;
use oxmpi_wire::slab::{Handle, Slab};
use oxmpi_wire::{Bytes, Peer, Take};

use super::Accepted;

/// The answers that have not come, or that nobody has looked at.
#[derive(Default)]
pub(crate) struct Answers {
    open: Slab<Answer>,
}

struct Answer {
    from: Peer,
    state: AnswerState,
}

enum AnswerState {
    /// Bytes for these; nobody asks for its end: a flush does.
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
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    Done,
    /// This rank of the window is lost, and may have had the lock that was asked for.
    Refused(u64),
}

/// What a peer answers that was not asked.
const UNASKED: &str = "a message of a window answers what was asked of its sender";

impl Answers {
    /// The number of a request to `from` whose answer are the `len` packed bytes of `into` from `first` on.
    pub(crate) fn bytes(&mut self, from: Peer, (into, first, len): (RawBytes, u64, u64)) -> u64 {
        let state = AnswerState::Bytes(AnswerBytes {
            into,
            first,
            len,
            left: len,
        });
        self.open.insert(Answer { from, state }).word()
    }

    /// The number of a request to `from` whose end is awaited.
    pub(crate) fn awaited(&mut self, from: Peer) -> u64 {
        let state = AnswerState::Awaited;
        self.open.insert(Answer { from, state }).word()
    }

    /// How the request ended; `None` while it has not. It is forgotten then.
    pub(crate) fn end(&mut self, number: u64) -> Option<Answered> {
        let index = self.open.find(Handle::from_word(number))?;
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
        if let Some(index) = self.open.find(Handle::from_word(number)) {
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
        if bytes.left == 0 {
            self.open.free(index);
        }
        Ok(())
    }

    pub(super) fn done(&mut self, from: Peer, number: u64) -> Accepted {
        self.answered(from, number, Answered::Done)
    }

    pub(super) fn refused(&mut self, from: Peer, number: u64, rank: u64) -> Accepted {
        self.answered(from, number, Answered::Refused(rank))
    }

    fn answered(&mut self, from: Peer, number: u64, how: Answered) -> Accepted {
        let (_, answer) = self.find(from, number)?;
        match answer.state {
            AnswerState::Awaited => answer.state = AnswerState::Ended(how),
            AnswerState::Bytes(_) | AnswerState::Ended(_) => return Err(UNASKED),
        }
        Ok(())
    }

    fn find(&mut self, from: Peer, number: u64) -> Result<(u32, &mut Answer), &'static str> {
        let index = self.open.find(Handle::from_word(number)).ok_or(UNASKED)?;
        match self.open.get_mut(index) {
            Some(answer) if answer.from == from => Ok((index, answer)),
            _ => Err(UNASKED),
        }
    }
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
        let number = answers.bytes(peer, (target(&mut bytes), 0, 4));
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

        let number = answers.awaited(peer);
        assert!(answers.done(other, number).is_err() && answers.end(number).is_none());
        assert_eq!(answers.refused(peer, number, 7), Ok(()));
        assert!(answers.done(peer, number).is_err(), "once");
        assert_eq!(answers.end(number), Some(Answered::Refused(7)));
        assert!(answers.end(number).is_none() && answers.done(peer, number).is_err());
    }
}
