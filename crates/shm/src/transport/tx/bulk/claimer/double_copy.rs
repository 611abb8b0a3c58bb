//! The claimer's side of the protocols that copy through shared memory: it copies out of a window.

use std::hint::spin_loop;

use oxmpi_wire::Bytes;

use super::claim::{Claim, ClaimProgress, ClaimStep};
use crate::ring::{BulkOffer, Corrupt, FifoReader, MappedWords};
use crate::segment::area::WINDOWS_PER_PAIR;
use crate::transport::offer_key::PushedWindow;
use crate::transport::shared_bytes::SharedBytes;
use crate::transport::tx::ShmTx;
use crate::transport::tx::bulk::grant::{Grant, NO_WINDOW, OfferWindow};
use crate::transport::tx::bulk::protocol::BulkProtocol;
use crate::transport::tx::bulk::{MAX_COPY, OpenOperation};
use crate::transport::windows::PingPongWindows;

/// Polls, with a PAUSE each, for the next piece in a window before the transport does other work: about the time in
/// which the owner copies one.
const POLLS: u32 = 64;

impl<B: Bytes> ShmTx<B> {
    /// Starts to copy out of the window that the owner grants, if it has.
    pub(super) fn start_draining(&self, claim: &Claim) -> Result<ClaimProgress, Corrupt> {
        let granted = claim.offer.granted();
        let grant = match granted {
            0 => return Ok(ClaimProgress::Waiting { granted }),
            NO_WINDOW => return Ok(ClaimProgress::Pull),
            word => Grant::of_word(word).ok_or(Corrupt("a grant of an unknown window"))?,
        };
        let window_len = match grant.window {
            // The pushed window of another protocol: the owner will grant another one.
            OfferWindow::PingPong(_) if claim.timed.protocol != BulkProtocol::Slots => {
                return Ok(ClaimProgress::Waiting { granted });
            }
            OfferWindow::Fifo(_) => grant.bytes,
            OfferWindow::PingPong(i) => {
                self.windows.check(claim.peer, i)?;
                self.windows.len() as u64
            }
        };
        let (words, at) = (*claim.offer.words(), claim.offer.counters());
        Ok(ClaimProgress::Draining {
            window: grant.window,
            reader: FifoReader::new(words, at, claim.timed.len, window_len),
            window_len,
        })
    }

    /// Starts to copy `len` bytes out of the ping-pong window that came with the message.
    pub(super) fn begin_draining(
        &self,
        peer: u32,
        offer: &BulkOffer<MappedWords<'static>>,
        len: u64,
        pushed: PushedWindow,
    ) -> Result<ClaimProgress, Corrupt> {
        let i = usize::from(pushed.window);
        if i >= WINDOWS_PER_PAIR {
            return Err(Corrupt("an unknown window"));
        }
        let i = PingPongWindows::peer_index(i);
        self.windows.check(peer, i)?;
        let window_len = self.windows.len() as u64;
        let filled = (u64::from(pushed.pages) * PushedWindow::PAGE).min(len);
        let reader = FifoReader::new(*offer.words(), offer.counters(), len, window_len);
        Ok(ClaimProgress::Draining {
            window: OfferWindow::PingPong(i),
            reader: reader.begun(filled)?,
            window_len,
        })
    }

    /// Copies out of the window what the owner has filled in.
    pub(super) fn drain_window(&mut self, claim: &mut Claim, open: &OpenOperation) -> ClaimStep {
        let (
            ClaimProgress::Draining {
                window,
                reader,
                window_len,
            },
            Some(bytes),
        ) = (&mut claim.progress, self.regions.bytes(open.region))
        else {
            return ClaimStep::Idle;
        };
        // With something to send, the rank does that meanwhile.
        let patience = if self.offers.any() { 0 } else { POLLS };
        let Some(area) = self.segment.area() else {
            return ClaimStep::Unavailable;
        };
        let first = match *window {
            OfferWindow::Fifo(number) => area.fifo(claim.peer, number),
            OfferWindow::PingPong(i) => area.pair_window(self.me, claim.peer, i),
        };
        let most = (*window_len / 4).clamp(1, MAX_COPY);
        let before = reader.drained();
        let mut polls = 0;
        while reader.drained() - before < MAX_COPY && !reader.is_empty() {
            let n = match reader.ready(most) {
                // An owner that has just filled one piece in is at the next one.
                Ok(0) if reader.drained() > before && polls < patience => {
                    polls += 1;
                    spin_loop();
                    continue;
                }
                Ok(0) => break,
                Ok(n) => n,
                Err(corrupt) => return corrupt.into(),
            };
            polls = 0;
            let at = reader.drained();
            let place = first.wrapping_add((at % *window_len) as usize);
            // SAFETY: in the window, which is no longer than the mapped one; `ready` keeps pieces inside it.
            let mut place = unsafe { SharedBytes::new(place, n as usize) };
            bytes.fill(open.at + at, &mut place);
            reader.free(n);
        }
        if reader.drained() == before {
            return ClaimStep::Idle;
        }
        self.wake_if_asleep(claim.peer);
        if reader.is_empty() {
            return ClaimStep::Complete;
        }
        ClaimStep::Moved
    }
}
