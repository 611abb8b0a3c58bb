//! [`ServerHandshake`]: the handshake on the side that is connected to.

use super::key::Role;
use super::message::{Challenge, Hello, Refusal, Verdict};
use super::{ConnectDecision, FixedMessage, HandshakeError, JobKey, Nonce, Proof, RankPair};

/// The server side of one handshake. Write [`ServerHandshake::output`], and read into
/// [`ServerHandshake::input`], nothing beyond it.
#[derive(Debug)]
pub struct ServerHandshake {
    key: JobKey,
    here: u32,
    size: u32,
    nonce: Nonce,
    hello: [u8; Hello::LEN],
    ranks: Option<RankPair>,
    output: FixedMessage<{ Challenge::LEN }>,
    input: FixedMessage<{ Hello::LEN }>,
}

impl ServerHandshake {
    /// Awaits a client at rank `here` of `size`. `nonce` was never used before.
    #[must_use]
    pub fn new(key: JobKey, here: u32, size: u32, nonce: Nonce) -> Self {
        Self {
            key,
            here,
            size,
            nonce,
            hello: [0; Hello::LEN],
            ranks: None,
            output: FixedMessage::awaited(0),
            input: FixedMessage::awaited(Hello::LEN),
        }
    }

    /// Bytes to write; after an error, too, before the connection is closed.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.output.rest()
    }

    /// `count` bytes of the output were written.
    pub fn sent(&mut self, count: usize) {
        self.output.advance(count);
    }

    /// Where to read what the client sends; empty when it has sent all.
    pub fn input(&mut self) -> &mut [u8] {
        self.input.rest_mut()
    }

    /// `count` bytes were read. `Some`: the client has proved that it knows the key; decide whether it is
    /// accepted, and call [`ServerHandshake::conclude`].
    ///
    /// # Errors
    /// [`HandshakeError`]: write the output, which is empty for a wrong magic number, and close the
    /// connection.
    pub fn received(&mut self, count: usize) -> Result<Option<RankPair>, HandshakeError> {
        self.input.advance(count);
        if self.ranks.is_none() && !Hello::may_begin(&self.input.bytes[..self.input.have]) {
            return Err(HandshakeError::BadMagic);
        }
        if !self.input.is_whole() {
            return Ok(None);
        }
        match self.ranks {
            None => self.read_hello().map(|()| None),
            Some(ranks) => self.read_answer().map(|()| Some(ranks)),
        }
    }

    fn read_hello(&mut self) -> Result<(), HandshakeError> {
        let hello = match Hello::parse(self.input.whole()) {
            Err(HandshakeError::Version(theirs)) => {
                self.output = FixedMessage::of(&Challenge::refused(Refusal::Version));
                return Err(HandshakeError::Version(theirs));
            }
            hello => hello?,
        };
        let RankPair { from, to } = hello.ranks;
        if to != self.here || from >= self.size || from == self.here {
            self.output = FixedMessage::of(&Challenge::refused(Refusal::WrongRank));
            return Err(HandshakeError::WrongRank {
                ranks: hello.ranks,
                here: self.here,
                size: self.size,
            });
        }
        self.hello = hello.bytes();
        let proof = self.key.proof(Role::Server, &[&self.hello, &self.nonce]);
        let challenge = Challenge {
            nonce: self.nonce,
            proof,
        };
        self.output = FixedMessage::of(&challenge.bytes());
        self.input = FixedMessage::awaited(Proof::LEN);
        self.ranks = Some(hello.ranks);
        Ok(())
    }

    fn read_answer(&mut self) -> Result<(), HandshakeError> {
        let claimed = self.input.whole().first_chunk().copied();
        let claimed = Proof::claimed(claimed.unwrap_or_default());
        if self.key.proof(Role::Client, &[&self.hello, &self.nonce]) != claimed {
            self.output = FixedMessage::of(&Verdict::bytes(Some(Refusal::Key)));
            return Err(HandshakeError::Key);
        }
        Ok(())
    }

    /// Accepts or refuses the client. Then write the output.
    pub fn conclude(&mut self, verdict: ConnectDecision) {
        let refused = match verdict {
            ConnectDecision::Accept => None,
            ConnectDecision::Refuse(why) => Some(why),
        };
        self.output = FixedMessage::of(&Verdict::bytes(refused));
    }
}
