//! Tests of collectives with block lengths per rank: uneven blocks, empty blocks, gaps, in place.

use oxmpi::collective::Blocks;
use oxmpi::{Comm, Op, Result, Threading};

use super::{fold, values};
use crate::job::{Job, for_each_algorithm};

/// Ranks of a job.
const SIZES: [usize; 6] = [1, 2, 3, 4, 7, 8];

/// Lengths of the ranks' blocks, by `kind`: equal, some empty, one long, alternating, all empty.
pub(super) fn lengths(kind: usize, size: usize) -> Vec<usize> {
    let one = |rank: usize| match kind {
        0 => 3,
        1 => rank * 5 % 7 * 100,
        2 => usize::from(rank == size / 2) * 20_000,
        3 => 1 + rank % 2 * 4_000,
        _ => 0,
    };
    (0..size).map(one).collect()
}

const KINDS: std::ops::Range<usize> = 0..5;

/// The starts of blocks in reverse order with gaps between them, and the length of the buffer.
fn spread(counts: &[usize]) -> (Vec<usize>, usize) {
    let mut next = 2;
    let mut starts = vec![0; counts.len()];
    for (start, count) in starts.iter_mut().zip(counts).rev() {
        *start = next;
        next += count + 3;
    }
    (starts, next)
}

/// Content of the gaps, which must not change.
const GAP: u64 = 0xfeed;

/// A buffer with the blocks at `starts` and [`GAP`] elsewhere.
fn laid(blocks: &[Vec<u64>], starts: &[usize], room: usize) -> Vec<u64> {
    let mut all = vec![GAP; room];
    for (block, &start) in blocks.iter().zip(starts) {
        all[start..start + block.len()].copy_from_slice(block);
    }
    all
}

pub(super) fn gatherv_and_scatterv<A: Threading>(
    comm: &Comm<A>,
    root: usize,
    counts: &[usize],
) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let blocks: Vec<_> = (0..size).map(|rank| values(rank, counts[rank])).collect();
    let (starts, room) = spread(counts);
    let expected = laid(&blocks, &starts, room);
    let mine = &blocks[rank];
    let mut own = vec![0; counts[rank]];
    if rank == root {
        let mut all = vec![GAP; room];
        let here = Blocks::at(&mut all[..], counts, &starts);
        comm.gatherv(mine, Some(here), root)?;
        assert!(all == expected, "gatherv of {counts:?} to {root}");
        let here = Blocks::at(&all[..], counts, &starts);
        comm.scatterv(Some(here), &mut own, root)?;
        assert!(own == *mine, "scatterv of {counts:?} from {root}");

        let mut all = vec![GAP; room];
        all[starts[rank]..][..mine.len()].copy_from_slice(mine);
        comm.gatherv_in_place(Blocks::at(&mut all[..], counts, &starts))?;
        assert!(all == expected, "gatherv of {counts:?} to {root} in place");
        comm.scatterv_in_place(Blocks::at(&all[..], counts, &starts))
    } else {
        comm.gatherv(mine, None, root)?;
        comm.scatterv(None, &mut own, root)?;
        assert!(own == *mine, "scatterv of {counts:?} from {root}");
        comm.gatherv(mine, None, root)?;
        own.fill(0);
        comm.scatterv(None, &mut own, root)?;
        assert!(own == *mine, "scatterv of {counts:?} from {root} in place");
        Ok(())
    }
}

pub(super) fn allgatherv<A: Threading>(comm: &Comm<A>, counts: &[usize]) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let blocks: Vec<_> = (0..size).map(|rank| values(rank, counts[rank])).collect();
    let (starts, room) = spread(counts);
    let expected = laid(&blocks, &starts, room);
    let mut all = vec![GAP; room];
    comm.allgatherv(&blocks[rank], Blocks::at(&mut all[..], counts, &starts))?;
    assert!(all == expected, "allgatherv of {counts:?}");
    let mut all = vec![GAP; room];
    all[starts[rank]..][..counts[rank]].copy_from_slice(&blocks[rank]);
    comm.allgatherv_in_place(Blocks::at(&mut all[..], counts, &starts))?;
    assert!(all == expected, "allgatherv of {counts:?} in place");
    let mut packed = vec![GAP; counts.iter().sum()];
    comm.allgatherv(&blocks[rank], Blocks::packed(&mut packed[..], counts))?;
    assert!(
        packed == blocks.concat(),
        "allgatherv of {counts:?}, packed"
    );
    Ok(())
}

/// The block that rank `from` sends to rank `to`; the reverse block has another length.
fn share(kind: usize, size: usize, from: usize, to: usize) -> Vec<u64> {
    let len = lengths(kind, size)[(from + 2 * to) % size];
    values(from * 100 + to, len)
}

