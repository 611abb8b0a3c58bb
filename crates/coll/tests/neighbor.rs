//! The checker on neighbourhood collectives: grids in which both neighbours may be the same rank or the
//! rank itself, and graphs with several edges between two ranks.

use std::sync::Arc;

use oxmpi_coll::catalog::{Algorithm, Call, Collective, PROC_NULL, Parameters};
use oxmpi_coll::check::{Arrays, Lengths, check};
use oxmpi_coll::plan::{Act, Acts, Buf, CallArrays, LearnedLengths, Part, Plan, PlanInputs};
use proptest::prelude::*;

/// The sources and the destinations of each rank.
type Graph = Vec<[Vec<u32>; 2]>;

/// The graph of a grid: two neighbours in each dimension, row-major ranks. A dimension is its length and
/// periodicity.
fn grid(dims: &[(u32, bool)]) -> Graph {
    let size: u32 = dims.iter().map(|&(length, _)| length).product();
    let neighbors = |rank: u32| {
        let mut stride = size;
        let beside = |&(length, periodic): &(u32, bool)| {
            stride /= length;
            let at = rank / stride % length;
            let to = |there: u32, inside: bool| match inside || periodic {
                true => rank - at * stride + there * stride,
                false => PROC_NULL,
            };
            [
                to((at + length - 1) % length, at > 0),
                to((at + 1) % length, at + 1 < length),
            ]
        };
        dims.iter().flat_map(beside).collect::<Vec<_>>()
    };
    (0..size)
        .map(|rank| [neighbors(rank), neighbors(rank)])
        .collect()
}

/// The graph with these edges; sender and receiver list parallel edges in the same order.
fn graph(size: u32, edges: &[(u32, u32)]) -> Graph {
    let mut graph = vec![[vec![], vec![]]; size as usize];
    for &(from, to) in edges {
        graph[to as usize][0].push(from);
        graph[from as usize][1].push(to);
    }
    graph
}

/// The index, among its sender's destinations, of the block that a rank receives from its source number
/// `at`.
fn sent_as(graph: &Graph, rank: u32, at: usize, is_grid: bool) -> usize {
    if is_grid {
        return at ^ 1;
    }
    let sources = &graph[rank as usize][0];
    let nth = sources[..at]
        .iter()
        .filter(|&&from| from == sources[at])
        .count();
    let destinations = graph[sources[at] as usize][1].iter().enumerate();
    let mut mine = destinations.filter(|&(_, &to)| to == rank);
    mine.nth(nth).expect("sender and receiver list the edge").0
}

/// The length of the block that a rank sends to its destination number `at`.
fn length(collective: Collective, rank: u32, at: usize) -> u64 {
    match collective {
        Collective::NeighborAllgatherv => u64::from(rank) % 5,
        _ => (u64::from(rank) * 7 + at as u64 * 3) % 6,
    }
}

/// Proves all neighbourhood collectives on the graph with this many messages under way at a time.
fn prove(graph: &Graph, is_grid: bool, window: u32) {
    let size = graph.len() as u32;
    for algorithm in Algorithm::ALL {
        let collective = algorithm.collective();
        if !collective.is_neighborhood() {
            continue;
        }
        let arrays = (0..size).map(|rank| {
            let [sources, destinations] = &graph[rank as usize];
            let recv = |at: usize| match sources[at] {
                PROC_NULL => 0,
                from => length(collective, from, sent_as(graph, rank, at, is_grid)),
            };
            let send = |at: usize| match destinations[at] {
                PROC_NULL => 0,
                _ => length(collective, rank, at),
            };
            let mut arrays = Arrays {
                sources: Arc::from(&sources[..]),
                destinations: Arc::from(&destinations[..]),
                ..Arrays::default()
            };
            match collective {
                Collective::NeighborAllgatherv => {
                    arrays.recvs = Lengths::new((0..sources.len()).map(recv));
                }
                Collective::NeighborAlltoallv => {
                    arrays.recvs = Lengths::new((0..sources.len()).map(recv));
                    arrays.sends = Lengths::new((0..destinations.len()).map(send));
                }
                _ => {}
            }
            arrays
        });
        let arrays: Vec<_> = arrays.collect();
        let calls = (0..size).map(|rank| {
            let degrees = [0, 1].map(|end| graph[rank as usize][end].len() as u32);
            let call = match collective {
                Collective::NeighborAllgather => Call::neighbor_allgather(rank, size, degrees, 3),
                Collective::NeighborAllgatherv => {
                    let own = length(collective, rank, 0);
                    Call::neighbor_allgatherv(rank, size, degrees, own)
                }
                Collective::NeighborAlltoall => Call::neighbor_alltoall(rank, size, degrees, 3),
                _ => Call::neighbor_alltoallv(rank, size, degrees),
            };
            if is_grid { call.on_grid() } else { call }
        });
        let calls: Vec<_> = calls.collect();
        let parameters = Parameters::NONE.with_window(window);
        if let Err(fault) = check(algorithm, &calls, &arrays, &parameters) {
            panic!("{algorithm}, {graph:?}, window {window}: {fault}");
        }
    }
}

