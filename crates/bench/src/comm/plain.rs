//! Default collectives over messages alone, each by the plainest algorithm: they serve a transport without
//! collectives of its own.
//!
//! All but the barrier are linear. A reduction needs one chunk of memory besides the caller's buffers.

use super::Done;
use crate::{Blocks, Comm, Source};
use core::iter::repeat_n;
use zerocopy::IntoBytes;

/// The tag of messages that belong to a collective.
const TAG: u32 = 4;

/// Numbers of a reduction in one message.
const CHUNK: usize = 1024;

/// Dissemination: after round r each rank has a signal from 2^r ranks, itself included.
pub(crate) fn barrier<C: Comm>(comm: &mut C) -> Done<C> {
    let (rank, size) = (comm.rank(), comm.size());
    let mut far = 1;
    while far < size {
        let (to, from) = ((rank + far) % size, (rank + size - far) % size);
        comm.sendrecv(&[], to, &mut [], Source::Rank(from), TAG)?;
        far *= 2;
    }
    Ok(())
}

pub(crate) fn bcast<C: Comm>(comm: &mut C, bytes: &mut [u8], root: usize) -> Done<C> {
    if comm.rank() != root {
        return comm.recv(bytes, Source::Rank(root), TAG);
    }
    let mut others = (0..comm.size()).filter(|&rank| rank != root);
    others.try_for_each(|rank| comm.send(bytes, rank, TAG))
}

pub(crate) fn gather<C: Comm>(
    comm: &mut C,
    mine: &[u8],
    all: Option<&mut [u8]>,
    root: usize,
) -> Done<C> {
    let lengths = repeat_n(mine.len(), comm.size());
    collect(comm, mine, all.map(|all| (all, lengths)), root)
}

pub(crate) fn gatherv<C: Comm>(
    comm: &mut C,
    mine: &[u8],
    all: Option<Blocks<'_, &mut [u8]>>,
    root: usize,
) -> Done<C> {
    let all = all.map(|all| (all.bytes, all.lengths.iter().copied()));
    collect(comm, mine, all, root)
}

/// Gathers parts of given lengths.
fn collect<C: Comm>(
    comm: &mut C,
    mine: &[u8],
    all: Option<(&mut [u8], impl Iterator<Item = usize>)>,
    root: usize,
) -> Done<C> {
    let Some((mut rest, lengths)) = all else {
        return comm.send(mine, root, TAG);
    };
    for (rank, length) in lengths.enumerate() {
        let part;
        (part, rest) = rest.split_at_mut(length);
        if rank == root {
            part.copy_from_slice(mine);
        } else {
            comm.recv(part, Source::Rank(rank), TAG)?;
        }
    }
    Ok(())
}

pub(crate) fn scatter<C: Comm>(
    comm: &mut C,
    all: Option<&[u8]>,
    mine: &mut [u8],
    root: usize,
) -> Done<C> {
    let lengths = repeat_n(mine.len(), comm.size());
    deal(comm, all.map(|all| (all, lengths)), mine, root)
}

pub(crate) fn scatterv<C: Comm>(
    comm: &mut C,
    all: Option<Blocks<'_, &[u8]>>,
    mine: &mut [u8],
    root: usize,
) -> Done<C> {
    let all = all.map(|all| (all.bytes, all.lengths.iter().copied()));
    deal(comm, all, mine, root)
}

/// Scatters parts of given lengths.
fn deal<C: Comm>(
    comm: &mut C,
    all: Option<(&[u8], impl Iterator<Item = usize>)>,
    mine: &mut [u8],
    root: usize,
) -> Done<C> {
    let Some((mut rest, lengths)) = all else {
        return comm.recv(mine, Source::Rank(root), TAG);
    };
    for (rank, length) in lengths.enumerate() {
        let part;
        (part, rest) = rest.split_at(length);
        if rank == root {
            mine.copy_from_slice(part);
        } else {
            comm.send(part, rank, TAG)?;
        }
    }
    Ok(())
}

pub(crate) fn allgather<C: Comm>(comm: &mut C, mine: &[u8], all: &mut [u8]) -> Done<C> {
    let root = comm.rank() == 0;
    comm.gather(mine, root.then_some(&mut *all), 0)?;
    comm.bcast(all, 0)
}

