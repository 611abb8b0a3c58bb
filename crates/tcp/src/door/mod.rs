//! Who may join: both ends of a connection prove that they know the job's key before any frame is
//! read.
//!
//! ```text
//!  caller                                   host
//!  Hello{version, from, to, nonce}    ->
//!                                     <-    Challenge{nonce, proof}     or: Refused{why}
//!  Answer{proof}                      ->
//!                                     <-    Welcome                     or: Refused{why}
//! ```
//!
//! A proof is the BLAKE3 hash, keyed with the [`JobKey`], of who proves it and of all that was said
//! before, both nonces included: it cannot be used again, nor be turned against who made it. All
//! messages have fixed sizes, and nobody answers who does not say the first words rightly: a port
//! scanner sees a door that closes.
//!
//! It keeps strangers out. It does not hide what is said, nor does it help against who can change
//! packets on their way: for that, a network is to be trusted or a tunnel used.
//!
//! Nothing here touches a socket or a clock.

mod caller;
mod dial;
mod host;
mod key;
mod message;
#[cfg(test)]
mod tests;
mod twin;
mod waiting;

pub use caller::Caller;
pub use dial::{Dial, Next};
pub use host::Host;
pub use key::{JobKey, Nonce, Proof};
pub use message::{Refusal, Who};
pub use twin::{Standing, Verdict, judge};
pub use waiting::Waiting;

/// Version of the greeting and of the transport's own frames. Peers agree on it before their first
/// frame.
pub const VERSION: u32 = 4;

/// Why a greeting failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Turned {
    /// The first words are not ours: a port scanner, or a program that means somebody else.
    #[error("it does not speak this protocol")]
    Stranger,
    /// The other side speaks another version.
    #[error("it speaks version {0} of the protocol; this side speaks version {VERSION}")]
    Version(u32),
    /// The other side does not know the key of this job.
    #[error("it does not know the key of this job")]
    Key,
    /// The caller names itself or this side in a way that cannot be.
    #[error("it says that it is rank {} and wants rank {}; here is rank {here} of {ranks}", who.from, who.to)]
    Name {
        /// As it says.
        who: Who,
        /// This side.
        here: u32,
        /// Ranks of the job.
        ranks: u32,
    },
    /// The host said why it does not let this side in.
    #[error("it refuses: {0}")]
    Refused(Refusal),
}

/// A message of fixed size that goes out, or comes in, in pieces.
#[derive(Clone, Copy, Debug)]
struct Parcel<const N: usize> {
    bytes: [u8; N],
    have: usize,
    len: usize,
}

impl<const N: usize> Parcel<N> {
    /// One of `len` bytes that is to come.
    const fn awaited(len: usize) -> Self {
        Self {
            bytes: [0; N],
            have: 0,
            len,
        }
    }

    /// One that is to go.
    fn of(message: &[u8]) -> Self {
        let mut parcel = Self::awaited(message.len());
        parcel.bytes[..message.len()].copy_from_slice(message);
        parcel
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

    fn moved(&mut self, count: usize) {
        self.have = (self.have + count).min(self.len);
    }

    fn whole(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
