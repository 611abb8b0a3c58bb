//! The side that connects.

use super::key::Role;
use super::message::{Challenge, Hello, Welcome};
use super::{JobKey, Nonce, Parcel, Proof, Turned, Who};

/// A greeting as the caller has it. Write [`Caller::output`], read into [`Caller::input`], and nothing
/// beyond it: what follows the greeting are frames.
#[derive(Debug)]
pub struct Caller {
    key: JobKey,
    hello: [u8; Hello::LEN],
    state: State,
    output: Parcel<{ Hello::LEN }>,
    input: Parcel<{ Challenge::LEN }>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Challenge,
    Welcome,
    Welcomed,
}

impl Caller {
    /// Greets as `who`, with a nonce that was never used.
    #[must_use]
    pub fn new(key: JobKey, who: Who, nonce: Nonce) -> Self {
        let hello = Hello { who, nonce }.bytes();
        Self {
            key,
            hello,
            state: State::Challenge,
            output: Parcel::of(&hello),
            input: Parcel::awaited(Challenge::LEN),
        }
    }

    /// What is to be written.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.output.rest()
    }

    /// `count` bytes of the output were written.
    pub fn wrote(&mut self, count: usize) {
        self.output.moved(count);
    }

    /// Whether this side has proved who it is: the host may have let it in by now.
    #[must_use]
    pub fn has_proved(&self) -> bool {
        self.state != State::Challenge && self.output.rest().is_empty()
    }

    /// Where to read what the host says; empty when it has said all.
    pub fn input(&mut self) -> &mut [u8] {
        self.input.rest_mut()
    }

    /// `count` bytes were read. True: this side is welcome, and frames follow.
    ///
    /// # Errors
    /// [`Turned`]: close the connection.
    pub fn came(&mut self, count: usize) -> Result<bool, Turned> {
        self.input.moved(count);
        if !self.input.is_whole() || self.state == State::Welcomed {
            return Ok(self.state == State::Welcomed);
        }
        match self.state {
            State::Challenge => {
                let challenge = Challenge::parse(self.input.whole())?;
                let said: [&[u8]; 2] = [&self.hello, &challenge.nonce];
                if self.key.proof(Role::Host, &said) != challenge.proof {
                    return Err(Turned::Key);
                }
                let answer: Proof = self.key.proof(Role::Caller, &said);
                self.output = Parcel::of(answer.bytes());
                self.input = Parcel::awaited(Welcome::LEN);
                self.state = State::Welcome;
            }
            State::Welcome | State::Welcomed => {
                Welcome::parse(self.input.whole())?;
                self.state = State::Welcomed;
            }
        }
        Ok(self.state == State::Welcomed)
    }
}
