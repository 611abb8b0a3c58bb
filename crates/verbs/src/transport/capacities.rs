//! How much the queues of a rank hold.

use super::OPERATIONS;
use super::frame_head::MAX_INLINE;
use super::options::VerbsOptions;
use super::queue_sizes::QueueSizes;
use super::receive_queues::ReceiveQueue;
use crate::error::VerbsError;
use crate::objects::{CompletionQueue, ProtectionDomain, QueueCapacity};

/// What the queue pair of receive queue `number` holds: frames and credit messages in flight, and the rank's
/// operations.
pub(super) fn capacity(
    queue: &ReceiveQueue,
    sizes: &QueueSizes,
    number: u8,
    options: &VerbsOptions,
) -> QueueCapacity {
    let VerbsOptions { inline, rings, .. } = options;
    let mut sends = queue.sends();
    if number == sizes.of_accesses() {
        // Of a ring, its frames and words.
        sends += OPERATIONS as u32 + rings.slots;
    }
    let receives = if queue.is_shared() {
        0
    } else {
        queue.buffers()
    };
    QueueCapacity {
        max_inline_data: (*inline).min(MAX_INLINE as u32),
        ..QueueCapacity::new(sends, receives)
    }
}

/// Bytes inline that a queue pair is asked for, no more than by `capacity`, and what the device grants then.
pub(super) fn try_inline(
    domain: &ProtectionDomain,
    queue: &CompletionQueue,
    mut capacity: QueueCapacity,
) -> Result<[u32; 2], VerbsError> {
    loop {
        let asked = capacity.max_inline_data;
        match domain.create_queue_pair(queue, queue, capacity) {
            Ok(pair) => {
                let granted = pair.capacity().max_inline_data;
                return Ok([asked, granted.min(MAX_INLINE as u32)]);
            }
            Err(why) if asked == 0 => return Err(why),
            // Soft-iWARP refuses what it does not grant.
            Err(_) => capacity.max_inline_data = asked / 2,
        }
    }
}

/// The most completions that nobody has polled: of a peer, and of the receives of all.
pub(super) fn completions(options: &VerbsOptions, sizes: &QueueSizes) -> [u32; 2] {
    let (mut of_peer, mut of_all) = (0, 0);
    for (queue, number) in options.receive_queues.iter().zip(0..) {
        let capacity = capacity(queue, sizes, number, options);
        of_peer += capacity.max_send_wr + capacity.max_recv_wr;
        if queue.is_shared() {
            of_all += queue.buffers();
        }
    }
    [of_peer, of_all]
}
