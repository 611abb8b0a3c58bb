//! The matching queues of the simulator: linked lists of messages or of receives, whose entries live in a slab.

use slab::Slab;

/// The index that means "no entry".
pub(super) const NONE: u32 = u32::MAX;

/// An entry of a [`MatchQueue`]: a message or a receive.
pub(super) trait QueueEntry {
    /// The index of the next entry.
    fn next(&mut self) -> &mut u32;
    /// What a message and a receive have in common if they match: the sender's rank and the tag.
    fn key(&self) -> (u32, u32);
}

/// A linked list in the order of arrival, searched from its head, as MPI's matching rules require and
/// most libraries do.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchQueue {
    head: u32,
    tail: u32,
    pub(super) len: u32,
}

impl MatchQueue {
    pub(super) const EMPTY: MatchQueue = MatchQueue {
        head: NONE,
        tail: NONE,
        len: 0,
    };

    /// Appends the entry with this index.
    pub(super) fn push<T: QueueEntry>(&mut self, slab: &mut Slab<T>, index: u32) {
        *slab[index as usize].next() = NONE;
        match self.tail {
            NONE => self.head = index,
            tail => *slab[tail as usize].next() = index,
        }
        self.tail = index;
        self.len += 1;
    }

    /// The first entry with the key, and the number of entries visited.
    pub(super) fn find<T: QueueEntry>(
        &self,
        slab: &mut Slab<T>,
        key: (u32, u32),
    ) -> Option<(u32, u64)> {
        let (mut at, mut walked) = (self.head, 0);
        while at != NONE {
            walked += 1;
            let entry = &mut slab[at as usize];
            if entry.key() == key {
                return Some((at, walked));
            }
            at = *entry.next();
        }
        None
    }

    /// The last entry with the key.
    pub(super) fn last<T: QueueEntry>(&self, slab: &mut Slab<T>, key: (u32, u32)) -> Option<u32> {
        let (mut at, mut last) = (self.head, None);
        while at != NONE {
            let entry = &mut slab[at as usize];
            last = if entry.key() == key { Some(at) } else { last };
            at = *entry.next();
        }
        last
    }

    /// Removes the first entry with the key. Returns it and the number of entries visited.
    pub(super) fn take<T: QueueEntry>(
        &mut self,
        slab: &mut Slab<T>,
        key: (u32, u32),
    ) -> (Option<u32>, u64) {
        let (mut before, mut at, mut walked) = (NONE, self.head, 0);
        while at != NONE {
            walked += 1;
            let entry = &mut slab[at as usize];
            let next = *entry.next();
            if entry.key() == key {
                match before {
                    NONE => self.head = next,
                    before => *slab[before as usize].next() = next,
                }
                if next == NONE {
                    self.tail = before;
                }
                self.len -= 1;
                return (Some(at), walked);
            }
            (before, at) = (at, next);
        }
        (None, walked)
    }
}

#[cfg(test)]
mod tests {
    use slab::Slab;

    use super::{MatchQueue, NONE, QueueEntry};

    struct Entry(u32, (u32, u32));

    impl QueueEntry for Entry {
        fn next(&mut self) -> &mut u32 {
            &mut self.0
        }

        fn key(&self) -> (u32, u32) {
            self.1
        }
    }

    #[test]
    fn the_first_entry_of_a_key_is_found_and_visits_are_counted() {
        let (mut slab, mut queue) = (Slab::new(), MatchQueue::EMPTY);
        for key in [(1, 0), (2, 0), (1, 0), (3, 0)] {
            let index = slab.insert(Entry(NONE, key)) as u32;
            queue.push(&mut slab, index);
        }
        assert_eq!(queue.find(&mut slab, (2, 0)), Some((1, 2)));
        assert_eq!(queue.find(&mut slab, (2, 1)), None);
        assert_eq!(queue.last(&mut slab, (1, 0)), Some(2));
        assert_eq!(queue.last(&mut slab, (2, 1)), None);
        assert_eq!(queue.take(&mut slab, (3, 0)), (Some(3), 4));
        assert_eq!(queue.take(&mut slab, (3, 0)), (None, 3));
        assert_eq!(queue.take(&mut slab, (1, 0)), (Some(0), 1));
        assert_eq!(queue.take(&mut slab, (1, 0)), (Some(2), 2));
        let index = slab.insert(Entry(NONE, (1, 9))) as u32;
        queue.push(&mut slab, index);
        assert_eq!(queue.take(&mut slab, (1, 9)), (Some(4), 2));
        assert_eq!(queue.take(&mut slab, (2, 0)), (Some(1), 1));
        assert_eq!((queue.len, queue.head, queue.tail), (0, NONE, NONE));
    }
}
