//! A slab: a growable table of values that keep their index, with handles that go stale on removal.
//!
//! A value keeps its index until it is removed. Its [`Handle`] adds a generation, which changes on removal,
//! so that a stale handle never names a later value. Once grown, inserting and removing allocate nothing.
//!
//! ```
//! use oxmpi_wire::slab::Slab;
//!
//! let mut slab = Slab::new();
//! let first = slab.insert("one");
//! assert_eq!(slab.find(first).map(|index| slab[index]), Some("one"));
//! slab.remove(first.index);
//! let second = slab.insert("two");
//! assert_eq!(second.index, first.index, "free entries are used again");
//! assert_eq!(slab.find(first), None, "the handle is stale");
//! ```

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// In place of an index: no entry, such as the end of a list.
pub const NONE: u32 = u32::MAX;

/// Most entries in use at one time: an index leaves two bits of its word to the user.
const CAPACITY: usize = 1 << 30;

/// Names one value of a [`Slab`]: its index and its generation. Stale once the value is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    /// Index of the entry, below 2^30.
    pub index: u32,
    /// How many values the entry had before, modulo 2^32.
    pub generation: u32,
}

impl Handle {
    /// The handle in one word, as it travels to a peer: the generation above, the index below.
    #[must_use]
    pub const fn word(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// The reverse of [`Handle::word`]. The word may come from an untrusted peer: [`Slab::find`] checks the
    /// handle.
    #[must_use]
    pub const fn from_word(word: u64) -> Self {
        Self {
            index: word as u32,
            generation: (word >> 32) as u32,
        }
    }
}

/// An entry's value, or its link in the list of free entries.
#[derive(Debug)]
enum Content<V> {
    Full(V),
    Free { next: u32 },
}

#[derive(Debug)]
struct Entry<V> {
    generation: u32,
    content: Content<V>,
}

/// A table of values, reached by index (trusted) or by [`Handle`] (checked).
///
/// # Panics
/// Indexing panics where the entry is free or does not exist.
#[derive(Debug)]
pub struct Slab<V> {
    entries: Vec<Entry<V>>,
    /// First free entry.
    free: u32,
    /// Entries in use.
    used: u32,
}

impl<V> Slab<V> {
    /// An empty slab, which has allocated nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
            free: NONE,
            used: 0,
        }
    }

    /// Stores `value` in a free entry.
    ///
    /// # Panics
    /// If 2^30 entries are in use.
    #[inline(always)]
    pub fn insert(&mut self, value: V) -> Handle {
        if self.free == NONE {
            self.grow();
        }
        let index = self.free;
        let entry = &mut self.entries[index as usize];
        let Content::Free { next } = entry.content else {
            unreachable!("the free list has free entries only");
        };
        entry.content = Content::Full(value);
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
            content: Content::Free { next: NONE },
        });
    }

    /// Removes the value at `index` and returns it; its handle is stale from now on.
    ///
    /// # Panics
    /// If the entry is free or does not exist.
    pub fn remove(&mut self, index: u32) -> V {
        let entry = &mut self.entries[index as usize];
        let next = self.free;
        match core::mem::replace(&mut entry.content, Content::Free { next }) {
            Content::Full(value) => {
                entry.generation = entry.generation.wrapping_add(1);
                self.free = index;
                self.used -= 1;
                value
            }
            Content::Free { .. } => unreachable!("only full entries are removed"),
        }
    }

    /// Drops the value at `index` in place; its handle is stale from now on.
    ///
    /// # Panics
    /// If the entry does not exist; in debug builds also if it is free.
    #[inline(always)]
    pub fn free(&mut self, index: u32) {
        let entry = &mut self.entries[index as usize];
        debug_assert!(matches!(entry.content, Content::Full(_)));
        entry.content = Content::Free { next: self.free };
        entry.generation = entry.generation.wrapping_add(1);
        self.free = index;
        self.used -= 1;
    }

    /// The handle of the entry at `index`.
    ///
    /// # Panics
    /// If the entry does not exist.
    #[inline(always)]
    #[must_use]
    pub fn handle(&self, index: u32) -> Handle {
        Handle {
            index,
            generation: self.entries[index as usize].generation,
        }
    }

    /// The index of the value that `handle` names; `None` if the handle is stale or was made up.
    #[inline(always)]
    #[must_use]
    pub fn find(&self, handle: Handle) -> Option<u32> {
        let entry = self.entries.get(handle.index as usize)?;
        (entry.generation == handle.generation && matches!(entry.content, Content::Full(_)))
            .then_some(handle.index)
    }

    /// Whether the entry at `index` is in use.
    ///
    /// # Panics
    /// If the entry does not exist.
    #[must_use]
    pub fn is_full(&self, index: u32) -> bool {
        matches!(self.entries[index as usize].content, Content::Full(_))
    }

    /// The value at `index`, which may come from an untrusted peer; `None` if the entry is free or does not
    /// exist.
    #[must_use]
    pub fn get(&self, index: u32) -> Option<&V> {
        match &self.entries.get(index as usize)?.content {
            Content::Full(value) => Some(value),
            Content::Free { .. } => None,
        }
    }

    /// As [`Slab::get`], to change the value.
    #[must_use]
    pub fn get_mut(&mut self, index: u32) -> Option<&mut V> {
        match &mut self.entries.get_mut(index as usize)?.content {
            Content::Full(value) => Some(value),
            Content::Free { .. } => None,
        }
    }

    /// Number of entries in use.
    #[must_use]
    pub const fn used(&self) -> u32 {
        self.used
    }

    /// Every index that was ever used: the entries there are full or free.
    #[must_use]
    pub fn indices(&self) -> core::ops::Range<u32> {
        0..self.entries.len() as u32
    }
}

impl<V> Default for Slab<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> Index<u32> for Slab<V> {
    type Output = V;

    #[inline(always)]
    fn index(&self, index: u32) -> &V {
        match &self.entries[index as usize].content {
            Content::Full(value) => value,
            Content::Free { .. } => unreachable!("indices of free entries are in no list"),
        }
    }
}

impl<V> IndexMut<u32> for Slab<V> {
    #[inline(always)]
    fn index_mut(&mut self, index: u32) -> &mut V {
        match &mut self.entries[index as usize].content {
            Content::Full(value) => value,
            Content::Free { .. } => unreachable!("indices of free entries are in no list"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As a list of handles and values would.
        #[test]
        fn it_holds_what_was_inserted_and_not_removed(
            steps in prop::collection::vec((0..4u8, any::<usize>()), 0..200),
        ) {
            let mut slab = Slab::new();
            let (mut held, mut stale) = (Vec::new(), Vec::new());
            for (value, (kind, pick)) in (0u32..).zip(steps) {
                if kind < 2 || held.is_empty() {
                    held.push((slab.insert(value), value));
                } else {
                    let (handle, value): (Handle, u32) = held.swap_remove(pick % held.len());
                    match kind {
                        2 => prop_assert_eq!(slab.remove(handle.index), value),
                        _ => slab.free(handle.index),
                    }
                    stale.push(handle);
                }
                prop_assert_eq!(slab.used() as usize, held.len());
            }
            for (handle, value) in held {
                prop_assert_eq!(slab.find(handle), Some(handle.index));
                prop_assert_eq!(slab[handle.index], value);
            }
            for handle in stale {
                prop_assert_eq!(slab.find(handle), None);
            }
        }
    }
}