/// The acts of rank 0 in a neighbor_alltoall on a ring.
fn acts_on_ring(size: u32, neighbors: [u32; 2]) -> Vec<Act> {
    let call = Call::neighbor_alltoall(0, size, [2, 2], 1).on_grid();
    let plan = Algorithm::NeighborAlltoallLinear.plan(&call, &Parameters::NONE);
    let plan = plan.expect("the algorithm supports the call");
    let given = CallArrays {
        sources: &neighbors,
        destinations: &neighbors,
        ..CallArrays::NOTHING
    };
    let learned = LearnedLengths::new();
    let inputs = PlanInputs::new(given, &learned);
    let mut all = vec![];
    for step in 0..plan.steps() {
        let mut acts = Acts::new();
        plan.step(step, &inputs, &mut acts);
        all.extend_from_slice(&acts);
    }
    all
}

/// The block sent down is received from above (MPI 5.0, section 8.6), also where both neighbours are the
/// same rank.
#[test]
fn on_rings_of_one_and_two_ranks_the_block_sent_down_is_received_from_above() {
    let part = |buf, first| Part::new(buf, first, 1);
    let copy = |from, into| Act::Copy {
        from: part(Buf::In, from),
        into: part(Buf::Out, into),
    };
    assert_eq!(acts_on_ring(1, [0, 0]), [copy(0, 1), copy(1, 0)]);
    // A message's tag is the index of its source at the receiver.
    let recv = |source: u32| Act::Recv {
        from: 1,
        tag: source,
        into: part(Buf::Out, source.into()),
    };
    let send = |place, tag| Act::Send {
        to: 1,
        tag,
        from: part(Buf::In, place),
    };
    assert_eq!(
        acts_on_ring(2, [1, 1]),
        [recv(0), send(0, 1), recv(1), send(1, 0)]
    );
}

#[test]
fn grids_of_one_to_three_dimensions() {
    let lengths = [1, 2, 3];
    for window in [1, 2, 5, 16] {
        for periods in 0..8 {
            let dim = |length, at: u32| (length, periods >> at & 1 == 1);
            for a in lengths {
                prove(&grid(&[dim(a, 0)]), true, window);
                for b in lengths {
                    prove(&grid(&[dim(a, 0), dim(b, 1)]), true, window);
                    for c in lengths {
                        prove(&grid(&[dim(a, 0), dim(b, 1), dim(c, 2)]), true, window);
                    }
                }
            }
        }
    }
}

/// Each rank has itself and its 26 neighbours in a cube: more messages than may be under way.
#[test]
fn a_neighborhood_of_27_ranks() {
    let at = |x: u32, y: u32, z: u32| x % 3 + 3 * (y % 3) + 9 * (z % 3);
    let mut edges = vec![];
    for (x, y, z) in (0..27).map(|rank| (rank % 3, rank / 3 % 3, rank / 9)) {
        for (dx, dy, dz) in (0..27).map(|step| (step % 3, step / 3 % 3, step / 9)) {
            edges.push((at(x, y, z), at(x + dx, y + dy, z + dz)));
        }
    }
    for window in [1, 3, 16] {
        prove(&graph(27, &edges), false, window);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn graphs_with_any_edges(
        size in 1_u32..20, edges in prop::collection::vec((any::<u32>(), any::<u32>()), 0..120),
        window in 1_u32..20,
    ) {
        let edges: Vec<_> = edges.into_iter().map(|(from, to)| (from % size, to % size)).collect();
        prove(&graph(size, &edges), false, window);
    }
}
