//! User memory of tests ([`TestMemory`]), and buffers ([`Buffer`]) which the test can read while an engine or a transport uses them.

use std::cell::RefCell;
use std::rc::Rc;

use oxmpi_wire::{Atomic, Bytes, Put, Take, Width};

/// A buffer with shared ownership.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer(Rc<RefCell<Vec<u8>>>);

impl Buffer {
    /// A buffer with these bytes.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Rc::new(RefCell::new(bytes)))
    }

    /// A buffer of `len` zero bytes.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self::new(vec![0; len])
    }

    /// A buffer of `len` bytes with the [`pattern`] of `seed`.
    #[must_use]
    pub fn pattern(len: usize, seed: u64) -> Self {
        Self::new(pattern(len, seed))
    }

    /// A copy of the bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.0.borrow().clone()
    }

    /// Copies `len` bytes from offset `from_at` of `from` to offset `at` here.
    ///
    /// # Panics
    /// If a range is not within its buffer, or both are the same buffer.
    pub fn copy_from(&self, at: u64, from: &Self, from_at: u64, len: u64) {
        let (at, from_at, len) = (at as usize, from_at as usize, len as usize);
        self.0.borrow_mut()[at..at + len].copy_from_slice(&from.0.borrow()[from_at..from_at + len]);
    }
}

impl Bytes for Buffer {
    fn len(&self) -> u64 {
        Bytes::len(&self.0)
    }

    fn atomic(&self, at: u64, width: Width, atomic: Atomic) -> Option<u64> {
        self.0.atomic(at, width, atomic)
    }

    fn fill(&self, at: u64, from: &mut impl Take) {
        self.0.fill(at, from);
    }

    fn drain(&self, at: u64, len: usize, to: &mut impl Put) {
        self.0.drain(at, len, to);
    }
}

/// User memory of a test, by its owner.
pub trait TestMemory {
    /// How a transport names the memory.
    type Bytes: Bytes;

    /// Memory with these bytes.
    fn new(bytes: Vec<u8>) -> Self;

    /// All of the memory. The suite keeps the owner until the transport has released the bytes.
    fn bytes(&self) -> Self::Bytes;

    /// The content of the memory.
    fn to_vec(&self) -> Vec<u8>;
}

impl TestMemory for Buffer {
    type Bytes = Self;

    fn new(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }

    fn bytes(&self) -> Self {
        self.clone()
    }

    fn to_vec(&self) -> Vec<u8> {
        self.to_vec()
    }
}

/// `len` bytes that depend on their offset and on `seed`.
#[must_use]
pub fn pattern(len: usize, seed: u64) -> Vec<u8> {
    (0..len as u64)
        .map(|at| (at.wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
        .collect()
}
