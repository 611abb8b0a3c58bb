//! Tests of neighbourhood collectives on grids and graphs.

use oxmpi::collective::Blocks;
use oxmpi::{Comm, Grid, Result};

use super::values;
use crate::job::Job;

/// Shapes of grids and whether each dimension is periodic: lines, rings of one and two ranks, where both
/// neighbours are the same rank, and tori.
const GRIDS: [(&[usize], &[bool]); 8] = [
    (&[1], &[true]),
    (&[1], &[false]),
    (&[2], &[true]),
    (&[3], &[false]),
    (&[2, 2], &[true, false]),
    (&[4, 1], &[true, true]),
    (&[7], &[true]),
    (&[2, 2, 2], &[true, true, false]),
];

/// Content of the blocks of missing neighbours, which must not change.
const UNTOUCHED: u64 = 0xfeed;

/// The block that `from` sends to its neighbour number `place`.
fn sent(from: usize, place: usize, len: usize) -> Vec<u64> {
    values(from * 10 + place, len)
}

/// Runs neighbourhood collectives on a grid. A rank receives from neighbour `2 d` the block that this
/// neighbour sends to its own neighbour `2 d + 1`, and the reverse.
fn on_grid(comm: &Comm, grid: Grid, len: usize) -> Result<()> {
    let cart = comm.cart(grid.clone())?;
    let Some(cart) = cart else {
        assert!(comm.rank() >= grid.size());
        return Ok(());
    };
    assert_eq!((cart.rank(), cart.size()), (comm.rank(), grid.size()));
    let dimensions = grid.dimensions().len();
    let neighbors: Vec<_> = (0..dimensions).flat_map(|d| cart.shift(d, 1)).collect();
    let places = 0..neighbors.len();
    let expected = |of: &dyn Fn(usize, usize) -> Vec<u64>| {
        let blocks = places.clone().map(|place| match neighbors[place] {
            Some(from) => of(from, place ^ 1),
            None => vec![UNTOUCHED; of(0, 0).len()],
        });
        blocks.collect::<Vec<_>>().concat()
    };

    let mut all = vec![UNTOUCHED; len * neighbors.len()];
    cart.neighbor_allgather_into(&values(cart.rank(), len), &mut all)?;
    assert!(
        all == expected(&|from, _| values(from, len)),
        "allgather on {grid:?}"
    );

    let blocks: Vec<_> = places
        .clone()
        .map(|place| sent(cart.rank(), place, len))
        .collect();
    all.fill(UNTOUCHED);
    cart.neighbor_alltoall_into(&blocks.concat(), &mut all)?;
    assert!(
        all == expected(&|from, place| sent(from, place, len)),
        "alltoall on {grid:?}"
    );

    let counts = vec![len; neighbors.len()];
    all.fill(UNTOUCHED);
    let room = Blocks::packed(&mut all[..], &counts);
    cart.neighbor_alltoallv(Blocks::packed(&blocks.concat()[..], &counts), room)?;
    assert!(
        all == expected(&|from, place| sent(from, place, len)),
        "alltoallv on {grid:?}"
    );
    Ok(())
}

#[test]
fn neighborhood_collectives_are_right_on_grids() {
    for (ranks, periodic) in GRIDS {
        let ranks: usize = ranks.iter().product();
        let job = Job::of(ranks + 1).with("GRID", &format!("{ranks} {periodic:?}"));
        job.succeed(|world| {
            let name = std::env::var("GRID").expect("set");
            let mine = |(ranks, periodic): &(&[usize], &[bool])| {
                name == format!("{} {periodic:?}", ranks.iter().product::<usize>())
            };
            for (ranks, periodic) in GRIDS.into_iter().filter(mine) {
                for len in [0, 1, 3000] {
                    on_grid(world.comm(), Grid::new(ranks, periodic), len)?;
                }
            }
            world.comm().barrier()
        });
    }
}

/// Rank r sends to all ranks below it, and twice to itself.
fn edges(size: usize) -> Vec<[usize; 2]> {
    let below = |from: usize| (0..from).map(move |to| [from, to]);
    let itself = |rank: usize| [[rank, rank]; 2];
    (0..size)
        .flat_map(|rank| below(rank).chain(itself(rank)))
        .collect()
}

