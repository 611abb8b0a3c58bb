//! The owner's side of the protocols that copy through shared memory: [`Slots`](BulkProtocol::Slots),
//! [`Copy`](BulkProtocol::Copy) and [`CopyNt`](BulkProtocol::CopyNt).
//!
//! The owner of an offer takes a window, a ping-pong window of the pair or a FIFO of its own, and fills it piece by piece.

use std::io::ErrorKind;
use std::ops::Range;

use oxmpi_wire::Bytes;

use super::OwnedOffer;
use crate::ring::{BulkOffer, Corrupt, FifoWriter, MappedWords};
use crate::segment::area::FIFO_LEN;
use crate::transport::offer_key::PushedWindow;
use crate::transport::shared_bytes::SharedBytes;
use crate::transport::tx::ShmTx;
use crate::transport::tx::bulk::grant::{Grant, OfferWindow};
use crate::transport::tx::bulk::protocol::{BulkPreference, BulkProtocol};

/// A FIFO of this rank.
#[derive(Clone, Copy, Default)]
pub(super) struct FifoState {
    taken: bool,
    /// Memory was available for it.
    afforded: bool,
}

/// The filling of a window with the bytes of an offer.
pub(super) struct OfferFill {
    pub(super) window: OfferWindow,
    pub(super) writer: FifoWriter<MappedWords<'static>>,
    /// Bytes of the window.
    len: u64,
    chunk: ChunkSizes,
    /// By non-temporal stores.
    pub(super) non_temporal: bool,
}

/// Bytes of the first and of the longest piece of a message in a window.
#[derive(Clone, Copy)]
struct ChunkSizes {
    first: u64,
    last: u64,
}

impl OfferFill {
    /// The grant of a message of `len` bytes.
    pub(super) fn grant(&self, len: u64) -> Grant {
        Grant {
            window: self.window,
            bytes: match self.window {
                OfferWindow::Fifo(_) => self.len,
                OfferWindow::PingPong(_) => len,
            },
        }
    }
}

impl ChunkSizes {
    /// The pieces of a message of `len` bytes: several, so that copying in and out overlap, but long enough that the
    /// counters cost nothing. The first ones are short, so that copying out begins early.
    fn of(len: u64, preference: &BulkPreference) -> Self {
        let (first, last) = match preference.chunk {
            Some(chunk) => (u64::from(chunk), u64::from(chunk)),
            None => (
                4 << 10,
                (len / 8).next_power_of_two().clamp(8 << 10, 64 << 10),
            ),
        };
        let most = FIFO_LEN as u64 / 4;
        Self {
            first: first.min(most),
            last: last.min(most),
        }
    }

    /// Bytes of the piece behind the first `at` bytes: as much again.
    fn next(self, at: u64) -> u64 {
        at.clamp(self.first, self.last)
    }
}

impl<B: Bytes> ShmTx<B> {
    /// Fills in the first piece of offer `i` before the message about it leaves.
    pub(super) fn push(&mut self, i: usize) -> Option<PushedWindow> {
        self.fill(i, 1).ok()?;
        let filling = self.offers.open[i].filling.as_ref()?;
        match filling.window {
            OfferWindow::PingPong(window) => {
                Some(PushedWindow::new(window, filling.writer.filled()))
            }
            OfferWindow::Fifo(_) => None,
        }
    }

    /// Takes a ping-pong window with `to` for a message of `len` bytes.
    pub(super) fn free_window(&mut self, to: u32, len: u64) -> Option<OfferWindow> {
        if !matches!(self.preference.protocol, None | Some(BulkProtocol::Slots)) {
            return None;
        }
        let i = self.windows.next(to)?;
        let absent = self.windows.absent(to, i, len);
        if !absent.is_empty() {
            self.afford(absent.len() as u64).ok()?;
            if !self.populate_window(to, i, absent) {
                return None;
            }
        }
        self.windows.give(to, i);
        Some(OfferWindow::PingPong(i))
    }

    /// Gives this process pages for some bytes of window `i` with `peer`. False: no memory is left.
    pub(in crate::transport::tx::bulk) fn populate_window(
        &mut self,
        peer: u32,
        i: usize,
        bytes: Range<usize>,
    ) -> bool {
        let end = bytes.end;
        let Some(area) = self.segment.area().filter(|_| !bytes.is_empty()) else {
            return true;
        };
        match area.populate_pair_window(self.me, peer, i, bytes) {
            // Kernels before 5.14 do not know the call; then each page comes at its first touch.
            Err(why) if why.kind() != ErrorKind::InvalidInput => return false,
            _ => self.windows.found(peer, i, end),
        }
        true
    }

