//! What the in-process transports have in common: a frame under construction, and keys of regions.

use oxmpi_wire::{Header, Key, Put, Slot};

/// A sending half that takes whole frames.
pub trait PostFrame {
    /// Takes a full frame to the end that is called `to`.
    fn post(&self, to: u32, head: Header, body: Vec<u8>);
}

/// A frame under construction.
#[derive(Debug)]
pub struct FrameBuilder<'a, T> {
    tx: &'a T,
    to: u32,
    head: Header,
    body: Vec<u8>,
}

impl<'a, T> FrameBuilder<'a, T> {
    /// An empty frame from `tx` to `to`, which is to have the length that `head` says.
    pub(crate) fn new(tx: &'a T, to: u32, head: Header) -> Self {
        Self {
            tx,
            to,
            head,
            body: Vec::with_capacity(head.len as usize),
        }
    }
}

impl<T> Put for FrameBuilder<'_, T> {
    fn room(&self) -> usize {
        self.head.len as usize - self.body.len()
    }

    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room(), "more than the frame holds");
        self.body.extend_from_slice(bytes);
    }
}

impl<T: PostFrame> Slot for FrameBuilder<'_, T> {
    fn send(self) {
        assert_eq!(self.room(), 0, "the frame is not full");
        self.tx.post(self.to, self.head, self.body);
    }
}

/// The key of a region that its owner knows by `number`.
pub(crate) fn key_of(number: u64) -> Key {
    let mut key = Key([0; Key::LEN]);
    key.0[..8].copy_from_slice(&number.to_le_bytes());
    key
}

/// The number in a key that may come from anywhere.
pub(crate) fn number_in(key: &Key) -> u64 {
    let number = key.0.first_chunk();
    number.map_or(u64::MAX, |number| u64::from_le_bytes(*number))
}
