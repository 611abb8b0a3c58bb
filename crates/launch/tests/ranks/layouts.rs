//! Tests of views with a layout, against loops over the elements that they name.

use std::ops::Range;

use oxmpi::collective::Blocks;
use oxmpi::layout::{Indexed, Layout, Strided, SubArray, View, ViewMut};
use oxmpi::{Comm, Error, Grid, Op, Request, Result, Source, Tag, collective};

use crate::job::{Job, SIZES};

/// Rows and columns of matrices: a column, or half of the matrix, is a message of each protocol.
const MATRICES: [[usize; 2]; 4] = [[1, 1], [3, 4], [700, 6], [300, 500]];

const fn column(at: usize, [rows, columns]: [usize; 2]) -> Strided {
    Strided {
        first: at,
        count: rows,
        block: 1,
        stride: columns as isize,
    }
}

/// Calls `with` for layouts of a matrix, each with the indexes of its elements.
fn each_layout(
    [rows, columns]: [usize; 2],
    mut with: impl FnMut(&dyn Layout, &[usize]) -> Result<()>,
) -> Result<()> {
    let shape = [rows, columns];
    let every = |first: usize, step: usize| (first..rows * columns).step_by(step);
    let last: Vec<_> = every(columns - 1, columns).collect();
    with(&column(columns - 1, shape), &last)?;
    let upwards = Strided {
        first: (rows - 1) * columns,
        stride: -(columns as isize),
        ..column(0, shape)
    };
    with(&upwards, &every(0, columns).rev().collect::<Vec<_>>())?;
    let none = Strided {
        count: 0,
        ..column(0, shape)
    };
    with(&none, &[])?;
    let part = [rows / 3..rows, 0..columns.div_ceil(2)];
    let row = |row| (part[1].clone()).map(move |column| row * columns + column);
    let inside: Vec<_> = part[0].clone().flat_map(row).collect();
    let array = [rows, columns];
    with(
        &SubArray {
            array,
            part: part.clone(),
        },
        &inside,
    )?;
    // Blocks of different lengths, the last first.
    let block = |n: usize| n * n..(n * n + n / 2 + 1).min(rows * columns);
    let blocks: Vec<Range<usize>> = (0..).map(block).take_while(|b| !b.is_empty()).collect();
    let blocks: Vec<_> = blocks.into_iter().rev().collect();
    with(
        &Indexed(&blocks),
        &blocks.iter().cloned().flatten().collect::<Vec<_>>(),
    )
}

/// Values of a rank that no two elements have in common.
fn values(rank: usize, len: usize) -> Vec<u32> {
    (0..len as u32).map(|n| n * 16 + rank as u32).collect()
}

fn pick(values: &[u32], indexes: &[usize]) -> Vec<u32> {
    indexes.iter().map(|&at| values[at]).collect()
}

/// `values` with those of `with` at the indexes.
fn placed(mut values: Vec<u32>, indexes: &[usize], with: &[u32]) -> Vec<u32> {
    for (&at, &value) in indexes.iter().zip(with) {
        values[at] = value;
    }
    values
}

fn ring(comm: &Comm) -> [usize; 2] {
    let (rank, size) = (comm.rank(), comm.size());
    [ring_left(rank, size), (rank + 1) % size]
}

/// Every send and every receive takes views, in place of a slice on either side.
#[test]
fn messages_of_views_are_those_of_loops() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let [left, right] = ring(comm);
            for shape in MATRICES {
                let len = shape[0] * shape[1];
                let (mine, theirs) = (values(comm.rank(), len), values(left, len));
                each_layout(shape, |layout, indexes| {
                    let (out, expected) = (View::new(&mine, layout)?, pick(&theirs, indexes));
                    let bytes = size_of_val(&expected[..]) as u64;

                    let mut packed = vec![0; indexes.len()];
                    let status = comm.sendrecv(&out, right, 1, &mut packed, left, 1)?;
                    assert_eq!((&packed, status.bytes), (&expected, bytes));

                    let mut room = mine.clone();
                    let mut into = ViewMut::new(&mut room, layout)?;
                    comm.bsend(&out, right, 2)?;
                    let status = comm.recv(&mut into, left, 2)?;
                    assert_eq!((status.source, status.bytes), (left, bytes));
                    assert_eq!(room, placed(mine.clone(), indexes, &expected));

                    let mut room = mine.clone();
                    comm.bsend(&packed, right, 3)?;
                    let message = comm.mprobe(Source::Any, Tag::Is(3))?;
                    message.recv(&mut ViewMut::new(&mut room, layout)?)?;
                    let second = values(ring_left(left, comm.size()), len);
                    assert_eq!(room, placed(mine.clone(), indexes, &pick(&second, indexes)));

                    let mut room = mine.clone();
                    let mut both = ViewMut::new(&mut room, layout)?;
                    comm.sendrecv_replace(&mut both, right, 4, left, 4)?;
                    assert_eq!(room, placed(mine.clone(), indexes, &expected));
                    Ok(())
                })?;
            }
            Ok(())
        });
    }
}

