//! [`VerbsSlot`]: a frame under construction.

use super::VerbsTx;
use crate::transport::frame_head::HEAD;
use oxmpi_wire::{Header, Put, Slot};

/// How a frame goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Route {
    /// To the ring of the peer.
    Ring,
    /// By this receive queue of the peer.
    Queue(u8),
}

/// A frame under construction, in a registered buffer.
#[derive(Debug)]
pub struct VerbsSlot<'a> {
    pub(super) tx: &'a mut VerbsTx,
    pub(super) to: u32,
    pub(super) route: Route,
    pub(super) header: Header,
    /// Bytes of the body so far.
    pub(super) len: usize,
}

impl Put for VerbsSlot<'_> {
    fn room(&self) -> usize {
        self.header.len as usize - self.len
    }

    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room(), "more than there is room for");
        match self.route {
            Route::Queue(queue) => self.tx.stage(self.to, queue, self.len, bytes),
            Route::Ring => {
                let ring = self.tx.link(self.to).ring.as_ref();
                let ring = ring.expect("a ring that took the frame");
                ring.stage(self.header.len as usize, HEAD + self.len, bytes);
            }
        }
        self.len += bytes.len();
    }
}

impl Slot for VerbsSlot<'_> {
    fn send(self) {
        assert_eq!(self.room(), 0, "the frame is not full");
        match self.route {
            Route::Queue(queue) => self.tx.send_staged(self.to, queue, &self.header, None),
            Route::Ring => self.tx.send_ring_frame(self.to, &self.header),
        }
    }
}
