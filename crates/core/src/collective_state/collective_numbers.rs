//! The numbers of a communicator's collectives.
//!
//! A message's tag is its collective's number and, in the lowest bits, its step's tag. Collectives that run
//! once are numbered in the order in which all ranks call them; the numbers repeat long after their messages
//! are gone. A persistent collective keeps the number that it got when it was prepared, as ranks may start
//! them in any order. Group creation, which only some ranks call, is numbered by its tag.

use std::sync::atomic::{AtomicU32, Ordering};

use oxmpi_coll::plan::TAGS;

/// How many numbers there are beside a step's tag.
const NUMBERS: u32 = u32::MAX / TAGS + 1;

/// The first number of persistent collectives.
const PERSISTENT: u32 = NUMBERS / 2;

/// The first number of group creation. The very last number is for failure notices.
const GROUP_CREATION: u32 = NUMBERS / 4 * 3;

/// The numbers of one communicator's collectives. Threads may share them.
#[derive(Debug)]
pub(crate) struct CollectiveNumbers {
    once: AtomicU32,
    persistent: AtomicU32,
}

impl CollectiveNumbers {
    /// Both kinds start from their first number.
    pub(crate) const fn new() -> Self {
        Self {
            once: AtomicU32::new(0),
            persistent: AtomicU32::new(0),
        }
    }

    /// The number of the next collective that runs once.
    #[inline]
    pub(crate) fn once(&self) -> u32 {
        self.once.fetch_add(1, Ordering::Relaxed) % PERSISTENT
    }

    /// The number of the next persistent collective; `None` when all are taken.
    pub(crate) fn persistent(&self) -> Option<u32> {
        let given = self.persistent.fetch_add(1, Ordering::Relaxed);
        let left = given < GROUP_CREATION - PERSISTENT;
        if !left {
            self.persistent.fetch_sub(1, Ordering::Relaxed);
        }
        left.then_some(PERSISTENT + given)
    }

    /// The number of a group's creation under a tag. Tags that differ by a multiple of 4,194,303 share one.
    pub(crate) const fn group_creation(tag: u32) -> u32 {
        GROUP_CREATION + tag % (NUMBERS - 1 - GROUP_CREATION)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::{CollectiveNumbers, GROUP_CREATION, NUMBERS, PERSISTENT};

    #[test]
    fn numbers_of_the_kinds_never_coincide() {
        let numbers = CollectiveNumbers::new();
        assert_eq!((numbers.once(), numbers.once()), (0, 1));
        assert_eq!(numbers.persistent(), Some(PERSISTENT));
        numbers.once.store(PERSISTENT - 1, Ordering::Relaxed);
        assert_eq!((numbers.once(), numbers.once()), (PERSISTENT - 1, 0));
        let left = GROUP_CREATION - PERSISTENT - 1;
        numbers.persistent.store(left, Ordering::Relaxed);
        assert_eq!(numbers.persistent(), Some(GROUP_CREATION - 1));
        assert_eq!((numbers.persistent(), numbers.persistent()), (None, None));
        for (tag, number) in [
            (0, GROUP_CREATION),
            (4_194_302, NUMBERS - 2),
            (4_194_303, GROUP_CREATION),
        ] {
            assert_eq!(CollectiveNumbers::group_creation(tag), number);
        }
    }
}
