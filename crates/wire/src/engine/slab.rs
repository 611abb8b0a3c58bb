//! A slab whose handles carry a generation.
//!
//! An entry keeps its place until it is removed; its handle then goes stale and never names a later
//! entry. Once grown, inserting and removing allocate nothing.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// No index: the end of a list.
pub(super) const NONE: u32 = u32::MAX;

/// Entries there may be at one time: indices leave two bits of half a word free.
const CAPACITY: usize = 1 << 30;

/// Index and generation of an entry: stale once the entry is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Handle {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl Handle {
    /// In one word, as it travels to a peer.
    pub(super) const fn word(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// The reverse of [`Handle::word`]; the word may come from anyone.
    pub(super) const fn from_word(word: u64) -> Self {
        Self {
            index: word as u32,
            generation: (word >> 32) as u32,
        }
    }
}

#[derive(Debug)]
enum Place<V> {
    Full(V),
    Free { next: u32 },
}

#[derive(Debug)]
struct Entry<V> {
    generation: u32,
    place: Place<V>,
}

/// The entries, reached by index (trusted) or by handle (checked).
#[derive(Debug)]
pub(super) struct Slab<V> {
    entries: Vec<Entry<V>>,
    free: u32,
    /// Entries in use.
    used: u32,
}

impl<V> Slab<V> {
    pub(super) const fn new() -> Self {
        Self {
            entries: Vec::new(),
            free: NONE,
            used: 0,
        }
    }

    /// Stores `value`.
    #[inline(always)]
    pub(super) fn insert(&mut self, value: V) -> Handle {
        if self.free == NONE {
            self.grow();
        }
        let index = self.free;
        let entry = &mut self.entries[index as usize];
        let Place::Free { next } = entry.place else {
            unreachable!("the free list has free entries only");
        };
        entry.place = Place::Full(value);
        self.free = next;
        self.used += 1;
        Handle {
            index,
            generation: entry.generation,
        }
    }

    /// Makes a free entry.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        assert!(self.entries.len() < CAPACITY, "2^30 entries are in use");
        self.free = self.entries.len() as u32;
        self.entries.push(Entry {
            generation: 0,
            place: Place::Free { next: NONE },
        });
    }

    /// Takes the entry out; its handle is stale from now on.
    pub(super) fn remove(&mut self, index: u32) -> V {
        let entry = &mut self.entries[index as usize];
        let next = self.free;
        match core::mem::replace(&mut entry.place, Place::Free { next }) {
            Place::Full(value) => {
                entry.generation = entry.generation.wrapping_add(1);
                self.free = index;
                self.used -= 1;
                value
            }
            Place::Free { .. } => unreachable!("only full entries are removed"),
        }
    }

    /// Drops the entry where it is; its handle is stale from now on.
    #[inline(always)]
    pub(super) fn free(&mut self, index: u32) {
        let entry = &mut self.entries[index as usize];
        debug_assert!(matches!(entry.place, Place::Full(_)));
        entry.place = Place::Free { next: self.free };
        entry.generation = entry.generation.wrapping_add(1);
        self.free = index;
        self.used -= 1;
    }

    /// The handle of the entry at `index`.
    #[inline(always)]
    pub(super) fn handle(&self, index: u32) -> Handle {
        Handle {
            index,
            generation: self.entries[index as usize].generation,
        }
    }

    /// The index behind `handle`, if it is not stale.
    #[inline(always)]
    pub(super) fn find(&self, handle: Handle) -> Option<u32> {
        let entry = self.entries.get(handle.index as usize)?;
        (entry.generation == handle.generation && matches!(entry.place, Place::Full(_)))
            .then_some(handle.index)
    }

    /// Whether the entry at `index` is in use.
    pub(super) fn is_full(&self, index: u32) -> bool {
        matches!(self.entries[index as usize].place, Place::Full(_))
    }

    /// Entries in use.
    pub(super) const fn used(&self) -> u32 {
        self.used
    }

    /// Indices ever used, full or free.
    pub(super) fn indices(&self) -> core::ops::Range<u32> {
        0..self.entries.len() as u32
    }
}

impl<V> Index<u32> for Slab<V> {
    type Output = V;

    #[inline(always)]
    fn index(&self, index: u32) -> &V {
        match &self.entries[index as usize].place {
            Place::Full(value) => value,
            Place::Free { .. } => unreachable!("indices of free entries are in no list"),
        }
    }
}

impl<V> IndexMut<u32> for Slab<V> {
    #[inline(always)]
    fn index_mut(&mut self, index: u32) -> &mut V {
        match &mut self.entries[index as usize].place {
            Place::Full(value) => value,
            Place::Free { .. } => unreachable!("indices of free entries are in no list"),
        }
    }
}