pub(super) fn alltoallv<A: Threading>(comm: &Comm<A>, kind: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let counts = |blocks: &[Vec<u64>]| blocks.iter().map(Vec::len).collect::<Vec<_>>();
    let sent: Vec<_> = (0..size).map(|to| share(kind, size, rank, to)).collect();
    let received: Vec<_> = (0..size)
        .map(|from| share(kind, size, from, rank))
        .collect();
    let (send_counts, recv_counts) = (counts(&sent), counts(&received));
    let (send_starts, send_room) = spread(&send_counts);
    let (recv_starts, recv_room) = spread(&recv_counts);
    let input = laid(&sent, &send_starts, send_room);
    let mut output = vec![GAP; recv_room];
    comm.alltoallv(
        Blocks::at(&input[..], &send_counts, &send_starts),
        Blocks::at(&mut output[..], &recv_counts, &recv_starts),
    )?;
    let expected = laid(&received, &recv_starts, recv_room);
    assert!(output == expected, "alltoallv of kind {kind}");

    // The same as bytes, with a slice for each rank.
    let bytes = |block: &Vec<u64>| block.iter().flat_map(|x| x.to_ne_bytes()).collect();
    let sent: Vec<Vec<u8>> = sent.iter().map(bytes).collect();
    let mut rooms: Vec<Vec<u8>> = received
        .iter()
        .map(|block| vec![0; 8 * block.len()])
        .collect();
    let sent: Vec<&[u8]> = sent.iter().map(Vec::as_slice).collect();
    let mut result: Vec<&mut [u8]> = rooms.iter_mut().map(Vec::as_mut_slice).collect();
    comm.alltoallw(&sent, &mut result)?;
    let expected: Vec<Vec<u8>> = received.iter().map(bytes).collect();
    assert!(rooms == expected, "alltoallw of kind {kind}");

    // In place, both blocks of two ranks have the same length.
    let len = |a: usize, b: usize| lengths(kind, size)[a.min(b)];
    let of = |from: usize, to: usize| values(from * 100 + to, len(from, to));
    let sent: Vec<_> = (0..size).map(|to| of(rank, to)).collect();
    let received: Vec<_> = (0..size).map(|from| of(from, rank)).collect();
    let counts = counts(&sent);
    let (starts, room) = spread(&counts);
    let mut all = laid(&sent, &starts, room);
    comm.alltoallv_in_place(Blocks::at(&mut all[..], &counts, &starts))?;
    assert!(
        all == laid(&received, &starts, room),
        "alltoallv of kind {kind} in place"
    );
    let mut rooms: Vec<Vec<u8>> = sent.iter().map(bytes).collect();
    let mut values: Vec<&mut [u8]> = rooms.iter_mut().map(Vec::as_mut_slice).collect();
    comm.alltoallw_in_place(&mut values)?;
    let expected: Vec<Vec<u8>> = received.iter().map(bytes).collect();
    assert!(rooms == expected, "alltoallw of kind {kind} in place");
    Ok(())
}

pub(super) fn reduce_scatter(comm: &Comm, counts: &[usize]) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let total = counts.iter().sum();
    let start: usize = counts[..rank].iter().sum();
    let expected: Vec<_> = (start..start + counts[rank])
        .map(|i| fold(size, i, u64::wrapping_add))
        .collect();
    let mut mine = values(rank, total);
    let mut result = vec![0; counts[rank]];
    comm.reduce_scatter(&mine, counts, &mut result, Op::SUM)?;
    assert!(result == expected, "reduce_scatter of {counts:?}");
    comm.reduce_scatter_in_place(&mut mine, counts, Op::SUM)?;
    assert!(
        mine[..counts[rank]] == expected,
        "reduce_scatter of {counts:?} in place"
    );
    Ok(())
}

#[test]
fn gatherv_and_scatterv_are_right_with_every_root() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            for kind in KINDS {
                for root in 0..comm.size() {
                    gatherv_and_scatterv(comm, root, &lengths(kind, comm.size()))?;
                }
            }
            comm.barrier()
        });
    }
}

#[test]
fn allgatherv_and_alltoallv_are_right_with_all_kinds_of_lengths() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            for kind in KINDS {
                allgatherv(world.comm(), &lengths(kind, world.comm().size()))?;
                alltoallv(world.comm(), kind)?;
            }
            Ok(())
        });
    }
}

#[test]
fn reduce_scatter_is_right_with_all_kinds_of_lengths() {
    for ranks in SIZES {
        for algorithm in ["auto", "pairwise", "circulant"] {
            let job = Job::of(ranks).with("OXMPI_REDUCE_SCATTER_ALGORITHM", algorithm);
            job.succeed(|world| {
                let comm = world.comm();
                KINDS
                    .into_iter()
                    .try_for_each(|kind| reduce_scatter(comm, &lengths(kind, comm.size())))
            });
        }
    }
}

#[test]
fn collectives_of_blocks_are_right_by_every_algorithm() {
    for ranks in for_each_algorithm(&[2, 7]) {
        for (tree, round, pairs) in [
            ("knomial", "bruck", "pairwise"),
            ("linear", "ring", "linear"),
            ("auto", "circulant", "auto"),
            ("auto", "linear", "auto"),
        ] {
            Job::of(ranks)
                .with("OXMPI_GATHERV_ALGORITHM", tree)
                .with("OXMPI_SCATTERV_ALGORITHM", tree)
                .with("OXMPI_ALLGATHERV_ALGORITHM", round)
                .with("OXMPI_ALLTOALLV_ALGORITHM", pairs)
                .succeed(|world| {
                    let comm = world.comm();
                    for kind in KINDS {
                        let lengths = lengths(kind, comm.size());
                        gatherv_and_scatterv(comm, comm.size() - 1, &lengths)?;
                        allgatherv(comm, &lengths)?;
                        alltoallv(comm, kind)?;
                    }
                    comm.barrier()
                });
        }
    }
}

#[test]
fn collectives_of_blocks_are_right_on_parts_and_shared_communicators() {
    Job::of(7).succeed(|world| {
        let comm = world.comm();
        let part = comm.split(Some(comm.rank() as u32 % 2), -(comm.rank() as i32))?;
        let part = part.expect("every rank has a colour");
        let shared = comm.share()?;
        for kind in KINDS {
            gatherv_and_scatterv(&part, 0, &lengths(kind, part.size()))?;
            allgatherv(&part, &lengths(kind, part.size()))?;
            alltoallv(&part, kind)?;
            gatherv_and_scatterv(&shared, 2, &lengths(kind, shared.size()))?;
            allgatherv(&shared, &lengths(kind, shared.size()))?;
            alltoallv(&shared, kind)?;
        }
        comm.barrier()
    });
}
