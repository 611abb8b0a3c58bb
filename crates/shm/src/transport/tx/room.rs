//! Room on links to peers: opening a link, waiting for slots and buffers.

use oxmpi_wire::{Busy, Bytes, Fault, Peer, Resource};

use super::ShmTx;
use crate::ring::Corrupt;
use crate::transport::link::{BlockedOn, LinkState, SendLink};

impl<B: Bytes> ShmTx<B> {
    /// Whether there is room for one more slot, and for a buffer if `buffer`; else the peer counts as
    /// blocked.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&mut self, to: Peer, buffer: bool) -> Result<(), Busy> {
        if self.has_room(to.0, buffer) {
            return Ok(());
        }
        if self.out[to.0 as usize].state == LinkState::Open {
            let blocked_on = BlockedOn {
                slot: true,
                buffer,
                operation: false,
            };
            self.block(to.0, blocked_on);
        }
        Err(Busy)
    }

    /// Whether there is room for one more slot, and for a buffer if `buffer`. Opens the link at its first
    /// use.
    #[cold]
    #[inline(never)]
    pub(super) fn has_room(&mut self, to: u32, buffer: bool) -> bool {
        let out = &mut self.out[to as usize];
        match out.state {
            LinkState::Lost => return false,
            LinkState::Closed => {
                let link = self.segment.layout().link_len() as u64;
                if let Err(why) = self.afford(link) {
                    self.report(to, why);
                    return false;
                }
                if !self.out[to as usize].open(&self.segment, self.me, to) {
                    let why = self.no_addresses();
                    self.report(to, why);
                    return false;
                }
                self.segment.link_announcer(to).announce(self.me as usize);
            }
            LinkState::Open => {}
        }
        let out = &mut self.out[to as usize];
        Self::room(out, buffer).unwrap_or_else(|corrupt| {
            self.breach(to, corrupt);
            false
        })
    }

    /// The fault of a link whose larger buffers could not be mapped.
    fn no_addresses(&self) -> Fault {
        match oxmpi_os::limit::address_space() {
            Some(left) => Fault::NoRoom {
                what: Resource::Addresses,
                wanted: self.segment.layout().all_buffers_len() as u64,
                left: left.bytes,
            },
            None => Fault::Refused("no addresses are left for a link to the peer"),
        }
    }

    /// Checks that memory is left for `bytes` more. It reads files, so it takes a budget for many links at
    /// once.
    pub(super) fn afford(&mut self, bytes: u64) -> Result<(), Fault> {
        if self.budget < bytes {
            let left = oxmpi_os::limit::available().map_or(u64::MAX, |a| a.bytes);
            if left < bytes {
                return Err(Fault::NoRoom {
                    what: Resource::Memory,
                    wanted: bytes,
                    left,
                });
            }
            // All ranks open links at once, and other users need memory, too.
            let ranks = u64::from(self.segment.layout().ranks);
            self.budget = (left / (8 * ranks)).max(bytes);
        }
        self.budget -= bytes;
        Ok(())
    }

    fn room(out: &mut SendLink, buffer: bool) -> Result<bool, Corrupt> {
        Ok(out.ring.room()? && (!buffer || out.frame_room()?))
    }

    pub(super) fn block(&mut self, to: u32, blocked_on: BlockedOn) {
        let had = &mut self.out[to as usize].blocked_on;
        if !had.any() {
            self.blocked.push(to);
        }
        had.slot |= blocked_on.slot;
        had.buffer |= blocked_on.buffer;
        had.operation |= blocked_on.operation;
        self.has_slow_work = true;
    }

    pub(super) fn unblocked(&mut self, peer: u32) -> bool {
        let blocked_on = self.out[peer as usize].blocked_on;
        if blocked_on.operation && !self.has_operation_room() {
            return false;
        }
        // A peer that waits for an operation may have a closed link.
        self.has_room(peer, blocked_on.buffer)
    }
}
