//! Measures collectives as the Intel MPI Benchmarks do: `collectives OPERATION,.. BYTES...`; the twin of
//! `crates/bench/peers/collectives.c`.
//!
//! A repetition is a call with each rank as the root, as the time of a call may depend on the root.
//! Reductions add floats. BYTES is the length of one rank's block in allgather, alltoall, gather and scatter,
//! else of the whole vector; reduce_scatter_block cuts it into blocks of at least one element. Prints one
//! line for each operation and length: nanoseconds of one call on the slowest rank of each block (t_max). A
//! barrier is measured once, with 0 bytes.

mod blocks;
mod buffers;
mod report;

use buffers::Pages;
use oxmpi::{Comm, Op, Result, World};

/// Input and output buffers of a rank.
struct Vectors {
    input: Pages<f32>,
    output: Pages<f32>,
}

/// The source of an element of a result.
enum Source {
    /// An element of one rank's input: the rank and the index.
    Rank(usize, usize),
    /// The sum of the elements of all ranks' inputs at an index.
    All(usize),
}

/// A rank, the root of the last call, and the length of its vectors.
#[derive(Clone, Copy)]
struct LastCall {
    rank: usize,
    root: usize,
    /// Number of elements of a vector, or of a block of it.
    count: usize,
}

/// One collective, as the command line names it.
struct Operation {
    name: &'static str,
    call: fn(&Comm, &mut Vectors, usize) -> Result<()>,
    /// Whether the input and the output have a block for each rank.
    many: [bool; 2],
    /// Whether BYTES is the length of all blocks together.
    divided: bool,
    /// The source of an element of the output; `None` where the rank has no result.
    source: fn(LastCall, usize) -> Option<Source>,
}

/// Element `at` of the input of `rank`: a small integer, so that sums are exact.
fn element_of(rank: usize, at: usize) -> f32 {
    (rank * 3 + at % 1021) as f32
}

const OPERATIONS: &[Operation] = &[
    Operation {
        name: BARRIER,
        call: |comm, _, _| comm.barrier(),
        many: [false, false],
        divided: false,
        source: |_, _| None,
    },
    Operation {
        name: "bcast",
        call: |comm, vectors, root| {
            let message = match comm.rank() == root {
                true => &mut vectors.input,
                false => &mut vectors.output,
            };
            comm.bcast_into(&mut message[..], root)
        },
        many: [false, false],
        divided: false,
        source: |place, at| (place.rank != place.root).then_some(Source::Rank(place.root, at)),
    },
    Operation {
        name: "reduce",
        call: |comm, Vectors { input, output }, root| {
            let result = (comm.rank() == root).then_some(&mut output[..]);
            comm.reduce_into(&input[..], result, Op::SUM, root)
        },
        many: [false, false],
        divided: false,
        source: |place, at| (place.rank == place.root).then_some(Source::All(at)),
    },
    Operation {
        name: "allreduce",
        call: |comm, Vectors { input, output }, _| {
            comm.allreduce_into(&input[..], &mut output[..], Op::SUM)
        },
        many: [false, false],
        divided: false,
        source: |_, at| Some(Source::All(at)),
    },
    Operation {
        name: "allgather",
        call: |comm, Vectors { input, output }, _| comm.allgather_into(&input[..], &mut output[..]),
        many: [false, true],
        divided: false,
        source: |LastCall { count, .. }, at| Some(Source::Rank(at / count, at % count)),
    },
    Operation {
        name: "alltoall",
        call: |comm, Vectors { input, output }, _| comm.alltoall_into(&input[..], &mut output[..]),
        many: [true, true],
        divided: false,
        source: |LastCall { rank, count, .. }, at| {
            Some(Source::Rank(at / count, rank * count + at % count))
        },
    },
    Operation {
        name: "gather",
        call: |comm, Vectors { input, output }, root| {
            let all = (comm.rank() == root).then_some(&mut output[..]);
            comm.gather_into(&input[..], all, root)
        },
        many: [false, true],
        divided: false,
        source: |LastCall { rank, root, count }, at| {
            (rank == root).then_some(Source::Rank(at / count, at % count))
        },
    },
    Operation {
        name: "scatter",
        call: |comm, Vectors { input, output }, root| {
            let all = (comm.rank() == root).then_some(&input[..]);
            comm.scatter_into(all, &mut output[..], root)
        },
        many: [true, false],
        divided: false,
        source: |LastCall { rank, root, count }, at| Some(Source::Rank(root, rank * count + at)),
    },
    Operation {
        name: "reduce_scatter_block",
        call: |comm, Vectors { input, output }, _| {
            comm.reduce_scatter_block_into(&input[..], &mut output[..], Op::SUM)
        },
        many: [true, false],
        divided: true,
        source: |LastCall { rank, count, .. }, at| Some(Source::All(rank * count + at)),
    },
];

/// Name of the collective without data.
const BARRIER: &str = "barrier";

/// Whether the output is the result of the last call.
fn is_right(
    source: fn(LastCall, usize) -> Option<Source>,
    place: LastCall,
    size: usize,
    output: &[f32],
) -> bool {
    output
        .iter()
        .enumerate()
        .all(|(at, &element)| match source(place, at) {
            None => true,
            Some(Source::Rank(rank, at)) => element == element_of(rank, at),
            Some(Source::All(at)) => {
                element == (0..size).map(|rank| element_of(rank, at)).sum::<f32>()
            }
        })
}

fn measure(comm: &Comm, operation: &Operation, bytes: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let mut count = bytes / size_of::<f32>();
    if operation.divided {
        count = (count / size).max(1);
    }
    let [given, got] = operation
        .many
        .map(|many| if many { size * count } else { count });
    let mut vectors = Vectors {
        input: Pages::new(given),
        output: Pages::new(got),
    };
    for (at, element) in vectors.input.iter_mut().enumerate() {
        *element = element_of(rank, at);
    }
    vectors.output.fill(-1.0);
    let mut root = 0;
    let mut measured = blocks::measure(
        comm,
        size,
        &mut vectors,
        // Each rank is the root equally often.
        |vectors, times| {
            (0..times * size as u64).try_for_each(|_| {
                root = (root + 1) % size;
                (operation.call)(comm, vectors, root)
            })
        },
        |vectors| vectors.output.fill(-1.0),
    )?;
    measured.nanoseconds = comm.allreduce(&measured.nanoseconds, Op::MAX)?;
    let place = LastCall { rank, root, count };
    let right = is_right(operation.source, place, size, &vectors.output);
    let right = comm.allreduce(&[u8::from(right)], Op::MIN)? == [1];
    report::report(operation.name, comm, bytes, &measured, size as f64, right);
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let world = World::init()?;
    let names = std::env::args().nth(1).unwrap_or_default();
    let lengths = buffers::lengths(1)?;
    for operation in OPERATIONS {
        if !names.split(',').any(|name| name == operation.name) {
            continue;
        }
        let lengths = if operation.name == BARRIER {
            &[0][..]
        } else {
            &lengths
        };
        for &bytes in lengths {
            measure(world.comm(), operation, bytes)?;
        }
    }
    Ok(())
}
