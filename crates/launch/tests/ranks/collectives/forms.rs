//! The forms of a collective: started and persistent ones bring what the blocking one does, which others hold
//! against what one process computes.

use oxmpi::collective::{self, Blocks};
use oxmpi::{Comm, Grid, Op, Result};

use super::blocks::lengths;
use super::values;
use crate::job::Job;

/// Does the same three times on what `$out` is at the start: as a call, started, and persistent, which runs
/// twice where the first run leaves the values as they were.
macro_rules! in_all_forms {
    ($comm:ident, $out:ident = $fresh:expr, $runs:literal, $call:expr, $described:expr) => {{
        #![allow(unused_mut, reason = "some only read it")]
        let fresh: Vec<u64> = $fresh;
        let expected = {
            let mut $out = fresh.clone();
            $call?;
            $out
        };
        let mut $out = fresh.clone();
        $comm.scope(|s| s.start($described)?.wait().map(drop))?;
        assert!($out == expected, "started: {}", stringify!($described));
        let mut $out = fresh;
        {
            let mut again = $comm.persistent($described)?;
            for _ in 0..$runs {
                again.run()?;
            }
        }
        assert!($out == expected, "persistent: {}", stringify!($described));
    }};
}

/// Those whose blocks have one length, and reductions of whole vectors.
fn of_one_length(comm: &Comm, len: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let (root, room) = (size - 1, len * size);
    let at_root = |len: usize| if rank == root { len } else { 0 };
    let (mine, wide) = (values(rank, len), values(rank, room));
    let none = || vec![0; len];
    in_all_forms!(
        comm,
        out = mine.clone(),
        2,
        comm.bcast(&mut out, root),
        collective::bcast(&mut out, root)
    );
    in_all_forms!(
        comm,
        out = vec![0; at_root(room)],
        2,
        comm.gather(&mine, (rank == root).then_some(&mut out[..]), root),
        collective::gather(&mine, (rank == root).then_some(&mut out[..]), root)
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        comm.scatter((rank == root).then_some(&wide[..]), &mut out, root),
        collective::scatter((rank == root).then_some(&wide), &mut out, root)
    );
    in_all_forms!(
        comm,
        out = vec![0; room],
        2,
        comm.allgather(&mine, &mut out),
        collective::allgather(&mine, &mut out)
    );
    in_all_forms!(
        comm,
        out = wide.clone(),
        2,
        comm.allgather_in_place(&mut out),
        collective::allgather_in_place(&mut out)
    );
    in_all_forms!(
        comm,
        out = vec![0; room],
        2,
        comm.alltoall(&wide, &mut out),
        collective::alltoall(&wide, &mut out)
    );
    in_all_forms!(
        comm,
        out = wide.clone(),
        1,
        comm.alltoall_in_place(&mut out),
        collective::alltoall_in_place(&mut out)
    );
    in_all_forms!(
        comm,
        out = vec![0; at_root(len)],
        2,
        comm.reduce_into(&mine, (rank == root).then_some(&mut out[..]), Op::SUM, root),
        collective::reduce(&mine, (rank == root).then_some(&mut out[..]), Op::SUM, root)
    );
    in_all_forms!(
        comm,
        out = mine.clone(),
        1,
        comm.reduce_in_place(&mut out, Op::SUM, root),
        collective::reduce_in_place(&mut out, Op::SUM, root)
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        comm.allreduce_into(&mine, &mut out, Op::SUM),
        collective::allreduce(&mine, &mut out, Op::SUM)
    );
    in_all_forms!(
        comm,
        out = mine.clone(),
        1,
        comm.allreduce_in_place(&mut out, Op::SUM),
        collective::allreduce_in_place(&mut out, Op::SUM)
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        comm.reduce_scatter_block(&wide, &mut out, Op::SUM),
        collective::reduce_scatter_block(&wide, &mut out, Op::SUM)
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        comm.scan_into(&mine, &mut out, Op::SUM),
        collective::scan(&mine, &mut out, Op::SUM)
    );
    in_all_forms!(
        comm,
        out = mine.clone(),
        1,
        comm.scan_in_place(&mut out, Op::SUM),
        collective::scan_in_place(&mut out, Op::SUM)
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        comm.exscan_into(&mine, &mut out, Op::SUM),
        collective::exscan(&mine, &mut out, Op::SUM)
    );
    in_all_forms!(
        comm,
        out = mine.clone(),
        1,
        comm.exscan_in_place(&mut out, Op::SUM),
        collective::exscan_in_place(&mut out, Op::SUM)
    );
    Ok(())
}

