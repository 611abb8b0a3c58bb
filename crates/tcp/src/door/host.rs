//! The side that is connected to.

use super::key::Role;
use super::message::{Challenge, Hello, Refusal, Welcome};
use super::{JobKey, Nonce, Parcel, Proof, Turned, Verdict, Who};

/// A greeting as the host has it. Write [`Host::output`], read into [`Host::input`], and nothing beyond
/// it.
#[derive(Debug)]
pub struct Host {
    key: JobKey,
    here: u32,
    ranks: u32,
    nonce: Nonce,
    hello: [u8; Hello::LEN],
    who: Option<Who>,
    output: Parcel<{ Challenge::LEN }>,
    input: Parcel<{ Hello::LEN }>,
}

impl Host {
    /// Greets whoever calls rank `here` of `ranks`, with a nonce that was never used.
    #[must_use]
    pub fn new(key: JobKey, here: u32, ranks: u32, nonce: Nonce) -> Self {
        Self {
            key,
            here,
            ranks,
            nonce,
            hello: [0; Hello::LEN],
            who: None,
            output: Parcel::awaited(0),
            input: Parcel::awaited(Hello::LEN),
        }
    }

    /// What is to be written; also after an error, before the connection is closed.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.output.rest()
    }

    /// `count` bytes of the output were written.
    pub fn wrote(&mut self, count: usize) {
        self.output.moved(count);
    }

    /// Where to read what the caller says; empty when it has said all.
    pub fn input(&mut self) -> &mut [u8] {
        self.input.rest_mut()
    }

    /// `count` bytes were read. `Some`: the caller has proved that it knows the key; decide whether it
    /// is let in, and [`Host::conclude`].
    ///
    /// # Errors
    /// [`Turned`]: write the output, which is empty for who did not say the first words, and close the
    /// connection.
    pub fn came(&mut self, count: usize) -> Result<Option<Who>, Turned> {
        self.input.moved(count);
        if self.who.is_none() && !Hello::may_begin(&self.input.bytes[..self.input.have]) {
            return Err(Turned::Stranger);
        }
        if !self.input.is_whole() {
            return Ok(None);
        }
        match self.who {
            None => self.greeted().map(|()| None),
            Some(who) => self.answered().map(|()| Some(who)),
        }
    }

    fn greeted(&mut self) -> Result<(), Turned> {
        let hello = match Hello::parse(self.input.whole()) {
            Err(Turned::Version(theirs)) => {
                self.output = Parcel::of(&Challenge::refused(Refusal::Version));
                return Err(Turned::Version(theirs));
            }
            other => other?,
        };
        let Who { from, to } = hello.who;
        if to != self.here || from >= self.ranks || from == self.here {
            self.output = Parcel::of(&Challenge::refused(Refusal::Name));
            return Err(Turned::Name {
                who: hello.who,
                here: self.here,
                ranks: self.ranks,
            });
        }
        self.hello = hello.bytes();
        let proof = self.key.proof(Role::Host, &[&self.hello, &self.nonce]);
        let challenge = Challenge {
            nonce: self.nonce,
            proof,
        };
        self.output = Parcel::of(&challenge.bytes());
        self.input = Parcel::awaited(Proof::LEN);
        self.who = Some(hello.who);
        Ok(())
    }

    fn answered(&mut self) -> Result<(), Turned> {
        let claimed = self.input.whole().first_chunk().copied();
        let claimed = Proof::claimed(claimed.unwrap_or_default());
        if self.key.proof(Role::Caller, &[&self.hello, &self.nonce]) != claimed {
            self.output = Parcel::of(&Welcome::bytes(Some(Refusal::Key)));
            return Err(Turned::Key);
        }
        Ok(())
    }

    /// Lets the caller in, or says why not. Then write the output.
    pub fn conclude(&mut self, verdict: Verdict) {
        let refused = match verdict {
            Verdict::Welcome => None,
            Verdict::Refuse(why) => Some(why),
        };
        self.output = Parcel::of(&Welcome::bytes(refused));
    }
}
