//! Registered memory of a transport: which bytes a peer may reach, and until when.
//!
//! A peer names a region by a [`RegionId`]: an index and a tag. Each registration gets another tag, so that
//! the key of a released region reaches nothing. Tags of successive registrations lie far apart, so that a
//! corrupted key hardly names another region; they are no secret. A region that is released while transfers
//! use it lives until the last of them has ended.

use crate::slab::Slab;
use crate::{Access, Bytes, Fault, Key, Token};

/// Names a region in a key: one word on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegionId {
    index: u32,
    tag: u32,
}

impl RegionId {
    /// The id as one word.
    #[must_use]
    pub const fn word(self) -> u64 {
        (self.index as u64) << 32 | self.tag as u64
    }

    /// The reverse of [`RegionId::word`]. Any word is an id, perhaps of no region.
    #[must_use]
    pub const fn from_word(word: u64) -> Self {
        Self {
            index: (word >> 32) as u32,
            tag: word as u32,
        }
    }

    /// Whether it names an earlier registration of its table than `other`, less than 2^31 registrations before.
    #[must_use]
    pub const fn is_before(self, other: Self) -> bool {
        let since = other.tag.wrapping_sub(self.tag).wrapping_mul(UNSPREAD);
        since != 0 && since < 1 << 31
    }

    /// A key with this id and three words of the transport's own.
    #[must_use]
    pub fn key(self, words: [u64; 3]) -> Key {
        let [a, b, c] = words;
        let mut key = Key([0; Key::LEN]);
        for (to, word) in (key.0.as_chunks_mut().0.iter_mut()).zip([self.word(), a, b, c]) {
            *to = word.to_le_bytes();
        }
        key
    }

