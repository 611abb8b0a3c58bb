//! [`RegisteredBytes`]: how much memory a rank registers for messages, or a device pins for it, foretold from its options.

use super::buffers::Buffers;
use super::growing_queue::ENTRY;
use super::open_device::completions;
use super::options::VerbsOptions;
use super::queue_sizes::QueueSizes;
use super::receive_queues::ReceiveQueue;
use super::ring::RingShape;

/// Bytes that a rank registers for frames; user memory comes on top, while it is sent or received.
///
/// ```
/// use oxmpi_verbs::{RegisteredBytes, VerbsOptions};
///
/// let bytes = RegisteredBytes::of(&VerbsOptions::default());
/// // 100 peers, 16 of which send often, and to 16 of which this rank sends often.
/// assert!(bytes.total(100, 16, 16) < 64 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisteredBytes {
    /// For shared receive queues, and as much to send from. However many peers there are.
    pub endpoint: u64,
    /// For each peer that the rank exchanges frames with.
    pub peer: u64,
    /// For each end of an eager ring.
    pub ring: u64,
    /// Completions of shared receive queues, 64 B each: pinned by most devices, kept in the kernel by others.
    pub endpoint_completions: u64,
    /// Completions of each peer. Where a device cannot resize its queues, of each rank of the job.
    pub peer_completions: u64,
}

impl RegisteredBytes {
    /// Those of a rank with these options.
    #[must_use]
    pub fn of(options: &VerbsOptions) -> Self {
        let both = |queue: &ReceiveQueue| {
            let stride = Buffers::stride(queue.size()) as u64;
            let sends = if queue.is_shared() {
                queue.buffers()
            } else {
                queue.sends()
            };
            stride * u64::from(queue.buffers() + sends)
        };
        let queues = options.receive_queues.iter();
        let (shared, own): (Vec<_>, Vec<_>) = queues.partition(|queue| queue.is_shared());
        let needs = completions(options, &QueueSizes::new(&options.receive_queues));
        let shape = RingShape::new(options.rings.slots, options.rings.size);
        Self {
            endpoint: shared.into_iter().map(both).sum(),
            peer: own.into_iter().map(both).sum(),
            ring: shape.map_or(0, |shape| shape.bytes() as u64),
            endpoint_completions: ENTRY * u64::from(needs.with(0)),
            peer_completions: ENTRY * u64::from(needs.of_peer),
        }
    }

    /// All bytes with `peers` peers, of which `incoming` write to rings of this rank, and `outgoing` have rings to which
    /// it writes.
    #[must_use]
    pub fn total(&self, peers: u32, incoming: u32, outgoing: u32) -> u64 {
        let rings = u64::from(incoming) + u64::from(outgoing);
        let of_peer = self.peer + self.peer_completions;
        let of_all = self.endpoint + self.endpoint_completions;
        of_all + of_peer * u64::from(peers) + self.ring * rings
    }
}
