//! The code that sends and receives an 8 B message, compiled as a user's program compiles it: both calls
//! whole, and the send path layer by layer.

use core::cell::Cell;

use oxmpi::{Comm, Result};
use oxmpi_shm::ShmTx;
use oxmpi_wire::engine::Engine;
use oxmpi_wire::{Bytes, Envelope, Header, Peer, Put, Take, Tx};

/// A payload of 8 B.
#[derive(Clone)]
pub struct Word(Cell<u64>);

impl Bytes for Word {
    #[inline(always)]
    fn len(&self) -> u64 {
        8
    }

    #[inline(always)]
    fn word(&self) -> Option<u64> {
        Some(self.0.get())
    }

    #[inline(always)]
    fn fill(&self, _: u64, from: &mut impl Take) {
        self.0.set(u64::from_ne_bytes(from.take_exact()));
    }

    #[inline(always)]
    fn drain(&self, _: u64, _: usize, to: &mut impl Put) {
        to.put_exact(self.0.get().to_ne_bytes());
    }
}

/// A blocking send through the Rust API, down to the ring.
#[inline(never)]
pub fn send(comm: &Comm, value: &[u64; 1], to: usize, tag: u32) -> Result<()> {
    comm.send(value, to, tag)
}

/// A blocking receive through the Rust API, down to the ring.
#[inline(never)]
pub fn recv(comm: &Comm, value: &mut [u64; 1], from: usize, tag: u32) -> Result<()> {
    comm.recv(value, from, tag).map(drop)
}

/// The engine's send of a short message.
#[inline(never)]
pub fn engine_short(
    engine: &mut Engine<ShmTx>,
    tx: &mut ShmTx,
    to: Peer,
    envelope: Envelope,
    body: &Word,
) -> bool {
    engine.put_short(tx, to, envelope, body)
}

/// The ring's send of a short message.
#[inline(never)]
pub fn ring_short(tx: &mut ShmTx, to: Peer, head: &Header, body: &Word) -> bool {
    tx.put_short(to, head, body)
}

/// Rings the doorbells of the receivers.
#[inline(never)]
pub fn flush(tx: &mut ShmTx) {
    tx.flush();
}
