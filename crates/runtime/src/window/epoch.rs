//! What a rank does in an epoch of a window: [`Epoch`].

use std::marker::PhantomData;

use oxmpi_core::{Op, Result, Single, Threading, Window};

use super::WindowElement;
use super::accesses::Accesses;
use crate::data::Data;

/// Accesses to the memory of the ranks of a window, while an epoch lasts.
///
/// `at` is the index of the first element in the target's memory. An access beyond it is an error, and changes nothing.
/// Threads may share an epoch of a window of a [`SharedComm`](crate::SharedComm): each sees its own accesses end.
pub struct Epoch<'env, T: Data, A: Threading = Single> {
    accesses: Accesses<'env, A>,
    elements: PhantomData<fn(T) -> T>,
}

impl<'env, T: Data, A: Threading> Epoch<'env, T, A> {
    /// An epoch of all targets, or of the only one that is locked.
    pub(super) const fn new(raw: &'env Window<A>, only: Option<usize>) -> Self {
        Self {
            accesses: Accesses::new(raw, only),
            elements: PhantomData,
        }
    }

    /// Writes `values` to the memory of `rank` (`MPI_Put`).
    ///
    /// # Errors
    /// Beyond the target's memory; where the epoch is not one of this target; when the target is lost.
    pub fn put(&self, values: &[T], rank: usize, at: usize) -> Result<()> {
        self.accesses.put(values, rank, at as u64)
    }

    /// Reads memory of `rank` into `into`, which has it when the epoch ends (`MPI_Get`).
    ///
    /// # Errors
    /// As [`Epoch::put`].
    pub fn get(&self, into: &'env mut [T], rank: usize, at: usize) -> Result<()> {
        self.accesses.get(into, rank, at as u64)
    }
}

impl<T: WindowElement, A: Threading> Epoch<'_, T, A> {
    /// Combines elements of `rank` with `values`, each atomically (`MPI_Accumulate`).
    ///
    /// # Errors
    /// As [`Epoch::put`]; where the elements do not have the operation.
    pub fn accumulate(&self, values: &[T], op: Op, rank: usize, at: usize) -> Result<()> {
        self.accesses.accumulate(values, op, rank, at as u64)
    }
}

/// Accesses that wait for their answers.
impl<T: WindowElement, A: Threading> Epoch<'_, T, A> {
    /// Combines one element of `rank` with `value` atomically, and gives the element before (`MPI_Fetch_and_op`).
    ///
    /// # Errors
    /// As [`Epoch::accumulate`].
    pub fn fetch(&self, value: &T, op: Op, rank: usize, at: usize) -> Result<T> {
        self.accesses.fetch(value, op, rank, at as u64)
    }

    /// Stores one element atomically, and gives the element before (`MPI_Fetch_and_op` with `MPI_REPLACE`).
    ///
    /// # Errors
    /// As [`Epoch::put`].
    pub fn swap(&self, value: &T, rank: usize, at: usize) -> Result<T> {
        self.accesses.swap(value, rank, at as u64)
    }

    /// Reads one element atomically (`MPI_Fetch_and_op` with `MPI_NO_OP`).
    ///
    /// # Errors
    /// As [`Epoch::put`].
    pub fn load(&self, rank: usize, at: usize) -> Result<T> {
        self.accesses.load(rank, at as u64)
    }

    /// Stores `new` if the element is `expected`, atomically; gives the element before (`MPI_Compare_and_swap`).
    ///
    /// # Errors
    /// As [`Epoch::put`]; for elements that are no integers.
    pub fn compare_and_swap(&self, expected: T, new: T, rank: usize, at: usize) -> Result<T> {
        self.accesses
            .compare_and_swap([expected, new], rank, at as u64)
    }
}
