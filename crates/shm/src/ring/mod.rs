//! Rings of cache-line slots between one sender and one receiver, and the other shared words of a node.
//!
//! A slot is a pair of cache lines of eight words each. The first word holds the message's sequence number and 32 bits of
//! the user's; it is stored last. A message of up to seven words touches the first line only, so one line moves between
//! two processors; processors fetch lines in pairs, so a wider message is nearly as fast.
//!
//! Nothing is cleared: the receiver knows the next sequence number. It writes only the count of slots that it has freed,
//! once every quarter of the ring, to a line of its own, so while messages flow it writes nothing that the sender reads.
//!
//! | for | types |
//! |---|---|
//! | messages | [`Sender`], [`Receiver`], [`Storage`]; [`PingPongSlot`]: one line for both directions of a pair |
//! | larger messages | [`PingPongBuffers`]: buffers that the two ranks of a pair write alternately |
//! | bulk bytes | [`BulkOffer`]: bytes that one peer may claim; [`FifoWriter`], [`FifoReader`]: a window with two counters |
//! | collectives | [`StepSlots`]: slots of one rank that all ranks read; [`BarrierCount`] |
//! | windows | [`WindowLocks`], [`AttachedMemory`] |
//! | waiting | [`SleepFlag`], [`CpuBoard`], [`RunnableHint`], [`OpenedLinks`], [`ExitFlag`] |
//! | a helper thread | [`Latch`], [`WorkSignal`] |
//!
//! Everything is generic over [`SharedWords`], so the code that the model checker explores is the code that runs. Atomic
//! orderings are literal and one a line: `cargo xtask loom --mutate` weakens each in turn.

mod attached_memory;
mod barrier_count;
mod cpu_board;
mod credit;
mod exit_flag;
mod fifo;
mod latch;
mod offer;
mod opened_links;
mod ping_pong_buffers;
mod ping_pong_slot;
mod queue;
mod runnable_hint;
mod sleep_flag;
mod slot;
mod steps;
mod storage;
#[cfg(test)]
mod tests;
mod window_locks;
mod words;
mod work_signal;

pub use attached_memory::{AttachedMemory, NotAttached};
pub use barrier_count::BarrierCount;
pub use cpu_board::CpuBoard;
pub use credit::{ReceiverCredits, SenderCredits};
pub use exit_flag::ExitFlag;
pub use fifo::{FifoCounters, FifoReader, FifoWriter};
pub use latch::Latch;
pub use offer::{BulkOffer, ClaimLost, OFFER_WORDS, OfferStage, OwnerProgress};
pub use opened_links::{LinkAnnouncer, OpenedLinks};
pub use ping_pong_buffers::{PING_PONG_BUFFERS, PingPongBuffers};
pub use ping_pong_slot::PingPongSlot;
pub use queue::{Message, Receiver, SendError, Sender};
pub use runnable_hint::RunnableHint;
pub use sleep_flag::{AsymmetricFence, SleepFlag};
pub use slot::{BODY, CREDITS, RingSlot, STRIDE, WIDE, ping_pong_slot_at, words_for};
pub use steps::{StepAbsent, StepSlots};
pub use storage::Storage;
pub use window_locks::{LockKind, MOST_WAITING, WindowLocks};
pub use words::{MappedWords, SharedWords};
pub use work_signal::{SleepPlace, WorkSignal};

/// The peer wrote what the protocol does not allow: it is broken or hostile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt(
    /// The rule that was broken.
    pub &'static str,
);
