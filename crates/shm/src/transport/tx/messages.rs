//! Sending messages: short ones in a slot, frames in a buffer.

use oxmpi_wire::{Busy, Bytes, Envelope, Fault, Header, Limits, Peer, Put, Slot, Tx};

use super::ShmTx;
use crate::ring::{MappedWords, RingSlot};
use crate::transport::shared_bytes::SharedBytes;
use crate::transport::{MembarrierFence, SHORT, WORD};

impl<B: Bytes> Tx for ShmTx<B> {
    type Slot<'a>
        = ShmSlot<'a, B>
    where
        B: 'a;

    fn limits(&self, _: Peer) -> &Limits {
        &self.limits
    }

    /// # Cost
    /// One line written, two beyond 48 B; no lock, no read-modify-write, no fence, no system call
    /// while the peer is awake.
    #[inline]
    fn short<C: Bytes>(&mut self, to: Peer, head: &Header, body: &C) -> Result<(), Busy> {
        if !self.out[to.0 as usize].ring.ready() {
            self.make_room(to, false)?;
        }
        self.out[to.0 as usize].put(head, body);
        self.wake_if_asleep(to.0);
        Ok(())
    }

    /// # Cost
    /// As that of [`Tx::short`].
    #[inline(always)]
    fn put_short<C: Bytes>(&mut self, to: Peer, head: &Header, body: &C) -> bool {
        let Some(out) = self.out.get_mut(to.0 as usize) else {
            return false;
        };
        if body.len() >= u64::from(out.below) || !(out.ring.ready() || out.poll_credits()) {
            return false;
        }
        out.put(head, body);
        if out.sleep_flag.asleep(&MembarrierFence) {
            self.wake(to.0);
        }
        true
    }

    #[inline(always)]
    fn put_word(&mut self, to: Peer, envelope: Envelope, word: u64) -> bool {
        let Some(out) = self.out.get_mut(to.0 as usize) else {
            return false;
        };
        if out.below <= 8 || !out.ring.ready() {
            return false;
        }
        out.put_word(WORD, envelope.packed(), word);
        if out.sleep_flag.asleep(&MembarrierFence) {
            self.wake(to.0);
        }
        true
    }

    #[inline]
    fn allow_short(&mut self, to: Peer, below: u32) {
        self.out[to.0 as usize].below = below;
    }

    #[inline]
    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<ShmSlot<'_, B>, Busy> {
        assert!(len <= self.limits.frame as usize, "longer than a frame");
        debug_assert_eq!(head.len as usize, len);
        let buffered = len > SHORT;
        let out = &mut self.out[to.0 as usize];
        if !out.ring.ready() || (buffered && !out.frame_ready()) {
            self.make_room(to, buffered)?;
        }
        let out = &mut self.out[to.0 as usize];
        let slot = out.ring.slot();
        out.ring.set(&slot, 0, head.envelope.packed());
        let (buffer, place) = if buffered {
            let (buffer, place) = out.frame(len);
            // SAFETY: the same range; the segment lives as long as `self`, which the slot borrows.
            let place = unsafe { place.detach(len) };
            out.ring.set(&slot, 1, buffer.into());
            (buffer, place)
        } else {
            // SAFETY: as above.
            (0, unsafe { out.short(&slot).detach(len) })
        };
        Ok(ShmSlot {
            place,
            slot,
            buffer,
            compact: head.compact(),
            to: to.0,
            tx: self,
        })
    }

    fn give_up(&mut self, peer: Peer, why: Fault) {
        self.report(peer.0, why);
    }

    /// Nothing to do: every message wakes its receiver itself.
    #[inline]
    fn flush(&mut self) {}
}

/// A frame under construction in a node's segment.
pub struct ShmSlot<'a, B: Bytes> {
    place: SharedBytes<'a>,
    slot: RingSlot<MappedWords<'static>>,
    /// The larger buffer, if the body is in one.
    buffer: u32,
    compact: u32,
    to: u32,
    tx: &'a mut ShmTx<B>,
}

impl<B: Bytes> Put for ShmSlot<'_, B> {
    #[inline(always)]
    fn room(&self) -> usize {
        self.place.room()
    }

    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.place.put(bytes);
    }
}

impl<B: Bytes> Slot for ShmSlot<'_, B> {
    #[inline]
    fn send(self) {
        debug_assert_eq!(self.place.room(), 0, "a frame is sent when it is full");
        let out = &mut self.tx.out[self.to as usize];
        if (self.compact & 0xffff) as usize > SHORT {
            out.give(self.buffer);
        }
        out.ring.publish(&self.slot, self.compact);
        self.tx.wake_if_asleep(self.to);
    }
}