#[test]
fn neighborhood_collectives_are_right_on_graphs() {
    for ranks in [1, 2, 4, 7] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, edges) = (comm.rank(), edges(comm.size()));
            let out = edges.iter().filter(|edge| edge[0] == rank);
            let sources = edges.iter().filter(|edge| edge[1] == rank);
            let (out, sources): (Vec<_>, Vec<_>) = (
                out.map(|edge| edge[1]).collect(),
                sources.map(|edge| edge[0]).collect(),
            );
            let graph = comm.graph(&sources, &out)?;
            let copy = graph.dup()?;
            drop(graph);
            for len in [1, 2000] {
                let mut all = vec![0; len * sources.len()];
                copy.neighbor_allgather_into(&values(rank, len), &mut all)?;
                let expected: Vec<_> = sources.iter().flat_map(|&from| values(from, len)).collect();
                assert!(all == expected, "allgather of {len}");
            }
            // Every edge has a length of its own.
            let len = |from: usize, to: usize| (from + to) % 3 * 500;
            let lengths = |edge: fn(usize, usize) -> (usize, usize), others: &[usize]| {
                let of = |&other: &usize| {
                    let (from, to) = edge(rank, other);
                    len(from, to)
                };
                others.iter().map(of).collect::<Vec<_>>()
            };
            let send_counts = lengths(|rank, to| (rank, to), &out);
            let recv_counts = lengths(|rank, from| (from, rank), &sources);
            let block = |from: usize, to: usize| values(from * 10 + to, len(from, to));
            let input: Vec<_> = out.iter().flat_map(|&to| block(rank, to)).collect();
            let expected: Vec<_> = sources.iter().flat_map(|&from| block(from, rank)).collect();
            let mut output = vec![0; expected.len()];
            copy.neighbor_alltoallv(
                Blocks::packed(&input[..], &send_counts),
                Blocks::packed(&mut output[..], &recv_counts),
            )?;
            assert!(output == expected, "alltoallv");

            // alltoallw of separate buffers of bytes, and allgatherv with a length for each rank.
            let sent = vec![[rank as u8; 3]; out.len()];
            let sent: Vec<&[u8]> = sent.iter().map(|bytes| &bytes[..]).collect();
            let mut rooms = vec![[0u8; 3]; sources.len()];
            let mut result: Vec<&mut [u8]> = rooms.iter_mut().map(|room| &mut room[..]).collect();
            copy.neighbor_alltoallw(&sent, &mut result)?;
            let expected: Vec<_> = sources.iter().map(|&from| [from as u8; 3]).collect();
            assert_eq!(rooms, expected);
            let counts: Vec<_> = sources.iter().map(|&from| from * 3).collect();
            let mut all = vec![0; counts.iter().sum()];
            let room = Blocks::packed(&mut all[..], &counts);
            copy.neighbor_allgatherv(&values(rank, rank * 3), room)?;
            let expected: Vec<_> = sources
                .iter()
                .flat_map(|&from| values(from, from * 3))
                .collect();
            assert!(all == expected, "allgatherv");
            copy.barrier()
        });
    }
}

#[test]
fn slices_of_grids_have_their_ranks_and_neighbors() {
    Job::of(7).succeed(|world| {
        let comm = world.comm();
        let Some(cart) = comm.cart(Grid::new(&[2, 3], &[false, true]))? else {
            return comm.barrier();
        };
        let row = cart.slice(&[false, true])?;
        assert_eq!(row.grid(), &Grid::new(&[3], &[true]));
        assert_eq!(row.rank(), cart.coordinates()[1]);
        let mut around = [0; 2];
        row.neighbor_allgather_into(&[cart.rank()], &mut around)?;
        let expected = [-1, 1].map(|by| cart.grid().along(cart.rank(), 1, by).expect("a ring"));
        assert_eq!(around, expected);
        let point = cart.slice(&[])?;
        assert_eq!((point.size(), point.coordinates()), (1, vec![]));
        comm.barrier()
    });
}

/// Wrong neighbours are an error on all ranks, and the communicator still works.
#[test]
fn wrong_neighbors_are_refused_on_all_ranks() {
    Job::of(3).succeed(|world| {
        let comm = world.comm();
        let me = comm.rank();
        let none = comm
            .neighbor_allgather_into(&[1u8], &mut [])
            .expect_err("no neighbours");
        let why = "this communicator has no neighbours; make a Cart or a Graph of it";
        assert_eq!(
            none.to_string(),
            format!("a collective on rank {me}: {why}")
        );
        let large = comm.cart(Grid::new(&[2, 2], &[])).expect_err("too many");
        assert_eq!(
            large.to_string(),
            format!("a collective on rank {me}: a grid of 4 ranks is to have 1 to 3")
        );
        // Rank 0 names rank 1 as a destination, and rank 1 does not name rank 0 as a source.
        let out: &[usize] = if me == 0 { &[1] } else { &[] };
        let error = comm.graph(&[], out).expect_err("one-sided").to_string();
        let expected = match me {
            1 => "rank 0 sends to it 1 times, and it names that rank as a source 0 times",
            _ => "another rank's neighbours are wrong",
        };
        assert!(error.ends_with(expected), "{error}");
        let wrong: &[usize] = if me == 2 { &[3] } else { &[] };
        let error = comm
            .graph(wrong, &[])
            .expect_err("no such rank")
            .to_string();
        let expected = match me {
            2 => "rank 2 named rank 3, but the communicator has ranks 0 to 2",
            _ => "another rank's neighbours are wrong",
        };
        assert!(error.ends_with(expected), "{error}");
        comm.barrier()
    });
}