const fn ring_left(rank: usize, size: usize) -> usize {
    (rank + size - 1) % size
}

/// Requests of all modes, and persistent operations that find new values in each run.
#[test]
fn requests_borrow_views() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let [left, right] = ring(comm);
            for shape in MATRICES {
                let len = shape[0] * shape[1];
                each_layout(shape, |layout, indexes| {
                    let (mine, theirs) = (values(comm.rank(), len), values(left, len));
                    let expected = placed(mine.clone(), indexes, &pick(&theirs, indexes));
                    let out = View::new(&mine, layout)?;
                    let mut rooms = vec![mine.clone(); 3];
                    let into = rooms.iter_mut().map(|room| ViewMut::new(room, layout));
                    let mut into = into.collect::<Result<Vec<_>>>()?;
                    comm.scope(|s| {
                        let receives =
                            (into.iter_mut().zip(0..)).map(|(into, tag)| s.irecv(into, left, tag));
                        let receives = receives.collect::<Result<Vec<_>>>()?;
                        comm.barrier()?;
                        s.isend(&out, right, 0)?;
                        s.irsend(&out, right, 1)?;
                        s.issend(&out, right, 2)?;
                        for (into, status) in Request::wait_all(receives)? {
                            assert_eq!(into.len() as u64 * 4, status.bytes);
                            assert_eq!(into.as_view().to_vec(), pick(&theirs, indexes));
                        }
                        Ok(())
                    })?;
                    assert!(rooms.iter().all(|room| *room == expected));

                    let (mut gives, mut takes) = (mine.clone(), mine.clone());
                    let mut gives = ViewMut::new(&mut gives, layout)?;
                    let mut takes = ViewMut::new(&mut takes, layout)?;
                    let mut send = comm.send_init(&mut gives, right, 5)?;
                    let mut receive = comm.recv_init(&mut takes, left, 5)?;
                    for run in 0..4 {
                        let fresh = |rank: usize| vec![rank as u32 * 100 + run; indexes.len()];
                        send.buffers().copy_from_slice(&fresh(comm.rank()));
                        comm.scope(|s| {
                            s.restart(&mut receive)?;
                            s.restart(&mut send)?;
                            Ok(())
                        })?;
                        assert_eq!(receive.buffers().as_view().to_vec(), fresh(left));
                    }
                    Ok(())
                })?;
            }
            Ok(())
        });
    }
}

/// A persistent operation keeps its elements, whatever is done with the views that it lends.
#[test]
fn a_lent_view_cannot_be_exchanged() {
    Job::of(1).succeed(|world| {
        let comm = world.comm();
        let (mut first, mut second) = (vec![0u32; 6], vec![0u32; 600]);
        let mut short = ViewMut::new(&mut first, column(0, [2, 3]))?;
        let mut long = ViewMut::new(&mut second, column(0, [200, 3]))?;
        let mut one = comm.recv_init(&mut short, 0, 1)?;
        let mut other = comm.recv_init(&mut long, 0, 2)?;
        let (mut lent, mut other_lent) = (one.buffers(), other.buffers());
        std::mem::swap(&mut lent, &mut other_lent);
        lent.copy_from_slice(&[9; 200]);
        comm.bsend(&[1u32, 2], 0, 1)?;
        comm.bsend(&[7u32; 200], 0, 2)?;
        assert_eq!((one.run()?.bytes, other.run()?.bytes), (8, 800));
        assert_eq!(first, [1, 0, 0, 2, 0, 0]);
        assert_eq!(second.iter().sum::<u32>(), 1400);
        Ok(())
    });
}

