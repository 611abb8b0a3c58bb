//! Small collectives that the raw core itself needs, of a few words.

use oxmpi_coll::catalog::Call;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::super::collective_state::{Area, Buffers};
use super::super::communicator::Communicator;
use super::super::operation::elementwise;
use super::super::threading::Threading;
use crate::data::{Data, target};
use crate::error::Result;

impl<A: Threading> Communicator<A> {
    /// Reduces `values` over all ranks, element by element, by a commutative function.
    pub(in crate::raw) fn allreduce_in_place<T: Data>(
        &self,
        values: &mut [T],
        combine: fn(T, T) -> T,
    ) -> Result<()> {
        let (rank, size) = (self.group().rank(), self.group().size());
        let call = Call::allreduce(rank, size, values.len() as u64, size_of::<T>() as u64);
        let buffers = Buffers::new(Area::empty(), Area::Whole(target(values)));
        let combine = elementwise(combine);
        self.collective(&call.with_in_place(true), &buffers, Some(&combine))
    }

    /// Gives every rank the bytes of rank `root`: rank `root` only reads its bytes, the others only write theirs.
    pub(in crate::raw) fn bcast(&self, bytes: RawBytes, root: u32) -> Result<()> {
        let (rank, size) = (self.group().rank(), self.group().size());
        let buffers = Buffers::new(Area::Whole(bytes), Area::Whole(bytes));
        self.collective(&Call::bcast(rank, size, root, bytes.len()), &buffers, None)
    }
}
