//! The transport over a node's segment: [`ShmTx`] and [`ShmRx`].
//!
//! - A body of up to 48 B travels in its slot (path E0).
//! - A longer one, up to a buffer's size, goes through one of the link's larger buffers, and its
//!   slot names the buffer (path E1).
//! - Get and put (paths R0 and R1) are streams of chunks through the same buffers: the owner of the
//!   bytes copies in, from inside its polls, while the other side copies out. Whoever waits polls,
//!   so both copies overlap.
//!
//! Buffers are used in order, and one chunk may take several that stand side by side. What a peer
//! writes is checked before it is used: header, buffer, length, key, range.

mod control;
mod foreign;
mod gates;
mod limits;
mod link;
mod region;
mod rx;
#[cfg(test)]
mod tests;
mod tx;

pub(crate) use gates::Company;
pub use gates::Gates;
pub use limits::limits;
pub use region::ShmRegion;
pub use rx::ShmRx;
pub use tx::{ShmSlot, ShmTx};

/// Longest body in a slot, in bytes.
const SHORT: usize = 48;

/// Operations that one rank may have under way.
const OPERATIONS: usize = 256;

/// The asymmetric barrier of the system: nothing on the common side.
#[derive(Clone, Copy, Debug)]
struct Expedited;

impl crate::ring::Barrier for Expedited {
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
