//! [`ClientHandshake`]: the handshake on the side that connects.

use super::key::Role;
use super::message::{Challenge, Hello, Verdict};
use super::{FixedMessage, HandshakeError, JobKey, Nonce, Proof, RankPair};

/// The client side of one handshake. Write [`ClientHandshake::output`], and read into
/// [`ClientHandshake::input`], nothing beyond it: frames follow.
#[derive(Debug)]
pub struct ClientHandshake {
    key: JobKey,
    hello: [u8; Hello::LEN],
    state: ClientState,
    output: FixedMessage<{ Hello::LEN }>,
    input: FixedMessage<{ Challenge::LEN }>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientState {
    Challenge,
    Verdict,
    Accepted,
}

impl ClientHandshake {
    /// Connects as `ranks.from` to `ranks.to`. `nonce` was never used before.
    #[must_use]
    pub fn new(key: JobKey, ranks: RankPair, nonce: Nonce) -> Self {
        let hello = Hello { ranks, nonce }.bytes();
        Self {
            key,
            hello,
            state: ClientState::Challenge,
            output: FixedMessage::of(&hello),
            input: FixedMessage::awaited(Challenge::LEN),
        }
    }

    /// Bytes to write.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.output.rest()
    }

    /// `count` bytes of the output were written.
    pub fn sent(&mut self, count: usize) {
        self.output.advance(count);
    }

    /// Whether this side has sent its proof: the server may have accepted it by now.
    #[must_use]
    pub fn is_authenticated(&self) -> bool {
        self.state != ClientState::Challenge && self.output.rest().is_empty()
    }

    /// Where to read what the server sends; empty when it has sent all.
    pub fn input(&mut self) -> &mut [u8] {
        self.input.rest_mut()
    }

    /// `count` bytes were read. True: the server has accepted, and frames follow.
    ///
    /// # Errors
    /// [`HandshakeError`]: close the connection.
    pub fn received(&mut self, count: usize) -> Result<bool, HandshakeError> {
        self.input.advance(count);
        if !self.input.is_whole() || self.state == ClientState::Accepted {
            return Ok(self.state == ClientState::Accepted);
        }
        match self.state {
            ClientState::Challenge => {
                let challenge = Challenge::parse(self.input.whole())?;
                let messages: [&[u8]; 2] = [&self.hello, &challenge.nonce];
                if self.key.proof(Role::Server, &messages) != challenge.proof {
                    return Err(HandshakeError::Key);
                }
                let answer: Proof = self.key.proof(Role::Client, &messages);
                self.output = FixedMessage::of(answer.bytes());
                self.input = FixedMessage::awaited(Verdict::LEN);
                self.state = ClientState::Verdict;
            }
            ClientState::Verdict | ClientState::Accepted => {
                Verdict::parse(self.input.whole())?;
                self.state = ClientState::Accepted;
            }
        }
        Ok(self.state == ClientState::Accepted)
    }
}
