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
//! ([`Dialogue`]): an answer then moves one line and not two.
//!
//! Beside the rings, for bulk bytes: an [`Offer`] of one rank's bytes that one other may claim, and
//! a pipe ([`Fill`], [`Drain`]), a window of bytes with a counter on either side. For collectives:
//! [`Steps`], the slots of one rank that all others read.
//!
//! And hints for who shares a processor: who is awake and where, the [`Board`], and when a rank worked (`stint.rs`).
//!
//! Everything is generic over [`Words`], so the code that a model checker explores is the code that
//! runs. Atomic orderings are literal and one a line: `cargo xtask loom --mutate` weakens each in
//! turn.

mod board;
mod credit;
mod dialogue;
mod exit;
mod gate;
mod offer;
mod opened;
mod pipe;
mod queue;
mod sleep;
mod steps;
mod stint;
mod storage;
#[cfg(test)]
mod tests;
mod turn;
mod words;

pub use board::Board;
pub use credit::{Freed, Granted};
pub use dialogue::Dialogue;
pub use exit::Exit;
pub use gate::Gate;
pub use offer::{OFFER, Offer, Share, Stage, Void};
pub use opened::{Doors, Knock};
pub use pipe::{Counters, Drain, Fill};
pub use queue::{
    BODY, CREDITS, Message, Place, Receiver, Refused, STRIDE, Sender, WIDE, dialogue_at, words_for,
};
pub use sleep::{Barrier, Bell, Full};
pub use steps::{Miss, Steps};
pub use stint::Stint;
pub use storage::Storage;
pub use turn::{TURNS, Turns};
pub use words::{Mapped, Words};

/// What the other side wrote cannot be: it is broken or hostile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt(
    /// Which rule was broken.
    pub &'static str,
);
