//! Registered memory: which bytes a peer may reach, and until when.

use std::vec::Vec;

use oxmpi_wire::{Access, Bytes, Fault, Key, Token};

/// Registered bytes of a [`super::ShmTx`].
#[derive(Debug, PartialEq, Eq)]
pub struct ShmRegion(Name);

/// A region's place and which of its tenants is meant; what a [`Key`] carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    place: u32,
    tenant: u32,
}

impl Name {
    pub(super) fn word(self) -> u64 {
        u64::from(self.place) << 32 | u64::from(self.tenant)
    }

    pub(super) fn of_word(word: u64) -> Self {
        Self {
            place: (word >> 32) as u32,
            tenant: word as u32,
        }
    }

    pub(super) fn of_key(key: &Key) -> Self {
        Self::of_word(key.0.first_chunk().map_or(0, |b| u64::from_ne_bytes(*b)))
    }
}

impl ShmRegion {
    pub(super) fn name(&self) -> Name {
        self.0
    }
}

struct Place<B> {
    tenant: u32,
    entry: Option<Entry<B>>,
}

struct Entry<B> {
    bytes: B,
    access: Access,
    /// Transfers under way.
    users: u32,
    released: Option<Token>,
}

/// All registered bytes of one rank.
pub(super) struct Regions<B> {
    places: Vec<Place<B>>,
    free: Vec<u32>,
}

impl<B: Bytes> Regions<B> {
    pub(super) fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, bytes: B, access: Access) -> ShmRegion {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place {
                tenant: 0,
                entry: None,
            });
            (self.places.len() - 1) as u32
        });
        let slot = &mut self.places[place as usize];
        slot.tenant = slot.tenant.wrapping_add(1);
        slot.entry = Some(Entry {
            bytes,
            access,
            users: 0,
            released: None,
        });
        ShmRegion(Name {
            place,
            tenant: slot.tenant,
        })
    }

    pub(super) fn key(name: Name) -> Key {
        let mut key = [0; Key::LEN];
        key[..8].copy_from_slice(&name.word().to_ne_bytes());
        Key(key)
    }

    /// The bytes of `name`, if it lives, allows what is asked, and has the range.
    ///
    /// `access` is `None` for this rank's own use.
    pub(super) fn check(
        &self,
        name: Name,
        access: Option<Access>,
        at: u64,
        len: u64,
    ) -> Result<&B, Fault> {
        let entry = self.entry(name).filter(|e| e.released.is_none());
        let entry = entry.ok_or(Fault::Protocol("a key to memory that is not registered"))?;
        if access.is_some_and(|access| access != entry.access) {
            return Err(Fault::Protocol("memory is not registered for this access"));
        }
        let end = at.checked_add(len);
        if end.is_none_or(|end| end > entry.bytes.len()) {
            return Err(Fault::Protocol("a range beyond the registered memory"));
        }
        Ok(&entry.bytes)
    }

    /// The bytes of a region that is in use, released or not.
    pub(super) fn bytes(&self, name: Name) -> Option<&B> {
        self.entry(name).map(|entry| &entry.bytes)
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
    pub(super) fn release(&mut self, region: ShmRegion, token: Token) -> Option<Token> {
        let entry = self.entry_mut(region.0)?;
        if entry.users > 0 {
            entry.released = Some(token);
            return None;
        }
        self.vacate(region.0);
        Some(token)
    }

    fn vacate(&mut self, name: Name) {
        self.places[name.place as usize].entry = None;
        self.free.push(name.place);
    }

    fn entry(&self, name: Name) -> Option<&Entry<B>> {
        let place = self.places.get(name.place as usize)?;
        place.entry.as_ref().filter(|_| place.tenant == name.tenant)
    }

    fn entry_mut(&mut self, name: Name) -> Option<&mut Entry<B>> {
        let place = self.places.get_mut(name.place as usize)?;
        place.entry.as_mut().filter(|_| place.tenant == name.tenant)
    }
}
