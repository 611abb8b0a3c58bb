//! Registered memory of a transport: which bytes a peer may reach, and until when.
//!
//! A peer names a region by its place and by which of all tenants it means, so that a key outlives its region without harm.
//! Tenants have numbers that lie far apart: a key that was spoilt, or made up from another, hardly names the memory that
//! somebody else was told of. They are no secret. A region that is released while transfers use it lives until the last of
//! them has ended.

use alloc::vec::Vec;

use crate::{Access, Bytes, Fault, Key, Token};

/// A region as its key names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    place: u32,
    tenant: u32,
}

impl Name {
    /// As one word.
    #[must_use]
    pub const fn word(self) -> u64 {
        (self.place as u64) << 32 | self.tenant as u64
    }

    /// The reverse of [`Name::word`]; any word is a name, perhaps of nothing.
    #[must_use]
    pub const fn of_word(word: u64) -> Self {
        Self {
            place: (word >> 32) as u32,
            tenant: word as u32,
        }
    }

    /// The key with this name and what the transport says besides.
    #[must_use]
    pub fn key(self, besides: [u64; 3]) -> Key {
        let [a, b, c] = besides;
        let mut key = Key([0; Key::LEN]);
        for (to, word) in (key.0.as_chunks_mut().0.iter_mut()).zip([self.word(), a, b, c]) {
            *to = word.to_le_bytes();
        }
        key
    }

    /// The reverse of [`Name::key`], whoever made the key.
    #[must_use]
    pub fn of_key(key: &Key) -> (Self, [u64; 3]) {
        let mut words = [0; 4];
        for (word, from) in words.iter_mut().zip(key.0.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [name, a, b, c] = words;
        (Self::of_word(name), [a, b, c])
    }
}

/// A registration, for the [`Regions`] that gave it: it lasts until [`Regions::release`].
#[must_use = "only `Regions::release` ends it"]
#[derive(Debug, PartialEq, Eq)]
pub struct Region(Name);

impl Region {
    /// What peers call it.
    #[must_use]
    pub const fn name(&self) -> Name {
        self.0
    }
}

#[derive(Debug)]
struct Place<B, N> {
    tenant: u32,
    entry: Option<Entry<B, N>>,
}

#[derive(Debug)]
struct Entry<B, N> {
    bytes: B,
    access: Access,
    /// Transfers under way.
    users: u32,
    released: Option<Token>,
    note: N,
}

/// Odd, so that 2^32 counts make as many numbers; those of counts that are near lie far apart.
const SPREAD: u32 = 0x9e37_79b1;

/// All registered bytes of one rank, each with a note of its transport's.
///
/// # Cost
/// Each call looks at one place of a table; [`Regions::add`] allocates where there have never been so many regions.
#[derive(Debug)]
pub struct Regions<B, N> {
    places: Vec<Place<B, N>>,
    free: Vec<u32>,
    /// How many there have been.
    count: u32,
}

impl<B: Bytes, N> Regions<B, N> {
    /// None.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
            count: 0,
        }
    }

    /// Registers bytes, with the note that there is at first.
    pub fn add(&mut self, bytes: B, access: Access) -> Region
    where
        N: Default,
    {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place {
                tenant: 0,
                entry: None,
            });
            (self.places.len() - 1) as u32
        });
        self.count = self.count.wrapping_add(1);
        let Place { tenant, entry } = &mut self.places[place as usize];
        *tenant = self.count.wrapping_mul(SPREAD);
        *entry = Some(Entry {
            bytes,
            access,
            users: 0,
            released: None,
            note: N::default(),
        });
        Region(Name {
            place,
            tenant: *tenant,
        })
    }

    /// The bytes of `name`, if it is registered and not released, allows what is asked, and has the range.
    ///
    /// `access` is `None` for this rank's own use.
    ///
    /// # Errors
    /// [`Fault::Protocol`], of who named them: there is no such region, or it was released; it is not for this access;
    /// the range is not within it.
    pub fn check(
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
    #[must_use]
    pub fn bytes(&self, name: Name) -> Option<&B> {
        self.entry(name).map(|entry| &entry.bytes)
    }

    /// What the transport knows of a region, released or not.
    #[must_use]
    pub fn note(&self, name: Name) -> Option<&N> {
        self.entry(name).map(|entry| &entry.note)
    }

    /// As [`Regions::note`], to change it.
    #[must_use]
    pub fn note_mut(&mut self, name: Name) -> Option<&mut N> {
        self.entry_mut(name).map(|entry| &mut entry.note)
    }

    /// A transfer starts, if there is such a region.
    pub fn enter(&mut self, name: Name) {
        if let Some(entry) = self.entry_mut(name) {
            entry.users += 1;
        }
    }

    /// A transfer ended. The token of a release that waited for it, if it was the last.
    ///
    /// # Panics
    /// If no transfer that [entered](Regions::enter) is under way.
    #[must_use]
    pub fn leave(&mut self, name: Name) -> Option<Token> {
        let entry = self.entry_mut(name)?;
        let others = entry.users.checked_sub(1);
        entry.users = others.expect("a transfer that entered");
        let token = entry.released.filter(|_| entry.users == 0)?;
        self.vacate(name);
        Some(token)
    }

    /// Ends a registration: `token` at once if nobody uses it, else from [`Regions::leave`].
    ///
    /// # Panics
    /// If the region is another table's.
    #[must_use]
    pub fn release(&mut self, region: Region, token: Token) -> Option<Token> {
        let name = region.name();
        let entry = self.entry_mut(name).expect("a region of this table");
        if entry.users > 0 {
            entry.released = Some(token);
            return None;
        }
        self.vacate(name);
        Some(token)
    }

    fn vacate(&mut self, name: Name) {
        self.places[name.place as usize].entry = None;
        self.free.push(name.place);
    }

    fn entry(&self, name: Name) -> Option<&Entry<B, N>> {
        let place = self.places.get(name.place as usize)?;
        place.entry.as_ref().filter(|_| place.tenant == name.tenant)
    }

    fn entry_mut(&mut self, name: Name) -> Option<&mut Entry<B, N>> {
        let place = self.places.get_mut(name.place as usize)?;
        place.entry.as_mut().filter(|_| place.tenant == name.tenant)
    }
}

impl<B: Bytes, N> Default for Regions<B, N> {
    fn default() -> Self {
        Self::new()
    }
}
