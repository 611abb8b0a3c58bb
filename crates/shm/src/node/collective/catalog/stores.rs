//! When bytes are stored past the caches (non-temporal), in buffers that others read and in outputs.

use super::super::call_kind::CallKind;

/// How buffers that other ranks read are written: through the caches or past them, as the time of writes tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferStores {
    /// Bytes from which a write may go past the caches.
    pub from: usize,
    /// Bytes from which a write may be timed.
    pub timed_from: usize,
}

/// Writes of bounce buffers and ping-pong buffers, other than those that stay in the cache of the writer's processor.
pub const BUFFERS_NT: BufferStores = BufferStores {
    from: 2 << 10,
    timed_from: 4 << 10,
};

/// Quarters of a rank's part of the last cache: outputs of a call that moves so much go past the caches.
pub const OUTPUT_NT_QUARTERS: u64 = 3;

/// Bytes below which a call leaves its output in the caches, however small they are.
pub const OUTPUT_NT_LEAST: u64 = 1 << 20;

impl CallKind {
    /// The fewest ranks of a group whose calls may write their outputs past the caches, where bytes go through buffers.
    /// `None`: such calls never do. The output of a broadcast or scatter is written by ranks of which one has all the input.
    /// Of a gather of two ranks only the root writes an output: blocks of 8 MiB took 1.1 times the time so.
    #[must_use]
    pub const fn output_nt_ranks(self) -> Option<u32> {
        match self {
            Self::Gather => Some(3),
            Self::Allgather | Self::Alltoall => Some(2),
            _ => None,
        }
    }
}

/// Bytes from which a call writes its output past the caches, of a rank with `part` bytes of the last cache.
pub(in super::super) const fn output_nt_from(part: u64) -> u64 {
    let most = part / 4 * OUTPUT_NT_QUARTERS;
    if most > OUTPUT_NT_LEAST {
        most
    } else {
        OUTPUT_NT_LEAST
    }
}
