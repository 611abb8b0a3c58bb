//! Doubly linked lists through a slab's entries: no allocation, removal from the middle.

use crate::slab::{NONE, Slab};

/// An entry's neighbours in one list. What the first one has before it is not kept: so taking it out
/// touches no other entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    prev: u32,
    next: u32,
    /// Which of several lists; kept for their owner.
    pub(super) list: u32,
}

impl Links {
    pub(super) const ALONE: Self = Self {
        prev: NONE,
        next: NONE,
        list: NONE,
    };
}

/// An entry that can be in lists: one for each of its link pairs.
pub(super) trait Linked {
    fn links(&self, pair: usize) -> &Links;
    fn links_mut(&mut self, pair: usize) -> &mut Links;
}

/// First and last entry of a list; both [`NONE`] where there is no entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    head: u32,
    tail: u32,
}

impl List {
    pub(super) const EMPTY: Self = Self {
        head: NONE,
        tail: NONE,
    };

    pub(super) const fn is_empty(&self) -> bool {
        self.head == NONE
    }

    /// The first entry's index, or [`NONE`].
    pub(super) const fn front(&self) -> u32 {
        self.head
    }

    /// The index after `index`, or [`NONE`].
    pub(super) fn after<V: Linked>(slab: &Slab<V>, pair: usize, index: u32) -> u32 {
        slab[index].links(pair).next
    }

    #[inline(always)]
    pub(super) fn push_back<V: Linked>(&mut self, slab: &mut Slab<V>, pair: usize, index: u32) {
        *slab[index].links_mut(pair) = self.behind(NONE);
        self.append(slab, pair, index);
    }

    /// The links of an entry that comes last; `list` is its owner's.
    #[inline(always)]
    pub(super) const fn behind(&self, list: u32) -> Links {
        Links {
            prev: self.tail,
            next: NONE,
            list,
        }
    }

    /// Puts the entry `index`, which has the links of [`List::behind`], last.
    #[inline(always)]
    pub(super) fn append<V: Linked>(&mut self, slab: &mut Slab<V>, pair: usize, index: u32) {
        if self.tail == NONE {
            self.head = index;
        } else {
            slab[self.tail].links_mut(pair).next = index;
        }
        self.tail = index;
    }

    pub(super) fn push_front<V: Linked>(&mut self, slab: &mut Slab<V>, pair: usize, index: u32) {
        slab[index].links_mut(pair).next = self.head;
        if self.head == NONE {
            self.tail = index;
        } else {
            slab[self.head].links_mut(pair).prev = index;
        }
        self.head = index;
    }

    /// Unlinks the entry `index`, which must be in this list.
    #[inline(always)]
    pub(super) fn remove<V: Linked>(&mut self, slab: &mut Slab<V>, pair: usize, index: u32) {
        if self.head == index {
            return self.remove_front(slab, pair);
        }
        let Links { prev, next, .. } = *slab[index].links(pair);
        slab[prev].links_mut(pair).next = next;
        if next == NONE {
            self.tail = prev;
        } else {
            slab[next].links_mut(pair).prev = prev;
        }
    }

    /// Unlinks the first entry, which there must be.
    #[inline(always)]
    pub(super) fn remove_front<V: Linked>(&mut self, slab: &Slab<V>, pair: usize) {
        self.head = slab[self.head].links(pair).next;
        if self.head == NONE {
            self.tail = NONE;
        }
    }
}
