//! The twin of `crates/bench/peers/collectives.c`: collectives of the Intel MPI Benchmarks,
//! `collectives OPERATION BYTES...`.
//!
//! The root changes from call to call; reductions add f64. Bytes are those of the vector in bcast,
//! reduce and allreduce, and of one rank's block in the others. One line for each length: nanoseconds of one
//! call, the longest time of all ranks (t_max of IMB).

mod blocks;
mod report;

use oxmpi::{Comm, Op, Result, World};

/// What a rank gives and gets.
struct Vectors {
    input: Vec<f64>,
    output: Vec<f64>,
}

/// One collective, as the command line names it.
struct Operation {
    name: &'static str,
    run: fn(&Comm, &mut Vectors, usize) -> Result<()>,
    /// Whether input and output have a block for each rank.
    blocks: [bool; 2],
    /// What the first element is afterwards on `rank` of `size`, the last root having been `root`.
    result: fn(rank: usize, size: usize, root: usize) -> Option<f64>,
}

/// What `rank` gives.
fn value(rank: usize) -> f64 {
    (rank + 1) as f64
}

fn sum(size: usize) -> f64 {
    (0..size).map(value).sum()
}

const OPERATIONS: &[Operation] = &[
    Operation {
        name: "barrier",
        run: |comm, _, _| comm.barrier(),
        blocks: [false, false],
        result: |_, _, _| None,
    },
    Operation {
        name: "bcast",
        run: |comm, vectors, root| {
            let message = match comm.rank() == root {
                true => &mut vectors.input,
                false => &mut vectors.output,
            };
            comm.bcast(message, root)
        },
        blocks: [false, false],
        result: |rank, _, root| (rank != root).then(|| value(root)),
    },
    Operation {
        name: "reduce",
        run: |comm, Vectors { input, output }, root| {
            let result = (comm.rank() == root).then_some(&mut output[..]);
            comm.reduce_into(input, result, Op::SUM, root)
        },
        blocks: [false, false],
        result: |rank, size, root| (rank == root).then(|| sum(size)),
    },
    Operation {
        name: "allreduce",
        run: |comm, Vectors { input, output }, _| comm.allreduce_into(input, output, Op::SUM),
        blocks: [false, false],
        result: |_, size, _| Some(sum(size)),
    },
    Operation {
        name: "allgather",
        run: |comm, Vectors { input, output }, _| comm.allgather(input, output),
        blocks: [false, true],
        result: |_, _, _| Some(value(0)),
    },
    Operation {
        name: "alltoall",
        run: |comm, Vectors { input, output }, _| comm.alltoall(input, output),
        blocks: [true, true],
        result: |_, _, _| Some(value(0)),
    },
    Operation {
        name: "gather",
        run: |comm, Vectors { input, output }, root| {
            let all = (comm.rank() == root).then_some(&mut output[..]);
            comm.gather(input, all, root)
        },
        blocks: [false, true],
        result: |rank, _, root| (rank == root).then(|| value(0)),
    },
    Operation {
        name: "scatter",
        run: |comm, Vectors { input, output }, root| {
            let all = (comm.rank() == root).then_some(&input[..]);
            comm.scatter(all, output, root)
        },
        blocks: [true, false],
        result: |_, _, root| Some(value(root)),
    },
    Operation {
        name: "reduce_scatter",
        run: |comm, Vectors { input, output }, _| comm.reduce_scatter_block(input, output, Op::SUM),
        blocks: [true, false],
        result: |_, size, _| Some(sum(size)),
    },
];

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let world = World::init()?;
    let comm = world.comm();
    let (rank, size) = (comm.rank(), comm.size());
    let name = std::env::args().nth(1).unwrap_or_default();
    let operation = OPERATIONS.iter().find(|operation| operation.name == name);
    let names: Vec<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
    let operation = operation.ok_or_else(|| format!("one of {names:?}, not {name:?}"))?;
    for bytes in std::env::args().skip(2) {
        let bytes = bytes.parse()?;
        let count = bytes / size_of::<f64>();
        let [given, got] = (operation.blocks).map(|each| if each { size * count } else { count });
        let mut vectors = Vectors {
            input: vec![value(rank); given],
            output: vec![0.0; got],
        };
        let mut root = 0;
        let mut measured = blocks::measure(
            comm,
            size,
            &mut vectors,
            |vectors, times| {
                (0..times).try_for_each(|_| {
                    root = (root + 1) % size;
                    (operation.run)(comm, vectors, root)
                })
            },
            |vectors| vectors.output.fill(0.0),
        )?;
        measured.nanoseconds = comm.allreduce(&measured.nanoseconds, Op::MAX)?;
        let expected = (operation.result)(rank, size, root);
        let right = expected.is_none_or(|expected| vectors.output.first() == Some(&expected));
        report::report(operation.name, comm, bytes, &measured, 1.0, right);
    }
    Ok(())
}
