//! [`PartitionedPlace`]: which partitioned messages of two ranks belong together (MPI 5.0, section 4.2).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::FOR_GROUPS;
use crate::constants::MPI_ERR_OTHER;
use crate::error::{Error, Result};
use crate::types::c_int;

/// Direction, rank and tag of a partitioned message.
type Key = (bool, c_int, c_int);

/// The partitioned messages that a program has prepared on a communicator and not freed.
#[derive(Default)]
pub(crate) struct PartitionedInUse(Mutex<BTreeMap<Key, Places>>);

#[derive(Clone, Copy, Default)]
struct Places {
    next: u32,
    /// A bit for each place that is taken.
    taken: u32,
}

/// One of the places of a direction, rank and tag, until it is dropped.
///
/// Both ranks number the messages of one tag in the order in which they prepare them, so equal numbers belong together.
/// There are as many numbers as contexts apart for them, and they go round.
pub(crate) struct PartitionedPlace {
    of: Arc<PartitionedInUse>,
    key: Key,
    number: u32,
}

impl PartitionedInUse {
    fn with<R>(&self, key: Key, work: impl FnOnce(&mut Places) -> R) -> R {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        work(all.entry(key).or_default())
    }
}

impl PartitionedPlace {
    pub(super) fn take(of: &Arc<PartitionedInUse>, key: Key) -> Result<Self> {
        let number = of.with(key, |places| {
            let number = places.next;
            let is_free = places.taken & 1 << number == 0;
            is_free.then(|| {
                places.taken |= 1 << number;
                places.next = (number + 1) % FOR_GROUPS;
                number
            })
        });
        let number = number.ok_or_else(|| {
            let why = format!(
                "{FOR_GROUPS} partitioned messages between this rank and rank {} with tag {} are in use, which is the most; free one \
                 first, or take another tag",
                key.1, key.2
            );
            Error::new(MPI_ERR_OTHER, why)
        })?;
        let of = of.clone();
        Ok(Self { of, key, number })
    }

    pub(super) const fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for PartitionedPlace {
    fn drop(&mut self) {
        let free = |places: &mut Places| places.taken &= !(1 << self.number);
        self.of.with(self.key, free);
    }
}

#[cfg(test)]
mod tests {
    use super::{FOR_GROUPS, PartitionedInUse, PartitionedPlace};
    use std::sync::Arc;

    #[test]
    fn numbers_go_round_and_none_is_given_twice() {
        let of = Arc::new(PartitionedInUse::default());
        let take = |tag| PartitionedPlace::take(&of, (true, 1, tag));
        let mut taken: Vec<_> = (0..FOR_GROUPS).map(|_| take(7).ok()).collect();
        let numbers = taken.iter().flatten().map(PartitionedPlace::number);
        assert!(numbers.eq(0..FOR_GROUPS));
        assert!(take(7).is_err() && take(8).is_ok());
        // Not the next one in turn: the other rank may have prepared it already.
        taken[2] = None;
        assert!(take(7).is_err());
        taken[0] = None;
        assert_eq!(take(7).ok().map(|place| place.number()), Some(0));
    }
}
