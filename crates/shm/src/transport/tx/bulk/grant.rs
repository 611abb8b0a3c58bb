//! What the owner of an offer grants its claimer: a window for the bytes, or the pieces of a shared copy.

use crate::segment::area::{FIFO_LEN, FIFOS, WINDOWS_PER_PAIR};
use crate::transport::windows::PingPongWindows;

/// The word of an owner that has no window left: the claimer pulls through the link's buffers.
pub(super) const NO_WINDOW: u64 = u64::MAX;

/// The window of shared memory that the bytes of an offer pass through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfferWindow {
    /// A FIFO of the owner, by number.
    Fifo(usize),
    /// A ping-pong window of the pair, as this rank counts them.
    PingPong(usize),
}

/// What an owner grants a claimer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) window: OfferWindow,
    /// Of a FIFO: the bytes of it that are used. Of a ping-pong window: the length of the message; the window is the
    /// claimer's next if it takes all of it.
    pub(super) bytes: u64,
}

impl Grant {
    /// The word that stands in the offer; never 0.
    pub(super) fn word(self) -> u64 {
        let number = match self.window {
            OfferWindow::Fifo(fifo) => fifo,
            OfferWindow::PingPong(i) => FIFOS + i,
        };
        self.bytes << 8 | (number as u64 + 1)
    }

    /// The grant in a word of shared memory, with windows as the claimer counts them. `None` if there is no such
    /// window, whatever a broken owner wrote.
    pub(super) fn of_word(word: u64) -> Option<Self> {
        let number = ((word & 0xff) as usize).checked_sub(1)?;
        let bytes = word >> 8;
        let window = match number.checked_sub(FIFOS) {
            None if (1..=FIFO_LEN as u64).contains(&bytes) => OfferWindow::Fifo(number),
            Some(i) if i < WINDOWS_PER_PAIR => {
                OfferWindow::PingPong(PingPongWindows::peer_index(i))
            }
            _ => return None,
        };
        Some(Self { window, bytes })
    }
}

/// The longest piece of a message that both sides copy.
const MAX_PIECE: u64 = 1 << 20;

/// Bytes of a piece of a message of `len` bytes that both sides copy
/// ([`CmaBoth`](super::protocol::BulkProtocol::CmaBoth)): as few pieces as can be, and as many for each side, since each
/// costs a system call. 512 KiB took 16 us in four pieces, 25 in sixteen and 12 in two (Emerald Rapids).
pub(super) fn piece(len: u64) -> u64 {
    let pieces = 2 * len.div_ceil(2 * MAX_PIECE).max(1);
    len.div_ceil(pieces).next_multiple_of(4 << 10)
}
