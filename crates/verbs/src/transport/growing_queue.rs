//! [`GrowingQueue`]: a completion queue that is as long as its peers need.

use super::options::VerbsTransportError;
use crate::error::VerbsError;
use crate::objects::{CompletionChannel, CompletionQueue, CompletionQueueOptions, Context};

/// Bytes that a device keeps for a completion: those of Mellanox's and most others.
pub(super) const ENTRY: u64 = 64;

/// Completions that nobody has polled, at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompletionNeeds {
    /// For each peer.
    pub(super) of_peer: u32,
    /// For the receives that all peers share.
    pub(super) of_all: u32,
}

impl CompletionNeeds {
    /// Those with `peers` peers; 2 at least.
    pub(super) fn with(self, peers: u32) -> u32 {
        let all = (self.of_peer.saturating_mul(peers)).saturating_add(self.of_all);
        all.max(2)
    }
}

/// A completion queue that grows with the peers that use it, where the device resizes queues. Else it is as long as all
/// ranks need.
#[derive(Debug, Clone)]
pub(super) struct GrowingQueue {
    pub(super) queue: CompletionQueue,
    needs: CompletionNeeds,
    depth: u32,
    grows: bool,
}

impl GrowingQueue {
    /// A queue of a device, announced on `channel`, for at most `peers` peers.
    ///
    /// # Errors
    /// When the device has none that is long enough for all peers.
    ///
    /// # Cost
    /// Makes a short queue and resizes it, to learn whether the device does.
    pub(super) fn new(
        context: &Context,
        channel: &CompletionChannel,
        needs: CompletionNeeds,
        peers: u32,
    ) -> Result<Self, VerbsError> {
        let make = |depth| {
            context.create_completion_queue(CompletionQueueOptions {
                channel: Some((channel, 0)),
                ..CompletionQueueOptions::polled(depth)
            })
        };
        let (queue, depth) = (make(1)?, needs.with(0));
        let resized = queue.resize(depth);
        if let Err(why) = &resized {
            tracing::debug!(%why, "completion queues are as long as all ranks need");
            let depth = needs.with(peers.max(1));
            return Ok(Self {
                queue: make(depth)?,
                needs,
                depth,
                grows: false,
            });
        }
        Ok(Self {
            queue,
            needs,
            depth,
            grows: true,
        })
    }

    /// Entries of the queue.
    pub(super) const fn depth(&self) -> u32 {
        self.depth
    }

    /// Makes the queue long enough for `peers` peers.
    ///
    /// # Errors
    /// When the device refuses.
    ///
    /// # Cost
    /// A system call for each new peer.
    pub(super) fn fit(&mut self, peers: u32) -> Result<(), VerbsTransportError> {
        let depth = self.needs.with(peers);
        if self.grows && depth > self.depth {
            self.queue.resize(depth)?;
            self.depth = depth;
        }
        Ok(())
    }
}
