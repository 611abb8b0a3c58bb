//! Parts of both in-process transports: a frame under construction ([`FrameBuilder`]), and registered memory
//! (`RegionStore`) with its keys.

use std::collections::BTreeMap;

use oxmpi_wire::{Bytes, Fault, Header, Key, Put, Slot};

use crate::memory::Buffer;

/// A sending half that sends whole frames.
pub trait PostFrame {
    /// Sends a complete frame to peer `to`.
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
    /// An empty frame from `tx` to peer `to`, for the body length of `head`.
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

/// The key of the region `number`.
pub(crate) fn key_of(number: u64) -> Key {
    let mut key = Key([0; Key::LEN]);
    key.0[..8].copy_from_slice(&number.to_le_bytes());
    key
}

/// The number in an untrusted key.
pub(crate) fn number_in(key: &Key) -> u64 {
    let number = key.0.first_chunk();
    number.map_or(u64::MAX, |number| u64::from_le_bytes(*number))
}

/// The registered memory of all ends of an in-process transport.
#[derive(Debug, Default)]
pub(crate) struct RegionStore {
    /// By owner and number.
    regions: BTreeMap<(u32, u64), Buffer>,
    next: u64,
}

impl RegionStore {
    /// Registers `bytes` of `owner`; returns the region's number.
    pub(crate) fn register(&mut self, owner: u32, bytes: Buffer) -> u64 {
        self.next += 1;
        self.regions.insert((owner, self.next), bytes);
        self.next
    }

    /// Ends a registration.
    pub(crate) fn release(&mut self, owner: u32, number: u64) {
        self.regions.remove(&(owner, number));
    }

    /// The region `number` of `owner`, if it has the bytes `at..at + len`.
    pub(crate) fn range(
        &self,
        (owner, number, at): RegionOffset,
        len: u64,
    ) -> Result<&Buffer, Fault> {
        self.get(owner, number)
            .filter(|bytes| at.checked_add(len).is_some_and(|end| end <= bytes.len()))
            .ok_or(Fault::Protocol("a range outside of its region"))
    }

    /// The region `number` of `owner`.
    pub(crate) fn get(&self, owner: u32, number: u64) -> Option<&Buffer> {
        self.regions.get(&(owner, number))
    }

    /// The number of regions whose owner is one of those that `counts`.
    pub(crate) fn count(&self, counts: impl Fn(u32) -> bool) -> usize {
        self.regions
            .keys()
            .filter(|(owner, _)| counts(*owner))
            .count()
    }
}

/// A position in registered memory: owner, number of the region, offset.
pub(crate) type RegionOffset = (u32, u64, u64);
