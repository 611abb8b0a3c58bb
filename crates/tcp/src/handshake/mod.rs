//! The handshake: both ends of a new connection prove that they know the job's key before any frame.
//!
//! ```text
//!  client                                   server
//!  Hello{version, from, to, nonce}    ->
//!                                     <-    Challenge{nonce, proof}     or: Refused{why}
//!  Answer{proof}                      ->
//!                                     <-    Verdict (accepted)          or: Refused{why}
//! ```
//!
//! A proof is the BLAKE3 hash, keyed with the [`JobKey`], of its sender's role and of all messages before,
//! both nonces included: it cannot be replayed or reflected. All messages have fixed sizes. A client with
//! a wrong magic number gets no answer: a port scanner sees a connection that closes.
//!
//! It keeps foreign programs out. It does not encrypt, and does not protect against an attacker who changes
//! packets: use a trusted network or a tunnel.
//!
//! Nothing here touches a socket or a clock.

mod client;
mod key;
mod message;
mod pending;
mod schedule;
mod server;
mod simultaneous;
#[cfg(test)]
mod tests;

pub use client::ClientHandshake;
pub use key::{JobKey, Nonce, Proof};
pub use message::{RankPair, Refusal};
pub use pending::PendingQueue;
pub use schedule::{ConnectSchedule, ScheduleStep};
pub use server::ServerHandshake;
pub use simultaneous::{ConnectDecision, PeerState, decide};

/// Version of the handshake and of control frames, which the handshake compares.
pub const VERSION: u32 = 4;

/// Why a handshake failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The first bytes are not the magic number: a port scanner, or another protocol.
    #[error("it does not speak this protocol")]
    BadMagic,
    /// The other side speaks another version.
    #[error("it speaks version {0} of the protocol; this side speaks version {VERSION}")]
    Version(u32),
    /// The other side does not know the key of this job.
    #[error("it does not know the key of this job")]
    Key,
    /// The client wants another rank than this one, or says that it is a rank that does not exist.
    #[error("it says that it is rank {} and wants rank {}; here is rank {here} of {size}", ranks.from, ranks.to)]
    WrongRank {
        /// What the client says.
        ranks: RankPair,
        /// The rank of the server.
        here: u32,
        /// Ranks of the job.
        size: u32,
    },
    /// The server refuses the client.
    #[error("it refuses: {0}")]
    Refused(Refusal),
}

/// A message of fixed size that is sent or received in pieces.
#[derive(Clone, Copy, Debug)]
struct FixedMessage<const N: usize> {
    bytes: [u8; N],
    have: usize,
    len: usize,
}

impl<const N: usize> FixedMessage<N> {
    /// A message of `len` bytes to receive.
    const fn awaited(len: usize) -> Self {
        Self {
            bytes: [0; N],
            have: 0,
            len,
        }
    }

    /// A message to send.
    fn of(message: &[u8]) -> Self {
        let mut sent = Self::awaited(message.len());
        sent.bytes[..message.len()].copy_from_slice(message);
        sent
    }

    const fn is_whole(&self) -> bool {
        self.have == self.len
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.have..self.len]
    }

    fn rest_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.have..self.len]
    }

    fn advance(&mut self, count: usize) {
        self.have = (self.have + count).min(self.len);
    }

    fn whole(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
