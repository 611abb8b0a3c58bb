//! Tests of layouts, requests, flushes and views in epochs of windows, with real ranks.

use oxmpi::layout::{Strided, SubArray, View, ViewMut};
use oxmpi::window::{AccumulateOp, LockKind};
use oxmpi::{ErrorClass, Memory, Op, Result, Test, World};

use crate::job::{Job, SIZES, WINDOW_PATHS};

/// Rows and columns of a rank's matrix.
const ROWS: usize = 50;
const COLUMNS: usize = 70;

fn memories(world: &World) -> Result<[Memory<u64>; 2]> {
    Ok([world.alloc(ROWS * COLUMNS)?, vec![0; ROWS * COLUMNS].into()])
}

/// A column of a matrix.
const fn column(first: usize) -> Strided {
    Strided {
        first,
        count: ROWS,
        block: 1,
        stride: COLUMNS as isize,
    }
}

/// The inner part of a matrix.
const fn inner() -> SubArray<2> {
    SubArray {
        array: [ROWS, COLUMNS],
        part: [1..ROWS - 1, 1..COLUMNS - 1],
    }
}

/// Columns and inner parts are put, read and combined where they are, at both ends.
#[test]
fn layouts_are_accessed_at_both_ends() {
    for [name, value] in WINDOW_PATHS {
        for size in SIZES {
            Job::of(size).with(name, value).succeed(|world| {
                let comm = world.comm();
                let (me, n) = (comm.rank(), comm.size());
                let (left, right) = ((me + n - 1) % n, (me + 1) % n);
                let number = |rank: usize, at: usize| (rank * ROWS * COLUMNS + at) as u64;
                let mine: Vec<u64> = (0..ROWS * COLUMNS).map(|at| number(me, at)).collect();
                for memory in memories(world)? {
                    let mut window = comm.active_window(memory)?;
                    window.fence(|epoch| {
                        epoch.put(&View::new(&mine, column(9))?, right, column(0))?;
                        epoch.put(&View::new(&mine, inner())?, right, inner())
                    })?;
                    let is_inner = |at: usize| {
                        (1..ROWS - 1).contains(&(at / COLUMNS))
                            && (1..COLUMNS - 1).contains(&(at % COLUMNS))
                    };
                    for (at, &has) in window.local().iter().enumerate() {
                        let expected = match at {
                            at if at % COLUMNS == 0 => number(left, at + 9),
                            at if is_inner(at) => number(left, at),
                            _ => 0,
                        };
                        assert_eq!(has, expected, "element {at}");
                    }
                    let mut read = vec![7; ROWS * COLUMNS];
                    let mut into = ViewMut::new(&mut read, column(3))?;
                    window.exchange(&[left], &[right], |epoch| {
                        epoch.get(&mut into, right, column(0))
                    })?;
                    for (at, &has) in read.iter().enumerate() {
                        let expected = match at % COLUMNS {
                            3 => number(me, at + 6),
                            _ => 7,
                        };
                        assert_eq!(has, expected, "element {at}");
                    }
                    let mut before = vec![0; ROWS];
                    window.fence(|epoch| {
                        let ones = View::new(&mine, column(0))?;
                        epoch.get_accumulate(
                            &ones,
                            &mut before,
                            Op::SUM,
                            right,
                            column(COLUMNS - 1),
                        )
                    })?;
                    assert!(before.iter().all(|&before| before == 0));
                    let sums = View::new(window.local(), column(COLUMNS - 1))?.to_vec();
                    let expected = (0..ROWS).map(|row| number(left, row * COLUMNS));
                    assert!(sums.into_iter().eq(expected));
                    let twice = window.fence(|epoch| {
                        let same = Strided {
                            stride: 0,
                            ..column(0)
                        };
                        epoch.put(&[1; ROWS], right, same)
                    });
                    assert_eq!(
                        twice.expect_err("a place twice").class(),
                        ErrorClass::RmaRange
                    );
                    let beyond =
                        window.fence(|epoch| epoch.get(&mut before, right, column(COLUMNS)));
                    assert_eq!(
                        beyond.expect_err("it is beyond").class(),
                        ErrorClass::RmaRange
                    );
                    window.free()?;
                }
                Ok(())
            });
        }
    }
}