/// Collectives with views on some ranks and slices on others.
#[test]
fn collectives_of_views_are_those_of_loops() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            for shape in MATRICES {
                let len = shape[0] * shape[1];
                let mine = values(rank, len);
                each_layout(shape, |layout, indexes| {
                    let root = indexes.len() % size;
                    let of_root = pick(&values(root, len), indexes);
                    let (view, mut room) = (View::new(&mine, layout)?, mine.clone());
                    if rank % 2 == 0 {
                        comm.bcast_into(&mut ViewMut::new(&mut room, layout)?, root)?;
                        assert_eq!(room, placed(mine.clone(), indexes, &of_root));
                    } else {
                        let mut packed = pick(&mine, indexes);
                        comm.bcast_into(&mut packed, root)?;
                        assert_eq!(packed, of_root);
                    }

                    let all: Vec<u32> = (0..size)
                        .flat_map(|r| pick(&values(r, len), indexes))
                        .collect();
                    let mut gathered = (rank == root).then(|| vec![0; all.len()]);
                    comm.gather_into(&view, gathered.as_deref_mut(), root)?;
                    assert!(gathered.is_none_or(|gathered| gathered == all));
                    let mut gathered = vec![0; all.len()];
                    comm.allgather_into(&view, &mut gathered)?;
                    assert_eq!(gathered, all);

                    // Each rank's part lands in a view.
                    let mut room = mine.clone();
                    let scattered = (rank == root).then_some(&all[..]);
                    comm.scatter_into(scattered, &mut ViewMut::new(&mut room, layout)?, root)?;
                    assert_eq!(room, mine);

                    let mut sums = vec![0; indexes.len()];
                    for part in all.chunks_exact(indexes.len().max(1)) {
                        sums.iter_mut()
                            .zip(part)
                            .for_each(|(sum, part)| *sum += part);
                    }
                    let mut room = mine.clone();
                    let mut into = ViewMut::new(&mut room, layout)?;
                    comm.allreduce_into(&view, &mut into, Op::SUM)?;
                    assert_eq!(room, placed(mine.clone(), indexes, &sums));
                    let mut started = vec![0; indexes.len()];
                    comm.scope(|s| {
                        let sum = collective::allreduce(&view, &mut started, Op::SUM);
                        s.start(sum)?.wait().map(drop)
                    })?;
                    assert_eq!(started, sums);
                    Ok(())
                })?;
            }
            Ok(())
        });
    }
}

/// A transposition: each rank has some rows, and gets as many columns.
#[test]
fn an_alltoall_of_views_transposes() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            for each in [1, 3, 60] {
                let side = each * size;
                let value = |row: usize, column: usize| (row * side + column) as f64;
                let rows = (rank * each..(rank + 1) * each)
                    .flat_map(|row| (0..side).map(move |column| value(row, column)));
                let rows: Vec<f64> = rows.collect();
                let block = |of: usize| SubArray {
                    array: [each, side],
                    part: [0..each, of * each..(of + 1) * each],
                };
                let parts = (0..size).map(|of| View::new(&rows, block(of)));
                let parts = parts.collect::<Result<Vec<_>>>()?;
                let expected: Vec<f64> = (0..side)
                    .flat_map(|row| (rank * each..(rank + 1) * each).map(move |c| value(row, c)))
                    .collect();
                // Rank r's block is rows of the result: one after the other.
                let mut columns = vec![0.0; side * each];
                let mut slices: Vec<&mut [f64]> = columns.chunks_mut(each * each).collect();
                comm.alltoallw(&parts, &mut slices)?;
                assert_eq!(columns, expected);
                // The same from one view of all blocks, and from blocks of a view.
                let starts: Vec<_> = (0..size)
                    .flat_map(|of| (0..each).map(move |row| row * side + of * each))
                    .collect();
                let ranges: Vec<_> = starts.iter().map(|&at| at..at + each).collect();
                let all = View::new(&rows, Indexed(&ranges))?;
                let mut columns = vec![0.0; side * each];
                comm.alltoall_into(&all, &mut columns)?;
                assert_eq!(columns, expected);
                let counts = vec![each * each; size];
                let mut columns = vec![0.0; side * each];
                let into = Blocks::packed(&mut columns, &counts);
                comm.alltoallv(Blocks::packed(&all, &counts), into)?;
                assert_eq!(columns, expected);
            }
            Ok(())
        });
    }
}

/// Ghost cells of a field on a grid, by requests and by a neighbourhood collective.
#[test]
fn ghost_cells_are_those_of_the_neighbours() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let shape = Grid::balanced(comm.size(), &[0, 0]).expect("a shape");
            let grid = Grid::new(&shape, &[true, false]);
            let cart = comm.cart(grid)?.expect("every rank has a place");
            let (rows, columns) = (6, 9);
            let band = |rows: Range<usize>, columns: Range<usize>| SubArray {
                array: [6, 9],
                part: [rows, columns],
            };
            let edges = || {
                [
                    band(1..2, 1..columns - 1),
                    band(rows - 2..rows - 1, 1..columns - 1),
                    band(1..rows - 1, 1..2),
                    band(1..rows - 1, columns - 2..columns - 1),
                ]
            };
            let ghosts = || {
                [
                    band(0..1, 1..columns - 1),
                    band(rows - 1..rows, 1..columns - 1),
                    band(1..rows - 1, 0..1),
                    band(1..rows - 1, columns - 1..columns),
                ]
            };
            let fresh = vec![cart.rank() as f64; rows * columns];
            let mut field = fresh.clone();
            let (out, mut into) = ViewMut::split(&mut field, edges(), ghosts())?;
            cart.neighbor_alltoallw(&out, &mut into)?;
            let mut posted = fresh.clone();
            let (out, mut into) = ViewMut::split(&mut posted, edges(), ghosts())?;
            let neighbors = [cart.shift(0, 1), cart.shift(1, 1)];
            let flat: Vec<_> = neighbors.iter().flatten().copied().collect();
            cart.scope(|s| {
                for (n, (into, &from)) in into.iter_mut().zip(&flat).enumerate() {
                    s.irecv(into, from, n as u32)?;
                }
                for (n, (out, &to)) in out.iter().zip(&flat).enumerate() {
                    s.isend(out, to, n as u32 ^ 1)?; // what goes up comes from below
                }
                Ok(())
            })?;
            assert_eq!(posted, field);
            for (n, ghost) in ghosts().into_iter().enumerate() {
                let expected = flat[n].unwrap_or(cart.rank()) as f64;
                let cells = View::new(&field, ghost)?.to_vec();
                assert!(cells.iter().all(|&cell| cell == expected), "{n}: {field:?}");
            }
            Ok(())
        });
    }
}

