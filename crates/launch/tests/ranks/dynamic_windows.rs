//! Tests of windows to which real ranks attach memory as they go.

use oxmpi::window::{DynamicWindow, LockKind};
use oxmpi::{Comm, ErrorClass, Memory, Op, Result, World};

use crate::job::{Job, SIZES, WINDOW_PATHS};

/// Elements of a rank's memory.
const WORDS: usize = 5000;

/// Memory of the heap, or private memory.
fn memories(world: &World) -> Result<[Memory<u64>; 2]> {
    Ok([world.alloc(WORDS)?, vec![0; WORDS].into()])
}

/// Each rank accesses memory of its right neighbour, whose address it is sent.
fn round(comm: &Comm, window: &DynamicWindow, memory: Memory<u64>) -> Result<Memory<u64>> {
    let (me, size) = (comm.rank(), comm.size());
    let (left, right) = ((me + size - 1) % size, (me + 1) % size);
    let mut mine = window.attach(memory)?;
    assert_eq!(mine.len(), WORDS);
    comm.bsend(&[mine.address()], left, 1)?;
    let theirs = comm.recv_vec::<u64>(right, 1)?.0[0];
    let values: Vec<u64> = (0..3000).map(|at| (me * WORDS + at) as u64).collect();
    let mut read = vec![0; 3000];
    window.lock(right, LockKind::Exclusive, |epoch| {
        epoch.put(&values, right, theirs + 8 * 7)?;
        epoch.accumulate(&[1u32, 2], Op::SUM, right, theirs)?;
        assert_eq!(epoch.fetch(&5u32, Op::SUM, right, theirs)?, 1);
        assert_eq!(epoch.swap(&9u8, right, theirs + 8)?, 0);
        assert_eq!(epoch.compare_and_swap(9u8, 4, right, theirs + 8)?, 9);
        assert_eq!(epoch.load::<u8>(right, theirs + 8)?, 4);
        Ok(())
    })?;
    window.lock_all(|epoch| epoch.get(&mut read, right, theirs + 8 * 7))?;
    assert_eq!(read, values);
    comm.barrier()?;
    mine.with(|mine| {
        assert_eq!(
            mine[0].to_ne_bytes(),
            [6u32, 2].map(u32::to_ne_bytes).concat()[..]
        );
        assert_eq!(mine[1].to_ne_bytes()[0], 4);
        assert!(
            mine[7..3007]
                .iter()
                .copied()
                .eq((0..3000).map(|at| (left * WORDS + at) as u64))
        );
        mine.fill(0);
    })?;
    mine.detach()
}

#[test]
fn memory_is_attached_accessed_and_detached() {
    for [name, value] in WINDOW_PATHS {
        for ranks in SIZES {
            Job::of(ranks).with(name, value).succeed(|world| {
                let comm = world.comm();
                let window = comm.dynamic_window()?;
                for memory in memories(world)? {
                    let memory = round(comm, &window, memory)?;
                    // The same memory once more, at the same address.
                    let memory = round(comm, &window, memory)?;
                    assert!(memory.iter().all(|&word| word == 0));
                }
                window.free()
            });
        }
    }
}

/// What was detached is not accessed any more, and what lies beside attached memory never: an error names the rank.
#[test]
fn an_access_of_detached_memory_is_an_error() {
    for [name, value] in WINDOW_PATHS {
        Job::of(3).with(name, value).succeed(|world| {
            let comm = world.comm();
            let target = comm.size() - 1;
            let window = comm.dynamic_window()?;
            let attached = window.attach(world.alloc::<u64>(16)?)?;
            let address = comm.bcast(attached.address(), target)?;
            let outside = |at: u64| {
                let made = window.lock(target, LockKind::Shared, |epoch| {
                    epoch.put(&[1u64; 2], target, at)
                });
                let error = made.expect_err("nothing is attached");
                assert_eq!(error.class(), ErrorClass::RmaRange, "{error}");
                let says = format!("rank {target} has attached no memory at");
                assert!(error.to_string().contains(&says), "{error}");
            };
            window.lock(target, LockKind::Shared, |epoch| {
                epoch.put(&[7u64; 2], target, address)
            })?;
            for at in [address + 8 * 15, address - 8, 8] {
                outside(at);
            }
            comm.barrier()?;
            let memory = attached.detach()?;
            if comm.rank() == target {
                assert_eq!(memory[..3], [7, 7, 0]);
            }
            comm.barrier()?;
            outside(address);
            window.free()
        });
    }
}

