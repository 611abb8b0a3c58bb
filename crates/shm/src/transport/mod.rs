//! The transport over a node's segment: [`ShmTx`] and [`ShmRx`].
//!
//! - A body of up to 112 B travels in its slot (path E0); up to 48 B it takes one line of the slot.
//! - A longer body, up to a buffer's size, goes through one of the link's larger buffers, which its slot names (path E1).
//! - A get (path R0) claims an offer of the owner by a [`BulkProtocol`]: through a window of shared memory, which the
//!   owner often fills before it is asked; by cross-memory attach, on one side or both; or from mapped memory. Trials
//!   find the fastest.
//! - A put (path R1), and a get for which no other protocol is left, streams chunks through the larger buffers.
//! - An atomic changes a word in the heap directly; of a word elsewhere it asks the owner by a frame.
//!
//! Buffers are used in order, and one chunk may take several adjacent ones. The transport checks what a peer writes
//! before it uses it: header, buffer, length, key, range.

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
pub use rx::{ShmRx, ShmSleeper};
pub(crate) use shared_bytes::SharedBytes;
pub use tx::bulk::choice::BulkChoice;
pub use tx::bulk::protocol::{BulkPreference, BulkProtocol};
pub use tx::{ShmSlot, ShmTx};

/// Longest body in a slot, in bytes: two lines without the sequence number and the envelope.
const SHORT: usize = (WIDE - 1) * 8;

/// The compact header of a message of one word.
const WORD: u32 = oxmpi_wire::Header::PLAIN + 8;

/// Longest body in the first line of a slot, in bytes.
const ONE_LINE: usize = (BODY - 1) * 8;

/// Greatest number of operations of one rank that are under way.
const OPERATIONS: usize = 256;

/// The fence of sleepers and senders: senders pay nothing, a sleeper calls membarrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MembarrierFence;

impl crate::ring::AsymmetricFence for MembarrierFence {
    #[inline(always)]
    fn light(&self) {
        // `heavy` does the processor's part; the compiler must keep the order, too.
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
    }

    fn heavy(&self) {
        // Where membarrier is missing, a sleep may miss a wake, so sleeps are short: see
        // `ShmRx::longest_nap`.
        let _ = oxmpi_os::membarrier::everywhere();
    }
}
