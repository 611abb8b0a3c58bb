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
        Self::of_word(word(key, 0))
    }

    /// The key that says this name, and what of it is offered.
    pub(super) fn key(self, offered: &Offered) -> Key {
        let Offered {
            place,
            turn,
            address,
            heap,
            pushed,
        } = *offered;
        let place = place.map_or(0, |place| u64::from(place) + 1);
        let pushed = pushed.map_or(0, |Pushed { window, pages }| {
            u64::from(pages) << 8 | (u64::from(window) + 1)
        });
        let offer = pushed << 40 | place << 32 | u64::from(turn);
        let heap = heap.map_or(0, |at| at + 1);
        let mut key = [0; Key::LEN];
        let words = [self.word(), offer, address, heap];
        for (to, word) in key.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.to_ne_bytes();
        }
        Key(key)
    }
}

fn word(key: &Key, at: usize) -> u64 {
    u64::from_ne_bytes(key.0.as_chunks().0[at])
}

/// How a peer may take a region's bytes without asking for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offered {
    /// The place and turn of the offer that it claims first.
    pub(super) place: Option<u32>,
    pub(super) turn: u32,
    /// The address of the first byte if all lie side by side, else 0.
    pub(super) address: u64,
    /// How far into the owner's part of the heap they begin, if they lie there.
    pub(super) heap: Option<u64>,
    /// In which window they go over with the message that tells of them.
    pub(super) pushed: Option<Pushed>,
}

/// Bytes that need no claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pushed {
    /// The window, as the owner counts them.
    pub(super) window: u8,
    /// How many units of [`Pushed::PAGE`] bytes were in it by then.
    pub(super) pages: u16,
}

impl Pushed {
    /// What `pages` counts, in bytes.
    pub(super) const PAGE: u64 = 1024;

    /// Window `window`, of which `filled` bytes are in.
    pub(super) fn new(window: usize, filled: u64) -> Self {
        Self {
            window: window as u8,
            pages: (filled / Self::PAGE).min(u16::MAX.into()) as u16,
        }
    }
}

impl Offered {
    pub(super) fn of_key(key: &Key) -> Self {
        let offer = word(key, 1);
        let window = ((offer >> 40) as u8).checked_sub(1);
        Self {
            place: u32::from((offer >> 32) as u8).checked_sub(1),
            turn: offer as u32,
            address: word(key, 2),
            heap: word(key, 3).checked_sub(1),
            pushed: window.map(|window| Pushed {
                window,
                pages: (offer >> 48) as u16,
            }),
        }
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
    /// Which peer was told of them, and how it may take them.
    offered: Option<(u32, Offered)>,
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
            offered: None,
            released: None,
        });
        ShmRegion(Name {
            place,
            tenant: slot.tenant,
        })
    }

    /// Which peer may take the bytes of `name`, and how, as [`Regions::set_offered`] said.
    pub(super) fn offered(&self, name: Name) -> Option<(u32, Offered)> {
        self.entry(name)?.offered
    }

    pub(super) fn set_offered(&mut self, name: Name, to: u32, offered: Offered) {
        if let Some(entry) = self.entry_mut(name) {
            entry.offered = Some((to, offered));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_there_and_back() {
        let name = Name::of_word(3 << 32 | 9);
        let all = [
            Offered::default(),
            Offered {
                place: Some(0),
                turn: 7,
                address: 1 << 47,
                heap: Some(0),
                pushed: Some(Pushed::new(3, 5 * Pushed::PAGE + 1)),
            },
        ];
        for offered in all {
            let key = name.key(&offered);
            assert_eq!((Name::of_key(&key), Offered::of_key(&key)), (name, offered));
        }
    }
}