    /// The reverse of [`RegionId::key`]. Any key has an id, perhaps of no region.
    #[must_use]
    pub fn from_key(key: &Key) -> (Self, [u64; 3]) {
        let mut words = [0; 4];
        for (word, from) in words.iter_mut().zip(key.0.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [id, a, b, c] = words;
        (Self::from_word(id), [a, b, c])
    }
}

/// A registration in the [`Regions`] that made it; it lasts until [`Regions::release`].
#[must_use = "only `Regions::release` ends it"]
#[derive(Debug, PartialEq, Eq)]
pub struct Region(RegionId);

impl Region {
    /// The id by which peers name it.
    #[must_use]
    pub const fn id(&self) -> RegionId {
        self.0
    }
}

/// One region.
#[derive(Debug)]
struct Entry<B, N> {
    tag: u32,
    bytes: B,
    access: Access,
    /// Transfers under way.
    users: u32,
    /// Set once the region is released: the token to give back after the last transfer.
    released: Option<Token>,
    note: N,
}

impl<B: Bytes, N> Entry<B, N> {
    /// Whether it is registered now and has the `len` bytes from offset `at` on.
    fn has(&self, at: u64, len: u64) -> bool {
        let end = at.checked_add(len);
        self.released.is_none() && end.is_some_and(|end| end <= self.bytes.len())
    }
}

/// Factor from the number of a registration to its tag: odd, so that 2^32 registrations have different tags.
const SPREAD: u32 = 0x9e37_79b1;

/// Factor from a tag to the number of the registration.
const UNSPREAD: u32 = 0x0e8b_2f51;
const _: () = assert!(SPREAD.wrapping_mul(UNSPREAD) == 1);

/// All registered bytes of one rank. Each region carries a note `N` for its transport.
///
/// # Cost
/// Each call looks at one entry; [`Regions::add`] allocates where there have never been as many regions at
/// once.
#[derive(Debug)]
pub struct Regions<B, N> {
    entries: Slab<Entry<B, N>>,
    /// Registrations so far.
    count: u32,
}

impl<B: Bytes, N> Regions<B, N> {
    /// A table without regions.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            entries: Slab::new(),
            count: 0,
        }
    }

    /// Registers `bytes` for `access` by peers, with the default note.
    pub fn add(&mut self, bytes: B, access: Access) -> Region
    where
        N: Default,
    {
        self.count = self.count.wrapping_add(1);
        let tag = self.count.wrapping_mul(SPREAD);
        let handle = self.entries.insert(Entry {
            tag,
            bytes,
            access,
            users: 0,
            released: None,
            note: N::default(),
        });
        Region(RegionId {
            index: handle.index,
            tag,
        })
    }

    /// The bytes of region `id`, if a peer may access `len` bytes from offset `at` on in all ways of `access`.
    ///
    /// # Errors
    /// [`Fault::NOT_REGISTERED`]: the region is not registered or was released, it is not for this access, or
    /// the range exceeds it.
    pub fn check(&self, id: RegionId, access: Access, at: u64, len: u64) -> Result<&B, Fault> {
        self.entry(id)
            .filter(|entry| entry.access.contains(access) && entry.has(at, len))
            .map(|entry| &entry.bytes)
            .ok_or(Fault::NOT_REGISTERED)
    }

    /// The bytes of region `id`, if this rank may use `len` bytes from offset `at` on in an operation of its
    /// own.
    ///
    /// # Errors
    /// [`Fault::Invalid`]: the range exceeds the region.
    pub fn check_own(&self, id: RegionId, at: u64, len: u64) -> Result<&B, Fault> {
        self.entry(id)
            .filter(|entry| entry.has(at, len))
            .map(|entry| &entry.bytes)
            .ok_or(Fault::Invalid("a range is within its region"))
    }

    /// The bytes of region `id`, if they may be sent to a peer before it asks for them: peers only read them.
    #[must_use]
    pub fn ahead(&self, id: RegionId) -> Option<&B> {
        let entry = self.entry(id)?;
        (entry.access == Access::READ && entry.released.is_none()).then_some(&entry.bytes)
    }

    /// The bytes of a region that transfers may still use, released or not.
    #[must_use]
    pub fn bytes(&self, id: RegionId) -> Option<&B> {
        self.entry(id).map(|entry| &entry.bytes)
    }

    /// The transport's note on a region, released or not.
    #[must_use]
    pub fn note(&self, id: RegionId) -> Option<&N> {
        self.entry(id).map(|entry| &entry.note)
    }

    /// As [`Regions::note`], to change it.
    #[must_use]
    pub fn note_mut(&mut self, id: RegionId) -> Option<&mut N> {
        self.entry_mut(id).map(|entry| &mut entry.note)
    }

    /// Counts a transfer that starts; does nothing if there is no such region.
    pub fn enter(&mut self, id: RegionId) {
        if let Some(entry) = self.entry_mut(id) {
            entry.users += 1;
        }
    }

    /// Counts a transfer that ended. Returns the token of a release that waited for it, if it was the last
    /// one.
    ///
    /// # Panics
    /// If no transfer that [entered](Regions::enter) is under way.
    #[must_use]
    pub fn leave(&mut self, id: RegionId) -> Option<Token> {
        let entry = self.entry_mut(id)?;
        let others = entry.users.checked_sub(1);
        entry.users = others.expect("a transfer that entered");
        let token = entry.released.filter(|_| entry.users == 0)?;
        self.entries.free(id.index);
        Some(token)
    }

    /// Ends a registration. Returns `token` if no transfer uses the region; else [`Regions::leave`] returns
    /// it later.
    ///
    /// # Panics
    /// If the region is another table's.
    #[must_use]
    pub fn release(&mut self, region: Region, token: Token) -> Option<Token> {
        let id = region.id();
        let entry = self.entry_mut(id).expect("a region of this table");
        if entry.users > 0 {
            entry.released = Some(token);
            return None;
        }
        self.entries.free(id.index);
        Some(token)
    }

    fn entry(&self, id: RegionId) -> Option<&Entry<B, N>> {
        self.entries
            .get(id.index)
            .filter(|entry| entry.tag == id.tag)
    }

    fn entry_mut(&mut self, id: RegionId) -> Option<&mut Entry<B, N>> {
        self.entries
            .get_mut(id.index)
            .filter(|entry| entry.tag == id.tag)
    }
}

impl<B: Bytes, N> Default for Regions<B, N> {
    fn default() -> Self {
        Self::new()
    }
}
