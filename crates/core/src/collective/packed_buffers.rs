//! Packs buffers with gaps for collectives in shared memory that need buffers without: those that compute on them, and
//! those in which other ranks may read or write them. All others copy by runs.

use oxmpi_coll::catalog::{Call, Collective};
use oxmpi_os::RawBytes;
use oxmpi_shm::node::collective::NodeGroup;
use oxmpi_wire::Bytes;

use super::super::collective_scratch::Scratch;
use super::super::collective_state::{Area, Buffers};
use super::super::communicator::Communicator;
use super::super::node_calls::serves_in_node;
use super::super::threading::Threading;
use crate::error::Result;

/// Buffers without gaps that stand for those of a call.
pub(super) struct PackedBuffers {
    /// They hold what the caller's buffers hold.
    pub(super) buffers: Buffers,
    _rooms: [Scratch; 2],
    is_output_packed: bool,
}

/// Whether shared memory needs buffers without gaps for such a collective on blocks of `block` bytes.
pub(super) const fn needs_no_gaps(collective: Collective, block: u64) -> bool {
    collective.reduces() || NodeGroup::may_show(block)
}

/// Whether shared memory needs the input, and the output, of this rank without gaps.
const fn needs(call: &Call) -> [bool; 2] {
    if !needs_no_gaps(call.collective, call.bytes()) {
        return [false, false];
    }
    let is_root = call.rank == call.root;
    match call.collective {
        Collective::Bcast | Collective::Scatter => [is_root, false],
        Collective::Gather => [false, is_root],
        Collective::Allgather | Collective::Alltoall => [!call.in_place, call.in_place],
        _ => [true, true],
    }
}

impl Buffers {
    /// The bytes of both directions, where each is one range, with or without gaps.
    const fn wholes(&self) -> Option<[&RawBytes; 2]> {
        match (&self.input, &self.output) {
            (Area::Whole(input), Area::Whole(output)) => Some([input, output]),
            _ => None,
        }
    }

    /// Whether one of the ranges has gaps.
    #[inline(always)]
    pub(super) const fn have_gaps(&self) -> bool {
        match self.wholes() {
            Some([input, output]) => input.has_gaps() || output.has_gaps(),
            None => false,
        }
    }
}

impl<A: Threading> Communicator<A> {
    /// Buffers without gaps where shared memory needs such, if it may serve the call. Other ranks do not depend on this.
    ///
    /// # Errors
    /// When there is no memory; the other ranks are notified.
    #[cold]
    pub(super) fn without_gaps(
        &self,
        call: &Call,
        given: &Buffers,
    ) -> Result<Option<PackedBuffers>> {
        let Some(wholes) = given.wholes() else {
            return Ok(None);
        };
        if !self.group().is_on_one_node() || !serves_in_node(call) {
            return Ok(None);
        }
        let needs = needs(call);
        let mut memory = [Scratch::default(), Scratch::default()];
        let mut packed = wholes.map(|&bytes| bytes);
        let places = packed.iter_mut().zip(&mut memory).zip(wholes).zip(needs);
        for (((bytes, room), whole), needed) in places {
            if !needed || !whole.has_gaps() {
                continue;
            }
            let place = match room.grow(whole.len()) {
                true => room.bytes().range(0, whole.len()),
                false => None,
            };
            let Some(place) = place else {
                let why = self.refused(&format_args!("no memory for {} B", whole.len()));
                return Err(self.members().end_collectives_for(why));
            };
            place.copy_from(whole);
            *bytes = place;
        }
        let [input, output] = packed.map(Area::Whole);
        Ok(Some(PackedBuffers {
            buffers: Buffers::new(input, output),
            _rooms: memory,
            is_output_packed: needs[1],
        }))
    }
}

impl PackedBuffers {
    /// Copies the result to the caller's buffer.
    pub(super) fn unpack(&self, given: &Buffers) {
        let output = given.output.whole();
        if self.is_output_packed && output.has_gaps() {
            output.copy_from(&self.buffers.output.whole());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_other_ranks_may_reach_has_no_gaps() {
        const LONG: u64 = 1 << 20;
        let in_place = |mut call: Call| {
            call.in_place = true;
            call
        };
        let (none, input, output, both) =
            ([false, false], [true, false], [false, true], [true, true]);
        for (call, expected) in [
            (Call::bcast(1, 2, 1, LONG), input),
            (Call::bcast(0, 2, 1, LONG), none),
            (Call::scatter(1, 2, 1, LONG), input),
            (Call::scatter(0, 2, 1, LONG), none),
            (Call::gather(1, 2, 1, LONG), output),
            (Call::gather(0, 2, 1, LONG), none),
            (Call::allgather(0, 2, LONG), input),
            (in_place(Call::allgather(0, 2, LONG)), output),
            (Call::alltoall(0, 2, LONG), input),
            (in_place(Call::alltoall(0, 2, LONG)), output),
            (Call::alltoall(0, 2, 1024), none),
            (Call::allreduce(0, 2, 1, 8), both),
        ] {
            assert_eq!(needs(&call), expected, "{call:?}");
        }
    }
}