/// A request gives its buffer back before the epoch ends, and one that is dropped or left is ended by the epoch.
#[test]
fn requests_end_before_their_epochs() {
    for [name, value] in WINDOW_PATHS {
        for size in SIZES {
            Job::of(size).with(name, value).succeed(|world| {
                let comm = world.comm();
                let right = (comm.rank() + 1) % comm.size();
                for memory in memories(world)? {
                    let window = comm.passive_window(memory)?;
                    let mut buffers = vec![vec![0; 900]; 4];
                    let [first, second, third, last] = &mut buffers[..] else {
                        unreachable!("there are four")
                    };
                    let kept = window.lock(right, LockKind::Exclusive, |epoch| {
                        epoch.accumulate(&[5; 900], AccumulateOp::Replace, right, 0)?;
                        let read = epoch.rget(first, right, 0)?.wait()?;
                        assert_eq!(read, [5; 900]);
                        let adds = (&[2; 900], Op::SUM);
                        let mut request =
                            epoch.rget_accumulate(adds.0, second, adds.1, right, 0)?;
                        let before = loop {
                            match request.test()? {
                                Test::Ready(before) => break before,
                                Test::Pending(still) => request = still,
                            }
                        };
                        assert_eq!(before, [5; 900]);
                        drop(epoch.rget(third, right, 1)?);
                        // Nothing but a flush tells that it was done there.
                        epoch.put(&[9], right, 1000)?;
                        epoch.flush(right)?;
                        epoch.rget(last, right, 101)
                    })?;
                    let last = kept.wait()?;
                    assert_eq!((last[0], last[799], last[898], last[899]), (7, 0, 0, 9));
                    assert_eq!(
                        buffers[2],
                        [7; 900][..899]
                            .iter()
                            .copied()
                            .chain([0])
                            .collect::<Vec<_>>()
                    );
                    comm.barrier()?;
                    window.free()?;
                }
                Ok(())
            });
        }
    }
}

/// In an epoch a rank loads and stores its own memory by a view, while others access it.
#[test]
fn a_rank_polls_its_own_memory_in_an_epoch() {
    for [name, value] in WINDOW_PATHS {
        for size in SIZES {
            Job::of(size).with(name, value).succeed(|world| {
                let comm = world.comm();
                let (me, n) = (comm.rank(), comm.size());
                let (left, right) = ((me + n - 1) % n, (me + 1) % n);
                for memory in memories(world)? {
                    let mut window = comm.active_window(memory)?;
                    window.fence(|epoch| {
                        let mine = epoch.local()?;
                        mine.store(4, me as u64);
                        epoch.put(&[me as u64 + 1], right, 3)?;
                        epoch.flush(right)?;
                        while mine.load(3) == 0 {
                            // By messages this rank serves what it waits for.
                            epoch.fetch(&0, Op::SUM, right, 3)?;
                        }
                        assert_eq!(mine.load(3), left as u64 + 1);
                        Ok(())
                    })?;
                    assert_eq!(window.local()[3..5], [left as u64 + 1, me as u64]);
                    let memory = window.free()?;

                    let window = comm.passive_window(memory)?;
                    let other = window.lock(right, LockKind::Shared, |epoch| {
                        epoch.local().map(|mine| mine.load(4))
                    });
                    match n {
                        1 => assert_eq!(other?, me as u64),
                        _ => assert_eq!(
                            other.expect_err("it locks another").class(),
                            ErrorClass::RmaSync
                        ),
                    }
                    let has = window.lock_all(|epoch| Ok(epoch.local()?.load(4)))?;
                    assert_eq!(has, me as u64);
                    window.free()?;
                }
                Ok(())
            });
        }
    }
}
