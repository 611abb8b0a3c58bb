//! Rings of cache-line slots between one sender and one receiver.
//!
//! A slot is a pair of lines of eight words each: the first word holds the message's sequence number
//! and 32 bits of the user's, the others are free. The sequence is stored last. A message of up to
//! seven words touches the first line only, so one line moves between two processors; processors
//! fetch lines in pairs, so a wider one comes nearly as fast.
//!
//! Nothing is cleared. The receiver knows which sequence comes next, and writes only the count of
//! slots it has freed, once every quarter of the ring, to a line of its own: while messages flow
//! it writes nothing that the sender reads.
//!
//! Two rings that lead to and fro may have one slot between them that both sides write in turn
//! ([`PingPongSlot`]): an answer then moves one line and not two.
//!
//! Beside the rings, for bulk bytes: an [`BulkOffer`] of one rank's bytes that one other may claim, and
//! a pipe ([`FifoWriter`], [`FifoReader`]), a window of bytes with a counter on either side. For collectives:
//! [`StepSlots`], the slots of one rank that all others read.
//!
//! And hints for who shares a processor: who is awake and where, the [`CpuBoard`], and when a rank worked (`runnable_hint.rs`).
//!
//! Everything is generic over [`SharedWords`], so the code that a model checker explores is the code that
//! runs. Atomic orderings are literal and one a line: `cargo xtask loom --mutate` weakens each in
//! turn.

mod barrier_count;
mod cpu_board;
mod credit;
mod exit_flag;
mod fifo;
mod offer;
mod opened_links;
mod ping_pong_buffers;
mod ping_pong_slot;
mod queue;
mod runnable_hint;
mod sleep_flag;
mod steps;
mod storage;
#[cfg(test)]
mod tests;
mod words;

pub use barrier_count::BarrierCount;
pub use cpu_board::CpuBoard;
pub use credit::{ReceiverCredits, SenderCredits};
pub use exit_flag::ExitFlag;
pub use fifo::{FifoCounters, FifoReader, FifoWriter};
pub use offer::{BulkOffer, ClaimLost, OFFER_WORDS, OfferStage, OwnerProgress};
pub use opened_links::{LinkAnnouncer, OpenedLinks};
pub use ping_pong_buffers::{PING_PONG_BUFFERS, PingPongBuffers};
pub use ping_pong_slot::PingPongSlot;
pub use queue::{
    BODY, CREDITS, Message, Receiver, RingSlot, STRIDE, SendError, Sender, WIDE, ping_pong_slot_at,
    words_for,
};
pub use runnable_hint::RunnableHint;
pub use sleep_flag::{AsymmetricFence, FullFence, SleepFlag};
pub use steps::{StepMiss, StepSlots};
pub use storage::Storage;
pub use words::{MappedWords, SharedWords};

/// What the other side wrote cannot be: it is broken or hostile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt(
    /// Which rule was broken.
    pub &'static str,
);