    /// Takes a FIFO of this rank.
    pub(super) fn free_fifo(&mut self) -> Option<OfferWindow> {
        let number = self.offers.fifos.iter().position(|fifo| !fifo.taken)?;
        if !self.offers.fifos[number].afforded && self.afford(FIFO_LEN as u64).is_err() {
            return None;
        }
        self.offers.fifos[number] = FifoState {
            taken: true,
            afforded: true,
        };
        Some(OfferWindow::Fifo(number))
    }

    /// Takes `window` back, which had a message for `to`.
    pub(super) fn reuse_window(&mut self, to: u32, window: OfferWindow) {
        match window {
            OfferWindow::Fifo(number) => self.offers.fifos[number].taken = false,
            OfferWindow::PingPong(i) => self.windows.gain(to, i),
        }
    }

    /// A filling of `window` with a message of `len` bytes, nothing of which is in yet.
    pub(super) fn filling(
        &self,
        window: OfferWindow,
        offer: &BulkOffer<MappedWords<'static>>,
        len: u64,
        protocol: BulkProtocol,
    ) -> OfferFill {
        let chunk = ChunkSizes::of(len, &self.preference);
        let window_len = match window {
            OfferWindow::Fifo(_) => (8 * chunk.last).min(FIFO_LEN as u64),
            // All of it: lines that the claimer has just read are slow to write.
            OfferWindow::PingPong(_) => self.windows.len() as u64,
        };
        OfferFill {
            window,
            writer: FifoWriter::new(*offer.words(), offer.counters(), len, window_len),
            len: window_len,
            chunk,
            non_temporal: protocol == BulkProtocol::CopyNt,
        }
    }

    /// Takes a FIFO away from an offer that is not claimed yet, for one that is. A later claimer of that offer is
    /// granted another window.
    pub(super) fn reclaim(&mut self) -> Option<OfferWindow> {
        for i in 0..self.offers.open.len() {
            let OwnedOffer {
                offer,
                generation,
                claimed,
                ref filling,
                ..
            } = self.offers.open[i];
            let in_fifo =
                (filling.as_ref()).is_some_and(|f| matches!(f.window, OfferWindow::Fifo(_)));
            if claimed.is_some() || !in_fifo {
                continue;
            }
            if !offer.withdraw(generation) {
                continue; // claimed just now
            }
            let filling = self.offers.open[i].filling.take();
            offer.open(generation, 0);
            return filling.map(|filling| filling.window);
        }
        None
    }

    /// Copies bytes of offer `i` into its window while there is room, until `most` bytes or more are copied. Whether
    /// any were.
    pub(super) fn fill(&mut self, i: usize, most: u64) -> Result<bool, Corrupt> {
        let OwnedOffer {
            filling: Some(filling),
            region,
            to,
            ..
        } = &mut self.offers.open[i]
        else {
            return Ok(false);
        };
        if filling.writer.is_full() {
            return Ok(false);
        }
        let (Some(bytes), Some(area)) = (self.regions.bytes(*region), self.segment.area()) else {
            return Ok(false);
        };
        let first = match filling.window {
            OfferWindow::Fifo(number) => area.fifo(self.me, number),
            OfferWindow::PingPong(i) => area.pair_window(self.me, *to, i),
        };
        let before = filling.writer.filled();
        while filling.writer.filled() - before < most {
            let at = filling.writer.filled();
            let len = filling.writer.room(filling.chunk.next(at))? as usize;
            if len == 0 {
                break;
            }
            let within = (at % filling.len) as usize;
            // SAFETY: in the window, which is no longer than the mapped one; `room` keeps pieces inside it.
            let mut place = unsafe { SharedBytes::new(first.wrapping_add(within), len) };
            if filling.non_temporal {
                bytes.drain(at, len, &mut place.non_temporal());
            } else {
                bytes.drain(at, len, &mut place);
            }
            filling.writer.publish(len as u64);
        }
        Ok(filling.writer.filled() > before)
    }
}
