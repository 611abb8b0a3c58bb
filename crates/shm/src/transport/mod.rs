//! The transport over a node's segment: [`ShmTx`] and [`ShmRx`].
//!
//! - A body of up to 112 B travels in its slot (path E0); up to 48 B it takes one line of it.
//! - A longer one, up to a buffer's size, goes through one of the link's larger buffers, and its
//!   slot names the buffer (path E1).
//! - Get (path R0) claims an offer of the owner's and then goes by one of several protocols: through a
//!   pipe, into which the owner copies while the other side copies out, often before it is asked;
//!   by the kernel's copy between address spaces, on one side or both; or straight from memory that
//!   both have mapped. Which is fastest is found by trial.
//! - Put (path R1), and gets for which no other protocol is left, are streams of chunks through the
//!   larger buffers.
//!
//! Buffers are used in order, and one chunk may take several that stand side by side. What a peer
//! writes is checked before it is used: header, buffer, length, key, range.

mod cma;
mod control;
mod limits;
mod link;
mod offer_key;
mod rx;
pub(crate) mod shared_bytes;
#[cfg(test)]
mod tests;
mod tx;
mod windows;

use crate::ring::{BODY, WIDE};

pub(crate) use cma::{CmaAccess, CmaBytes, PeerProcess};
pub use limits::limits;
pub use rx::ShmRx;
pub use tx::bulk::choice::BulkChoice;
pub use tx::bulk::protocol::{BulkPreference, BulkProtocol};
pub use tx::{ShmSlot, ShmTx};

/// Longest body in a slot, in bytes: its two lines less sequence and envelope.
const SHORT: usize = (WIDE - 1) * 8;

/// Longest body in a slot's first line.
const ONE_LINE: usize = (BODY - 1) * 8;

/// Operations that one rank may have under way.
const OPERATIONS: usize = 256;

/// The asymmetric barrier of the system: nothing on the common side.
#[derive(Clone, Copy, Debug)]
struct Expedited;

impl crate::ring::AsymmetricFence for Expedited {
    #[inline(always)]
    fn light(&self) {
        // The processor's part is done by `heavy`; the compiler must keep the order as well.
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
    }

    fn heavy(&self) {
        // Without the call a sleep may miss a wake, so sleeps are short then: see `ShmRx::nap`.
        let _ = oxmpi_os::membarrier::everywhere();
    }
}