/// Memory is attached and detached while others access its address: they succeed or learn that nothing is there.
#[test]
fn memory_that_comes_and_goes_is_accessed_or_refused() {
    const ROUNDS: usize = 300;
    for [name, value] in WINDOW_PATHS {
        Job::of(3).with(name, value).succeed(|world| {
            let comm = world.comm();
            let window = comm.dynamic_window()?;
            for memory in memories(world)? {
                let mut attached = window.attach(memory)?;
                let address = comm.bcast(attached.address(), 0)?;
                if comm.rank() == 0 {
                    for _ in 0..ROUNDS {
                        let memory = attached.detach()?;
                        assert!(
                            memory[..64].iter().all(|&word| word == memory[0]),
                            "a put is whole"
                        );
                        attached = window.attach(memory)?;
                    }
                } else {
                    for round in 0..ROUNDS as u64 {
                        let made = window.lock(0, LockKind::Exclusive, |epoch| {
                            epoch.put(&[round; 64], 0, address)
                        });
                        let class = made.err().map(|error| error.class());
                        assert!(class.is_none_or(|class| class == ErrorClass::RmaRange));
                    }
                }
                comm.barrier()?;
                attached.detach()?;
                comm.barrier()?;
            }
            window.free()
        });
    }
}

/// A list of nodes, each in memory of its own, that grows while others follow it; its end is found by all.
#[test]
fn ranks_append_to_a_list() {
    const EACH: u64 = 20;
    for [name, value] in WINDOW_PATHS {
        Job::of(4).with(name, value).cyclic().succeed(|world| {
            let comm = world.comm();
            let window = comm.dynamic_window()?;
            // A node: the rank of the next one, plus 1, and its address; the number of this one.
            let head = window.attach(world.alloc::<u64>(3)?)?;
            let head_address = comm.bcast(head.address(), 0)?;
            let mut nodes = Vec::new();
            for number in 0..EACH {
                let mut node = window.attach(world.alloc::<u64>(3)?)?;
                node.with(|node| node[2] = comm.rank() as u64 * EACH + number)?;
                let (mut rank, mut at) = (0, head_address);
                window.lock_all(|epoch| {
                    loop {
                        // The address first, so that whoever sees the rank finds it.
                        let before: u64 = epoch.compare_and_swap(0, u64::MAX, rank, at)?;
                        match before {
                            0 => break,
                            u64::MAX => continue,
                            next => {
                                at = epoch.load(rank, at + 8)?;
                                rank = next as usize - 1;
                            }
                        }
                    }
                    epoch.swap(&node.address(), rank, at + 8)?;
                    epoch.swap(&(comm.rank() as u64 + 1), rank, at)?;
                    Ok(())
                })?;
                nodes.push(node);
            }
            comm.barrier()?;
            let (mut rank, mut at, mut seen) = (0, head_address, Vec::new());
            window.lock_all(|epoch| {
                loop {
                    let next: u64 = epoch.load(rank, at)?;
                    if next == 0 {
                        return Ok(());
                    }
                    at = epoch.load(rank, at + 8)?;
                    rank = next as usize - 1;
                    seen.push(epoch.load::<u64>(rank, at + 16)?);
                }
            })?;
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..EACH * comm.size() as u64));
            comm.barrier()?;
            for node in nodes {
                node.detach()?;
            }
            head.detach()?;
            window.free()
        });
    }
}

/// What is dropped while it is attached stays where others access it.
#[test]
fn dropped_memory_stays_attached() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let window = comm.dynamic_window()?;
        let other = 1 - comm.rank();
        let address = {
            let attached = window.attach(Memory::from(vec![comm.rank() as u64; 4]))?;
            comm.sendrecv_replace(&mut [0u8], other, 0, other, 0)?;
            attached.address()
        };
        let mut addresses = [address];
        comm.sendrecv_replace(&mut addresses, other, 1, other, 1)?;
        let has = window.lock(other, LockKind::Shared, |epoch| {
            epoch.load::<u64>(other, addresses[0])
        })?;
        assert_eq!(has, other as u64);
        let refused =
            window.lock_all(|_| Ok(window.attach(Memory::from(vec![0u8; 4]))?.detach().err()))?;
        assert_eq!(refused.expect("in an epoch").class(), ErrorClass::RmaSync);
        window.free()
    });
}
