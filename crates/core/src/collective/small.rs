//! Small collectives that the core itself needs, of a few words.

use oxmpi_coll::catalog::Call;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::super::collective_state::{Area, Buffers, CollectiveNumbers, Stage, Stages};
use super::super::communicator::Communicator;
use super::super::group::Group;
use super::super::operation::elementwise;
use super::super::threading::Threading;
use crate::bytes::target;
use crate::error::Result;

impl<A: Threading> Communicator<A> {
    /// Reduces `values` over all ranks, element by element, by a commutative function.
    pub fn allreduce_in_place<T>(&self, values: &mut [T], combine: fn(T, T) -> T) -> Result<()>
    where
        T: FromBytes + IntoBytes + Immutable + Copy,
    {
        let (rank, size) = (self.group().rank(), self.group().size());
        let call = Call::allreduce(rank, size, values.len() as u64, size_of::<T>() as u64);
        let buffers = Buffers::new(Area::empty(), Area::Whole(target(values)));
        // SAFETY: the collective's elements are those of `values`.
        let combine = unsafe { elementwise(combine) };
        self.collective(&call.with_in_place(true), &buffers, Some(&combine))
    }

    /// Reduces a word over `ranks`, some ranks of this communicator that create a group under `tag`; the others
    /// do not call. Messages carry a number of the tag.
    pub(crate) fn allreduce_among(
        &self,
        ranks: &Group,
        tag: u32,
        word: &mut [u32; 1],
        combine: fn(u32, u32) -> u32,
    ) -> Result<()> {
        let call = Call::allreduce(ranks.rank(), ranks.size(), 1, size_of::<u32>() as u64);
        let stages = Stages::of([Stage {
            call: call.with_in_place(true),
            buffers: Buffers::new(Area::empty(), Area::Whole(target(word))),
            ranks: ranks.clone(),
        }]);
        // SAFETY: the collective's elements are words of 32 bits.
        let combine = unsafe { elementwise(combine) };
        self.run_stages(
            CollectiveNumbers::group_creation(tag),
            &stages,
            Some(&combine),
        )
    }

    /// Gives every rank the bytes of rank `root`: rank `root` only reads its bytes, the others only write theirs.
    pub(crate) fn bcast(&self, bytes: RawBytes, root: u32) -> Result<()> {
        let (rank, size) = (self.group().rank(), self.group().size());
        let buffers = Buffers::new(Area::Whole(bytes), Area::Whole(bytes));
        self.collective(&Call::bcast(rank, size, root, bytes.len()), &buffers, None)
    }
}
