//! Collectives (MPI 5.0, chapter 6). Every rank of the communicator makes the same calls in the
//! same order.

use oxmpi_coll::catalog::Call;

use super::Comm;
use crate::data::{Data, source, target};
use crate::error::{Error, Result};
use crate::op::{Element, Op, custom, operation};
use crate::raw::{Access, Area, Buffers, Operation};
use crate::value::Value;

impl<A: Access> Comm<A> {
    /// Returns when every rank has called it (`MPI_Barrier`).
    ///
    /// # Errors
    /// When a rank that this one waits for is lost.
    ///
    /// # Cost
    /// ceil(log2 p) rounds of empty messages.
    pub fn barrier(&self) -> Result<()> {
        self.raw.barrier()
    }

    /// Gives every rank the values of rank `root` (`MPI_Bcast`). All ranks pass slices of the same
    /// length.
    ///
    /// # Errors
    /// When `root` does not exist, the lengths differ, or a rank is lost.
    pub fn bcast<T: Data>(&self, values: &mut [T], root: usize) -> Result<()> {
        let root = self.check_root(root)?;
        self.raw.bcast(target(values), root)
    }

    /// Reduces a value or a small array over all ranks, and gives every rank the result
    /// (`MPI_Allreduce`). All ranks get the same bits, but for which NaN it is where several are
    /// added or multiplied.
    ///
    /// # Errors
    /// When the element has no such operation, or a rank is lost.
    pub fn allreduce<V: Value>(&self, value: &V, op: Op) -> Result<V> {
        let mut result = *value;
        self.raw.allreduce_in_place(result.elements_mut(), op)?;
        Ok(result)
    }

    /// Reduces `values` over all ranks, element by element, into every rank's `result`
    /// (`MPI_Allreduce`).
    ///
    /// # Errors
    /// When the slices have different lengths, the element has no such operation, or a rank is
    /// lost.
    pub fn allreduce_into<T: Element>(&self, values: &[T], result: &mut [T], op: Op) -> Result<()> {
        let fold = T::fold(op)?;
        self.reduce_all(values, result, true, &operation(fold))
    }

    /// As [`Comm::allreduce_into`], with `values` as the result too (`MPI_IN_PLACE`).
    ///
    /// # Errors
    /// As there.
    pub fn allreduce_in_place<T: Element>(&self, values: &mut [T], op: Op) -> Result<()> {
        self.raw.allreduce_in_place(values, op)
    }

    /// Reduces by an operation of your own, which must be associative (`MPI_Op_create`). Operands
    /// stand in the order of ranks; say whether the operation is `commutative`, which lets the
    /// library reorder them. A type whose alignment is above 128 does not compile.
    ///
    /// # Errors
    /// As [`Comm::allreduce_into`].
    pub fn allreduce_by<T: Data>(
        &self,
        values: &[T],
        result: &mut [T],
        commutative: bool,
        combine: impl Fn(T, T) -> T,
    ) -> Result<()> {
        self.reduce_all(values, result, commutative, &custom(combine))
    }

    /// Reduces a value or a small array over all ranks; rank `root` gets the result, the others
    /// `None` (`MPI_Reduce`).
    ///
    /// # Errors
    /// When `root` does not exist, the element has no such operation, or a rank is lost.
    pub fn reduce<V: Value>(&self, value: &V, op: Op, root: usize) -> Result<Option<V>> {
        let mut result = *value;
        self.reduce_into(value.elements(), result.elements_mut(), op, root)?;
        Ok((self.rank() == root).then_some(result))
    }

    /// Reduces `values` over all ranks, element by element, into rank `root`'s `result`; the other
    /// ranks' `result` is not used and may be empty (`MPI_Reduce`).
    ///
    /// # Errors
    /// As [`Comm::reduce`], or when the root's slices have different lengths.
    pub fn reduce_into<T: Element>(
        &self,
        values: &[T],
        result: &mut [T],
        op: Op,
        root: usize,
    ) -> Result<()> {
        let fold = T::fold(op)?;
        self.reduce_one(values, result, root, true, &operation(fold))
    }

    /// As [`Comm::reduce_into`], by an operation of your own: see [`Comm::allreduce_by`].
    ///
    /// # Errors
    /// As [`Comm::reduce_into`].
    pub fn reduce_by<T: Data>(
        &self,
        values: &[T],
        result: &mut [T],
        root: usize,
        commutative: bool,
        combine: impl Fn(T, T) -> T,
    ) -> Result<()> {
        self.reduce_one(values, result, root, commutative, &custom(combine))
    }

    fn reduce_all<T: Data>(
        &self,
        values: &[T],
        result: &mut [T],
        commutative: bool,
        operation: Operation<'_>,
    ) -> Result<()> {
        self.check_lengths(values, result)?;
        let (rank, size) = self.whoami();
        let call = Call::allreduce(rank, size, values.len() as u64, size_of::<T>() as u64)
            .with_commutative(commutative);
        self.run(call, values, result, operation)
    }

    fn reduce_one<T: Data>(
        &self,
        values: &[T],
        result: &mut [T],
        root: usize,
        commutative: bool,
        operation: Operation<'_>,
    ) -> Result<()> {
        if self.rank() == root {
            self.check_lengths(values, result)?;
        }
        let root = self.check_root(root)?;
        let (rank, size) = self.whoami();
        let call = Call::reduce(rank, size, root, values.len() as u64, size_of::<T>() as u64)
            .with_commutative(commutative);
        self.run(call, values, result, operation)
    }

    fn run<T: Data>(
        &self,
        call: Call,
        values: &[T],
        result: &mut [T],
        operation: Operation<'_>,
    ) -> Result<()> {
        let buffers = Buffers::new(Area::Whole(source(values)), Area::Whole(target(result)));
        self.raw.collective(call, &buffers, Some(operation))
    }

    fn whoami(&self) -> (u32, u32) {
        (self.raw.group().rank(), self.raw.group().size())
    }

    fn check_root(&self, root: usize) -> Result<u32> {
        if root < self.size() {
            Ok(root as u32)
        } else {
            Err(self.raw.rank_error(root))
        }
    }

    fn check_lengths<T>(&self, values: &[T], result: &[T]) -> Result<()> {
        if result.len() == values.len() {
            return Ok(());
        }
        Err(Error::Count {
            rank: self.rank(),
            what: "the result",
            has: result.len(),
            needs: values.len(),
        })
    }
}
