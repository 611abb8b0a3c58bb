//! [`SendQueue`]: the requests of a send queue that have not ended.
//!
//! Frames that are sent inline need no completion: the device has copied them. Only some of them are signaled, and the end of a
//! signaled request is that of the unsignaled ones before it. One that fails completes nevertheless.

use oxmpi_wire::regions::RegionId;
use std::collections::VecDeque;

/// The most frames of which one is signaled. A completion costs about 100 instructions (x86-64, November 2026).
const MOST_UNSIGNALED: u32 = 32;

/// The requests of a send queue, and what it holds at most.
#[derive(Debug)]
pub(super) struct SendQueue {
    /// Those that complete, the oldest first: the queue pair completes them in this order. Each is behind some that do not.
    signaled: VecDeque<(Unsignaled, Posted)>,
    /// Those behind all that complete.
    unsignaled: Unsignaled,
    /// Of so many frames one is signaled.
    period: u32,
    /// Messages, and the most of them.
    messages: u32,
    most: u32,
    /// Reads and writes of operations.
    accesses: u32,
    /// Writes of the transport's own: words of rings, and of nothing.
    words: u32,
    /// The most reads and writes of both kinds.
    most_accesses: u32,
}

/// Successive frames without completions.
#[derive(Debug, Clone, Copy, Default)]
struct Unsignaled {
    count: u32,
    /// The number of the first one, if there is any.
    first: u32,
}

/// A request that completes.
#[derive(Debug, Clone, Copy)]
pub(in crate::transport) enum Posted {
    /// A frame.
    Frame {
        sequence: u32,
        /// The staged buffer, if it was not sent inline.
        staged: Option<u32>,
        /// The region whose release it announces.
        released: Option<RegionId>,
    },
    /// A credit message.
    Credits {
        /// As of a frame.
        staged: Option<u32>,
    },
    /// A frame that was written to a ring.
    RingFrame { sequence: u32 },
    /// The word of a ring.
    Word,
    /// A write of nothing: the frames before it have ended when it has.
    Confirmation,
    /// A notice of the port pairs that were left.
    Left {
        /// As of a frame.
        staged: Option<u32>,
    },
    /// A read or a write: a piece of the operation of this index.
    Access { operation: u32 },
}

impl SendQueue {
    /// One that holds `most` messages, and `most_accesses` reads and writes.
    pub(super) fn new(most: u32, most_accesses: u32) -> Self {
        Self {
            signaled: VecDeque::with_capacity((most + most_accesses) as usize),
            unsignaled: Unsignaled::default(),
            // Of all messages that it holds, several complete: there is room again long before the last one has ended.
            period: (most / 4).clamp(1, MOST_UNSIGNALED),
            messages: 0,
            most,
            accesses: 0,
            words: 0,
            most_accesses,
        }
    }

    /// Signals every frame: a write of nothing says nothing of those before it.
    pub(super) const fn signal_all(&mut self) {
        self.period = 1;
    }

    /// Whether there is room for a message.
    #[inline]
    pub(super) const fn takes_message(&self) -> bool {
        self.messages < self.most
    }

    /// Whether there is room for a read or a write.
    pub(super) const fn takes_access(&self) -> bool {
        self.accesses + self.words < self.most_accesses
    }

    /// Reads and writes of operations in flight.
    pub(super) const fn accesses(&self) -> u32 {
        self.accesses
    }

    /// Writes of the transport's own in flight.
    pub(super) const fn words(&self) -> u32 {
        self.words
    }

    /// Whether the next frame that is sent inline has to be signaled.
    #[inline]
    pub(super) const fn signals_next(&self) -> bool {
        self.unsignaled.count + 1 >= self.period
    }

    /// Counts a frame that was sent inline without a signal.
    #[inline]
    pub(super) const fn add_unsignaled(&mut self, sequence: u32) {
        if self.unsignaled.count == 0 {
            self.unsignaled.first = sequence;
        }
        self.unsignaled.count += 1;
        self.messages += 1;
    }

    /// Counts a request that completes.
    pub(super) fn add(&mut self, posted: Posted) {
        let before = std::mem::take(&mut self.unsignaled);
        self.signaled.push_back((before, posted));
        if let Some(count) = self.count_of(posted) {
            *count += 1;
        }
    }

    /// The number of requests of a kind. The ring counts its frames.
    const fn count_of(&mut self, posted: Posted) -> Option<&mut u32> {
        match posted {
            Posted::Frame { .. } | Posted::Credits { .. } | Posted::Left { .. } => {
                Some(&mut self.messages)
            }
            Posted::Word | Posted::Confirmation => Some(&mut self.words),
            Posted::Access { .. } => Some(&mut self.accesses),
            Posted::RingFrame { .. } => None,
        }
    }

    /// Whether all requests that complete have.
    pub(super) fn is_empty(&self) -> bool {
        self.signaled.is_empty()
    }

    /// Whether frames are in flight, and no request that tells of their end.
    pub(super) fn is_silent(&self) -> bool {
        self.unsignaled.count > 0 && self.signaled.is_empty()
    }

    /// The oldest request that completes.
    pub(super) fn oldest(&self) -> Option<Posted> {
        self.signaled.front().map(|(_, posted)| *posted)
    }

    /// Removes the oldest request that completes, which is done, with the frames before it.
    pub(super) fn done(&mut self) -> Option<Posted> {
        let (before, posted) = self.signaled.pop_front()?;
        self.messages -= before.count;
        if let Some(count) = self.count_of(posted) {
            *count -= 1;
        }
        Some(posted)
    }

    /// The number of the oldest frame in flight.
    pub(super) fn oldest_frame(&self) -> Option<u32> {
        let signaled = self.signaled.iter().find_map(|(before, posted)| {
            before.first_frame().or(match posted {
                Posted::Frame { sequence, .. } | Posted::RingFrame { sequence } => Some(*sequence),
                _ => None,
            })
        });
        signaled.or(self.unsignaled.first_frame())
    }

    /// The regions whose release is announced by frames in flight.
    pub(super) fn released(&self) -> impl Iterator<Item = RegionId> {
        self.signaled.iter().filter_map(|(_, posted)| match posted {
            Posted::Frame { released, .. } => *released,
            _ => None,
        })
    }
}

impl Unsignaled {
    fn first_frame(self) -> Option<u32> {
        (self.count > 0).then_some(self.first)
    }
}
