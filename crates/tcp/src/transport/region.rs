//! Registered memory: which bytes a peer may reach, and until when.

use std::time::Instant;

use oxmpi_wire::{Access, Bytes, Fault, Token};

use super::roads::{Class, Road};
use crate::frame::{Name, Run};

/// Registered bytes of a [`super::TcpTx`].
#[derive(Debug, PartialEq, Eq)]
pub struct TcpRegion(pub(super) Name);

/// Registered bytes and what is done with them.
#[derive(Debug)]
struct Entry<B> {
    bytes: B,
    access: Access,
    /// Transfers under way.
    users: u32,
    released: Option<Token>,
    transfer: Option<Transfer>,
}

/// What is known of the bytes of a region that leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) peer: u32,
    pub(super) len: u64,
    /// What follows the region's key.
    pub(super) run: Option<Run>,
    pub(super) road: Road,
    /// When it began, if something is to be learned from it.
    pub(super) start: Option<(Class, Instant)>,
}

/// All registered bytes of one rank, by place; a name says place and tenant.
#[derive(Debug)]
pub(super) struct Regions<B> {
    places: Vec<(u32, Option<Entry<B>>)>,
    free: Vec<u32>,
}

impl<B: Bytes> Regions<B> {
    pub(super) const fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, bytes: B, access: Access) -> TcpRegion {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push((0, None));
            (self.places.len() - 1) as u32
        });
        let (tenant, entry) = &mut self.places[place as usize];
        *tenant = tenant.wrapping_add(1);
        *entry = Some(Entry {
            bytes,
            access,
            users: 0,
            released: None,
            transfer: None,
        });
        TcpRegion(Name(u64::from(place) << 32 | u64::from(*tenant)))
    }

    /// Whether a peer may use `len` bytes from `at` in this way.
    pub(super) fn allows(&self, name: Name, access: Access, at: u64, len: u64) -> bool {
        self.entry(name).is_some_and(|entry| {
            let end = at.checked_add(len);
            let inside = end.is_some_and(|end| end <= entry.bytes.len());
            entry.released.is_none() && entry.access == access && inside
        })
    }

    /// The bytes of a region that is in use, released or not.
    pub(super) fn bytes(&self, name: Name) -> Option<&B> {
        self.entry(name).map(|entry| &entry.bytes)
    }

    /// Length of a region that a peer may read, if nothing of it has left.
    pub(super) fn unsent(&self, name: Name) -> Option<u64> {
        let entry = self.entry(name)?;
        let unsent = entry.access == Access::Read && entry.transfer.is_none();
        unsent.then(|| entry.bytes.len())
    }

    /// What is known of the transfer of the region.
    pub(super) fn transfer(&mut self, name: Name) -> Option<&mut Option<Transfer>> {
        self.entry_mut(name).map(|entry| &mut entry.transfer)
    }

    /// How the region's bytes go.
    pub(super) fn road(&self, name: Name) -> Road {
        let transfer = self.entry(name).and_then(|entry| entry.transfer);
        transfer.map_or(Road::Copies, |transfer| transfer.road)
    }

    /// A transfer starts.
    pub(super) fn enter(&mut self, name: Name) {
        if let Some(entry) = self.entry_mut(name) {
            entry.users += 1;
        }
    }

    /// A transfer ended. The token of a release that waited for it, if it was the last.
    #[must_use]
    pub(super) fn leave(&mut self, name: Name) -> Option<Token> {
        let entry = self.entry_mut(name)?;
        entry.users -= 1;
        let token = entry.released.filter(|_| entry.users == 0)?;
        self.vacate(name);
        Some(token)
    }

    /// Ends a registration: `token` at once if nobody uses it, else from [`Regions::leave`].
    #[must_use]
    pub(super) fn release(&mut self, region: TcpRegion, token: Token) -> Option<Token> {
        let entry = self.entry_mut(region.0)?;
        if entry.users > 0 {
            entry.released = Some(token);
            return None;
        }
        self.vacate(region.0);
        Some(token)
    }

    fn vacate(&mut self, name: Name) {
        let place = (name.0 >> 32) as u32;
        self.places[place as usize].1 = None;
        self.free.push(place);
    }

    fn entry(&self, name: Name) -> Option<&Entry<B>> {
        let (tenant, entry) = self.places.get((name.0 >> 32) as usize)?;
        entry.as_ref().filter(|_| *tenant == name.0 as u32)
    }

    fn entry_mut(&mut self, name: Name) -> Option<&mut Entry<B>> {
        let (tenant, entry) = self.places.get_mut((name.0 >> 32) as usize)?;
        entry.as_mut().filter(|_| *tenant == name.0 as u32)
    }
}

/// What a peer answers whose memory cannot be used as was asked.
pub(super) const REFUSED: Fault = Fault::Protocol("a key to memory that cannot be used so");
