//! The memory that a simulation may take: its tables grow only where there is room for the old and the new one.

use alloc::collections::TryReserveError;
use alloc::vec::Vec;

use slab::Slab;

use super::error::Error;

/// The bytes that a simulation may take, and those that its programs take of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) ranks: u32,
    pub(super) programs: u64,
    pub(super) limit: u64,
}

impl Budget {
    /// Checks that `more` bytes beside the `held` ones of the state fit.
    pub(super) fn check(&self, held: u64, more: u64) -> Result<(), Error> {
        if self.needed(held, more) > self.limit {
            return Err(self.error(held, more, self.limit));
        }
        Ok(())
    }

    /// The error of `more` bytes that the system has refused.
    pub(super) fn refused(&self, held: u64, more: u64) -> Error {
        self.error(held, more, self.limit.min(self.needed(held, 0)))
    }

    fn needed(&self, held: u64, more: u64) -> u64 {
        self.programs + held + more
    }

    fn error(&self, held: u64, more: u64, limit: u64) -> Error {
        Error::Memory {
            ranks: self.ranks,
            needed: self.needed(held, more),
            limit,
        }
    }
}

/// A vector with room for so many items and no more.
pub(super) fn room_for<T>(items: usize) -> Result<Vec<T>, TryReserveError> {
    let mut room = Vec::new();
    room.try_reserve_exact(items)?;
    Ok(room)
}

/// A vector with so many copies of an item.
pub(super) fn filled<T: Clone>(items: u32, item: T, budget: &Budget) -> Result<Vec<T>, Error> {
    let room = room_for(items as usize);
    let bytes = u64::from(items) * size_of::<T>() as u64;
    let mut all = room.map_err(|_| budget.refused(0, bytes))?;
    all.resize(items as usize, item);
    Ok(all)
}

/// The bytes of the slab's entries.
pub(super) fn slab_bytes<T>(slab: &Slab<T>) -> u64 {
    (slab.capacity() * entry_bytes::<T>()) as u64
}

const fn entry_bytes<T>() -> usize {
    // An entry is a record or the index of the next free one.
    size_of::<Result<T, usize>>()
}

/// Doubles a slab that is full. `budget` and `held`, the bytes of the whole state, say whether that is possible.
pub(super) fn grow<T>(
    slab: &mut Slab<T>,
    budget: &Budget,
    held: impl Fn(&Slab<T>) -> u64,
) -> Result<(), Error> {
    if slab.len() < slab.capacity() {
        return Ok(());
    }
    let items = (2 * slab.capacity()).max(4);
    let more = (items * entry_bytes::<T>()) as u64;
    let before = held(slab);
    budget.check(before, more)?;
    // A slab has no fallible reservation. What is free for this vector is free for the slab.
    let free = room_for::<u8>(more as usize);
    drop(free.map_err(|_| budget.refused(before, more))?);
    slab.reserve_exact(items - slab.len());
    Ok(())
}