/// Exact sums, which need wide elements, of views and into views, which read and write their own elements only.
#[test]
fn reproducible_sums_take_views() {
    let job = Job::of(3).with("OXMPI_COLL_REPRODUCIBLE", "ranks");
    job.succeed(|world| {
        let comm = world.comm();
        let matrix: Vec<f64> = (0..12)
            .map(|n| f64::from(n) + comm.rank() as f64 * 100.0)
            .collect();
        let view = View::new(&matrix, column(1, [3, 4]))?;
        let mut sums = [0.0; 3];
        comm.allreduce_into(&view, &mut sums, Op::SUM)?;
        assert_eq!(sums, [303.0, 315.0, 327.0]);
        let mut room = [-1.0; 12];
        let mut into = ViewMut::new(&mut room, column(2, [3, 4]))?;
        comm.allreduce_into(&view, &mut into, Op::SUM)?;
        let mut expected = [-1.0; 12];
        (2..12)
            .step_by(4)
            .zip(sums)
            .for_each(|(at, sum)| expected[at] = sum);
        assert_eq!(room, expected);
        let again = Strided {
            first: 0,
            count: 1000,
            block: 1,
            stride: 0,
        };
        let one = [comm.rank() as f64];
        let mut sums = vec![0.0; 1000];
        comm.allreduce_into(&View::new(&one, again)?, &mut sums, Op::SUM)?;
        assert_eq!(sums, vec![3.0; 1000]);
        Ok(())
    });
}

/// On rank 0 alone, what is read and what is written begin at one address, which is not in place.
#[test]
fn an_exchange_between_views_of_one_slice_is_not_in_place() {
    const BLOCK: usize = 16 << 10;
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let rank = comm.rank();
        let mut field = vec![0u64; 6 * BLOCK];
        for call in 0..40 {
            let value = |from: usize, to: usize| (10 * call + 2 * from + to) as u64;
            for (to, block) in field[..2 * BLOCK].chunks_mut(BLOCK).enumerate() {
                block.fill(value(rank, to));
            }
            let received = if rank == 0 {
                let out = Strided {
                    first: 0,
                    count: 1,
                    block: 2 * BLOCK,
                    stride: 2 * BLOCK as isize,
                };
                let into = Strided {
                    first: 2 * BLOCK,
                    count: 2 * BLOCK,
                    block: 1,
                    stride: 2,
                };
                let ([out], [mut into]) = ViewMut::split(&mut field, [out], [into])?;
                comm.alltoall_into(&out, &mut into)?;
                field[2 * BLOCK..].iter().copied().step_by(2).collect()
            } else {
                let mut received = vec![0; 2 * BLOCK];
                comm.alltoall_into(&field[..2 * BLOCK], &mut received)?;
                received
            };
            for (from, block) in received.chunks(BLOCK).enumerate() {
                assert!(
                    block.iter().all(|&one| one == value(from, rank)),
                    "{call}, {from}"
                );
            }
        }
        Ok(())
    });
}

/// A view is too short as a slice is; a message may be shorter than a view.
#[test]
fn lengths_are_those_of_the_elements() {
    Job::of(1).succeed(|world| {
        let comm = world.comm();
        let mut room = vec![0u32; 12];
        let mut into = ViewMut::new(&mut room, column(1, [3, 4]))?;
        comm.bsend(&[1u32, 2, 3, 4], 0, 1)?;
        let long = comm.recv(&mut into, 0, 1);
        assert!(matches!(
            long,
            Err(Error::Truncated {
                sent: 16,
                room: 12,
                ..
            })
        ));
        comm.bsend(&[8u32, 9], 0, 1)?;
        assert_eq!(comm.recv(&mut into, 0, 1)?.count::<u32>(), Some(2));
        assert_eq!(room, [0, 8, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0]);
        Ok(())
    });
}