pub(crate) fn allgatherv<C: Comm>(
    comm: &mut C,
    mine: &[u8],
    Blocks { bytes, lengths }: Blocks<'_, &mut [u8]>,
) -> Done<C> {
    let root = (comm.rank() == 0).then(|| Blocks::new(&mut *bytes, lengths));
    comm.gatherv(mine, root, 0)?;
    comm.bcast(bytes, 0)
}

pub(crate) fn alltoall<C: Comm>(comm: &mut C, out: &[u8], into: &mut [u8]) -> Done<C> {
    let each = out.len() / comm.size();
    rounds(
        comm,
        out,
        into,
        |rank| (rank * each, each),
        |rank| (rank * each, each),
    )
}

pub(crate) fn alltoallv<C: Comm>(
    comm: &mut C,
    out: Blocks<'_, &[u8]>,
    into: Blocks<'_, &mut [u8]>,
) -> Done<C> {
    let block = |lengths: &[usize], rank| (lengths[..rank].iter().sum(), lengths[rank]);
    rounds(
        comm,
        out.bytes,
        into.bytes,
        |rank| block(out.lengths, rank),
        |rank| block(into.lengths, rank),
    )
}

/// Exchanges with every rank, in round r with those at distance r. The functions return the start and the
/// length of a rank's block.
fn rounds<C: Comm>(
    comm: &mut C,
    out: &[u8],
    into: &mut [u8],
    sent: impl Fn(usize) -> (usize, usize),
    received: impl Fn(usize) -> (usize, usize),
) -> Done<C> {
    let (rank, size) = (comm.rank(), comm.size());
    for far in 0..size {
        let (to, from) = ((rank + far) % size, (rank + size - far) % size);
        let ((start, length), (place, room)) = (sent(to), received(from));
        let (bytes, into) = (&out[start..][..length], &mut into[place..][..room]);
        if far == 0 {
            into.copy_from_slice(bytes);
        } else {
            comm.sendrecv(bytes, to, into, Source::Rank(from), TAG)?;
        }
    }
    Ok(())
}

pub(crate) fn reduce_sum<C: Comm>(
    comm: &mut C,
    from: &[f32],
    into: Option<&mut [f32]>,
    root: usize,
) -> Done<C> {
    let Some(into) = into else {
        let mut chunks = from.chunks(CHUNK);
        return chunks.try_for_each(|chunk| comm.send(chunk.as_bytes(), root, TAG));
    };
    into.copy_from_slice(from);
    let mut room = [0.0; CHUNK];
    for rank in (0..comm.size()).filter(|&rank| rank != root) {
        for sums in into.chunks_mut(CHUNK) {
            let numbers = &mut room[..sums.len()];
            comm.recv(numbers.as_mut_bytes(), Source::Rank(rank), TAG)?;
            for (sum, number) in sums.iter_mut().zip(numbers) {
                *sum += *number;
            }
        }
    }
    Ok(())
}

pub(crate) fn allreduce_sum<C: Comm>(comm: &mut C, from: &[f32], into: &mut [f32]) -> Done<C> {
    let root = comm.rank() == 0;
    comm.reduce_sum(from, root.then_some(&mut *into), 0)?;
    comm.bcast(into.as_mut_bytes(), 0)
}

pub(crate) fn reduce_scatter_block_sum<C: Comm>(
    comm: &mut C,
    from: &[f32],
    into: &mut [f32],
) -> Done<C> {
    let items = repeat_n(into.len(), comm.size());
    reduce_parts(comm, from, items, into)
}

pub(crate) fn reduce_scatter_sum<C: Comm>(
    comm: &mut C,
    from: &[f32],
    items: &[usize],
    into: &mut [f32],
) -> Done<C> {
    reduce_parts(comm, from, items.iter().copied(), into)
}

/// Reduces each part to its rank.
fn reduce_parts<C: Comm>(
    comm: &mut C,
    mut from: &[f32],
    items: impl Iterator<Item = usize>,
    into: &mut [f32],
) -> Done<C> {
    for (rank, items) in items.enumerate() {
        let part;
        (part, from) = from.split_at(items);
        let mine = comm.rank() == rank;
        comm.reduce_sum(part, mine.then_some(&mut *into), rank)?;
    }
    Ok(())
}