/// The root's own block is where it belongs; the other ranks have nothing in place.
fn in_place_at_the_root(comm: &Comm, len: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    if rank != 0 {
        in_all_forms!(
            comm,
            out = values(rank, len),
            2,
            comm.gather(&out, None, 0),
            collective::gather(&out, None, 0)
        );
        in_all_forms!(
            comm,
            out = vec![0; len],
            2,
            comm.scatter(None, &mut out, 0),
            collective::scatter(None::<&[u64]>, &mut out, 0)
        );
        return Ok(());
    }
    let wide = values(rank, len * size);
    in_all_forms!(
        comm,
        out = wide.clone(),
        2,
        comm.gather_in_place(&mut out),
        collective::gather_in_place(&mut out)
    );
    in_all_forms!(
        comm,
        out = wide,
        2,
        comm.scatter_in_place(&out),
        collective::scatter_in_place(&out)
    );
    Ok(())
}

/// Those whose blocks have lengths of their own.
fn of_any_lengths(comm: &Comm, kind: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let (root, counts) = (size - 1, lengths(kind, size));
    let total: usize = counts.iter().sum();
    let at_root = if rank == root { total } else { 0 };
    let (mine, all) = (values(rank, counts[rank]), values(rank, total));
    let none = || vec![0; counts[rank]];
    in_all_forms!(
        comm,
        out = vec![0; at_root],
        2,
        {
            let room = (rank == root).then(|| Blocks::packed(&mut out[..], &counts));
            comm.gatherv(&mine, room, root)
        },
        {
            let room = (rank == root).then(|| Blocks::packed(&mut out[..], &counts));
            collective::gatherv(&mine, room, root)
        }
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        {
            let given = (rank == root).then(|| Blocks::packed(&all[..], &counts));
            comm.scatterv(given, &mut out, root)
        },
        {
            let given = (rank == root).then(|| Blocks::packed(&all, &counts));
            collective::scatterv(given, &mut out, root)
        }
    );
    in_all_forms!(
        comm,
        out = vec![0; total],
        2,
        comm.allgatherv(&mine, Blocks::packed(&mut out[..], &counts)),
        collective::allgatherv(&mine, Blocks::packed(&mut out[..], &counts))
    );
    in_all_forms!(
        comm,
        out = all.clone(),
        2,
        comm.allgatherv_in_place(Blocks::packed(&mut out[..], &counts)),
        collective::allgatherv_in_place(Blocks::packed(&mut out[..], &counts))
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        comm.reduce_scatter(&all, &counts, &mut out, Op::SUM),
        collective::reduce_scatter(&all, &counts, &mut out, Op::SUM)
    );
    // Each gives every rank as much as that one has.
    let received = vec![counts[rank]; size];
    in_all_forms!(
        comm,
        out = vec![0; counts[rank] * size],
        2,
        comm.alltoallv(
            Blocks::packed(&all[..], &counts),
            Blocks::packed(&mut out[..], &received)
        ),
        collective::alltoallv(
            Blocks::packed(&all, &counts),
            Blocks::packed(&mut out[..], &received)
        )
    );
    let between: Vec<_> = (0..size).map(|other| counts[rank.min(other)]).collect();
    in_all_forms!(
        comm,
        out = values(rank, between.iter().sum()),
        1,
        comm.alltoallv_in_place(Blocks::packed(&mut out[..], &between)),
        collective::alltoallv_in_place(Blocks::packed(&mut out[..], &between))
    );
    Ok(())
}

/// Those with neighbours, on a ring: two of each rank.
fn with_neighbors(ring: &Comm, len: usize) -> Result<()> {
    let (mine, both) = (values(ring.rank(), len), values(ring.rank(), 2 * len));
    let counts = [len; 2];
    in_all_forms!(
        ring,
        out = vec![0; 2 * len],
        2,
        ring.neighbor_allgather(&mine, &mut out),
        collective::neighbor_allgather(&mine, &mut out)
    );
    in_all_forms!(
        ring,
        out = vec![0; 2 * len],
        2,
        ring.neighbor_allgatherv(&mine, Blocks::packed(&mut out[..], &counts)),
        collective::neighbor_allgatherv(&mine, Blocks::packed(&mut out[..], &counts))
    );
    in_all_forms!(
        ring,
        out = vec![0; 2 * len],
        2,
        ring.neighbor_alltoall(&both, &mut out),
        collective::neighbor_alltoall(&both, &mut out)
    );
    in_all_forms!(
        ring,
        out = vec![0; 2 * len],
        2,
        ring.neighbor_alltoallv(
            Blocks::packed(&both[..], &counts),
            Blocks::packed(&mut out[..], &counts)
        ),
        collective::neighbor_alltoallv(
            Blocks::packed(&both, &counts),
            Blocks::packed(&mut out[..], &counts)
        )
    );
    Ok(())
}

#[test]
fn all_forms_bring_the_same() {
    for ranks in [1, 2, 3, 4, 7] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            for len in [1, 60, 5000] {
                of_one_length(comm, len)?;
                in_place_at_the_root(comm, len)?;
            }
            for kind in 0..5 {
                of_any_lengths(comm, kind)?;
            }
            let ring = comm.cart(Grid::new(&[comm.size()], &[true]))?;
            with_neighbors(&ring.expect("every rank has a place"), 300)?;
            comm.barrier()
        });
    }
}
