//! Tests that started and persistent collectives have the results of the blocking form.

use oxmpi::collective::{self, Blocks};
use oxmpi::{Comm, Grid, Op, Result};

use super::blocks::lengths;
use super::values;
use crate::job::Job;

/// Runs a collective as a blocking call, as a started and as a persistent operation, each on a new copy of
/// `$out`, and compares the results. The persistent one runs `$runs` times: twice where the first run does
/// not change its input. `CALL as NAME` gives the blocking call another name than the operation.
macro_rules! in_all_forms {
    ($comm:ident, $out:ident = $fresh:expr, $runs:literal, $name:ident $args:tt) => {
        in_all_forms!($comm, $out = $fresh, $runs, $name as $name $args)
    };
    ($comm:ident, $out:ident = $fresh:expr, $runs:literal, $call:ident as $name:ident $args:tt) => {{
        #![allow(unused_mut, reason = "some only read it")]
        let fresh: Vec<u64> = $fresh;
        let expected = {
            let mut $out = fresh.clone();
            $comm.$call $args?;
            $out
        };
        let mut $out = fresh.clone();
        $comm.scope(|s| s.start(collective::$name $args)?.wait().map(drop))?;
        assert!($out == expected, "started: {}", stringify!($name));
        let mut $out = fresh;
        {
            let mut again = $comm.persistent(collective::$name $args)?;
            for _ in 0..$runs {
                again.run()?;
            }
        }
        assert!($out == expected, "persistent: {}", stringify!($name));
    }};
}

/// Collectives with blocks of one length, and reductions of whole vectors.
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
        bcast_into as bcast(&mut out, root)
    );
    in_all_forms!(
        comm,
        out = vec![0; at_root(room)],
        2,
        gather_into as gather(&mine, (rank == root).then_some(&mut out[..]), root)
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        scatter_into as scatter((rank == root).then_some(&wide[..]), &mut out, root)
    );
    in_all_forms!(
        comm,
        out = vec![0; room],
        2,
        allgather_into as allgather(&mine, &mut out)
    );
    in_all_forms!(comm, out = wide.clone(), 2, allgather_in_place(&mut out));
    in_all_forms!(
        comm,
        out = vec![0; room],
        2,
        alltoall_into as alltoall(&wide, &mut out)
    );
    in_all_forms!(comm, out = wide.clone(), 1, alltoall_in_place(&mut out));
    in_all_forms!(comm, out = vec![0; at_root(len)], 2, reduce_into as reduce(&mine, (rank == root).then_some(&mut out[..]), Op::SUM, root));
    in_all_forms!(
        comm,
        out = mine.clone(),
        1,
        reduce_in_place(&mut out, Op::SUM, root)
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        allreduce_into as allreduce(&mine, &mut out, Op::SUM)
    );
    in_all_forms!(
        comm,
        out = mine.clone(),
        1,
        allreduce_in_place(&mut out, Op::SUM)
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        reduce_scatter_block_into as reduce_scatter_block(&wide, &mut out, Op::SUM)
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        scan_into as scan(&mine, &mut out, Op::SUM)
    );
    in_all_forms!(
        comm,
        out = mine.clone(),
        1,
        scan_in_place(&mut out, Op::SUM)
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        exscan_into as exscan(&mine, &mut out, Op::SUM)
    );
    in_all_forms!(
        comm,
        out = mine.clone(),
        1,
        exscan_in_place(&mut out, Op::SUM)
    );
    Ok(())
}

/// Gather and scatter in place: the root's own block is at its position; the other ranks make the ordinary
/// calls.
fn in_place_at_the_root(comm: &Comm, len: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    if rank != 0 {
        in_all_forms!(comm, out = values(rank, len), 2, gather_into as gather(&out, None, 0));
        in_all_forms!(
            comm,
            out = vec![0; len],
            2,
            scatter_into as scatter(None::<&[u64]>, &mut out, 0)
        );
        return Ok(());
    }
    let wide = values(rank, len * size);
    in_all_forms!(comm, out = wide.clone(), 2, gather_in_place(&mut out));
    in_all_forms!(comm, out = wide, 2, scatter_in_place(&out));
    Ok(())
}

/// Collectives with a block length for each rank.
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
        gatherv(
            &mine,
            (rank == root).then(|| Blocks::packed(&mut out[..], &counts)),
            root
        )
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        scatterv(
            (rank == root).then(|| Blocks::packed(&all[..], &counts)),
            &mut out,
            root
        )
    );
    in_all_forms!(
        comm,
        out = vec![0; total],
        2,
        allgatherv(&mine, Blocks::packed(&mut out[..], &counts))
    );
    in_all_forms!(
        comm,
        out = all.clone(),
        2,
        allgatherv_in_place(Blocks::packed(&mut out[..], &counts))
    );
    in_all_forms!(
        comm,
        out = none(),
        2,
        reduce_scatter(&all, &counts, &mut out, Op::SUM)
    );
    // Every rank sends `counts[r]` elements to rank r.
    let received = vec![counts[rank]; size];
    in_all_forms!(
        comm,
        out = vec![0; counts[rank] * size],
        2,
        alltoallv(
            Blocks::packed(&all[..], &counts),
            Blocks::packed(&mut out[..], &received)
        )
    );
    let between: Vec<_> = (0..size).map(|other| counts[rank.min(other)]).collect();
    in_all_forms!(
        comm,
        out = values(rank, between.iter().sum()),
        1,
        alltoallv_in_place(Blocks::packed(&mut out[..], &between))
    );
    Ok(())
}

/// Neighbourhood collectives on a ring, where each rank has two neighbours.
fn with_neighbors(ring: &Comm, len: usize) -> Result<()> {
    let (mine, both) = (values(ring.rank(), len), values(ring.rank(), 2 * len));
    let counts = [len; 2];
    in_all_forms!(
        ring,
        out = vec![0; 2 * len],
        2,
        neighbor_allgather_into as neighbor_allgather(&mine, &mut out)
    );
    in_all_forms!(
        ring,
        out = vec![0; 2 * len],
        2,
        neighbor_allgatherv(&mine, Blocks::packed(&mut out[..], &counts))
    );
    in_all_forms!(
        ring,
        out = vec![0; 2 * len],
        2,
        neighbor_alltoall_into as neighbor_alltoall(&both, &mut out)
    );
    in_all_forms!(
        ring,
        out = vec![0; 2 * len],
        2,
        neighbor_alltoallv(
            Blocks::packed(&both[..], &counts),
            Blocks::packed(&mut out[..], &counts)
        )
    );
    Ok(())
}

#[test]
fn started_and_persistent_collectives_have_the_results_of_blocking_ones() {
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
