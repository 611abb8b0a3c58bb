//! Tests of windows of shared memory with real ranks, which load and store each other's elements without calls.

use oxmpi::window::{LockKind, SharedWindow};
use oxmpi::{Comm, Error, ErrorClass, Op, Result};

use crate::job::{Job, SIZES, over_hosts};

/// Elements of a rank: another number for each, and none for every third.
fn count(rank: usize) -> usize {
    [5000, 1, 0][rank % 3] + rank
}

fn value(rank: usize, at: usize) -> u64 {
    (rank as u64) << 32 | at as u64
}

/// Each rank stores its right neighbour's elements, and loads its own.
fn neighbours_store(comm: &Comm, window: &SharedWindow<u64>) -> Result<()> {
    let (me, size) = (comm.rank(), comm.size());
    let right = (me + 1) % size;
    let theirs = window.of(right)?;
    assert_eq!(theirs.len(), count(right));
    for at in 0..theirs.len() {
        assert_eq!(theirs.load(at), 0, "zero at first");
    }
    window.fence()?;
    for at in (0..theirs.len()).step_by(2) {
        theirs.store(at, value(right, at));
    }
    for at in (1..theirs.len()).step_by(2) {
        theirs.write(at, &[value(right, at)]);
    }
    window.fence()?;
    let mine = window.local()?.to_vec();
    assert!(mine.into_iter().eq((0..count(me)).map(|at| value(me, at))));
    window.fence()
}

#[test]
fn neighbours_store_and_load_elements() {
    for ranks in SIZES {
        // The setting does not keep shared windows from being mapped.
        for direct in ["on", "off"] {
            let job = Job::of(ranks).on_one_host();
            job.with("OXMPI_WINDOW_DIRECT", direct).succeed(|world| {
                let comm = world.comm();
                let window = comm.shared_window(count(comm.rank()))?;
                neighbours_store(comm, &window)?;
                let values = (0..comm.size())
                    .flat_map(|rank| (0..count(rank)).map(move |at| value(rank, at)));
                assert!(
                    window.all()?.to_vec().into_iter().eq(values),
                    "in the order of ranks"
                );
                window.fence()?;
                window.free()?;

                let window = comm.shared_window_noncontiguous(count(comm.rank()))?;
                neighbours_store(comm, &window)?;
                let all = window.all();
                assert_eq!(all.is_err(), comm.size() > 1, "they begin at pages");
                window.free()
            });
        }
    }
}

/// A rank waits for a flag that another one stores after its data, without calls but `sync`.
#[test]
fn a_flag_says_that_data_is_stored() {
    Job::of(2).on_one_host().succeed(|world| {
        let comm = world.comm();
        let window = comm.shared_window::<u64>(1000)?;
        let (mine, theirs) = (window.local()?, window.of(1 - comm.rank())?);
        for round in 1..=200u64 {
            if comm.rank() as u64 == round % 2 {
                theirs.write(1, &[round; 999]);
                window.sync()?;
                theirs.store(0, round);
            } else {
                while mine.load(0) != round {
                    window.sync()?;
                }
                window.sync()?;
                assert!(mine.to_vec().into_iter().all(|word| word == round));
            }
            window.fence()?;
        }
        window.free()
    });
}

#[test]
fn locks_exclude_and_epochs_have_atomic_operations() {
    for ranks in SIZES {
        Job::of(ranks).on_one_host().succeed(|world| {
            let comm = world.comm();
            let window = comm.shared_window::<u64>(2)?;
            let first = window.of(0)?;
            for _ in 0..100 {
                window.lock(0, LockKind::Exclusive, |_| {
                    let value = first.load(0);
                    std::thread::yield_now();
                    first.store(0, value + 1);
                    Ok(())
                })?;
                window.lock_all(|epoch| epoch.fetch(&1, Op::SUM, 0, 1).map(drop))?;
            }
            window.fence()?;
            assert_eq!(first.to_vec(), [100 * comm.size() as u64; 2]);
            window.fence()?;
            window.free()
        });
    }
}

/// The views of a window of one thread may be used by others: they make no calls.
#[test]
fn threads_of_a_rank_store_at_once() {
    Job::of(2).on_one_host().succeed(|world| {
        let comm = world.comm();
        let window = comm.shared_window::<u32>(4000)?;
        let theirs = window.of(1 - comm.rank())?;
        std::thread::scope(|threads| {
            for part in 0..4u32 {
                threads.spawn(move || {
                    let mine = (0..1000).map(|at| 1000 * part + at);
                    mine.for_each(|at| theirs.store(at as usize, at + 1));
                });
            }
        });
        window.fence()?;
        assert!(window.local()?.to_vec().into_iter().eq(1..=4000));
        window.free()
    });
}

/// The class and the text of an error of a window.
fn refused<T>(result: Result<T>) -> (ErrorClass, String) {
    match result {
        Err(error @ Error::Window { class, .. }) => (class, error.to_string()),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it is refused"),
    }
}

/// More than rank 0 has is refused on all ranks with numbers, and the ranks go on.
#[test]
fn windows_beyond_the_heap_are_refused_on_all_ranks() {
    for ranks in [2, 4] {
        let job = Job::of(ranks).on_one_host().with("OXMPI_SHM_HEAP", "8MiB");
        job.succeed(|world| {
            let comm = world.comm();
            let me = comm.rank();
            // Only one rank asks for too much.
            let count = if me == 1 { 2 << 20 } else { 1 };
            for window in [
                comm.shared_window::<u64>(count),
                comm.shared_window_noncontiguous(count),
            ] {
                let (class, why) = refused(window);
                assert_eq!(class, ErrorClass::RmaShared, "{why}");
                assert!(
                    why.contains("the heap of this rank has") && why.contains("`shm_heap`"),
                    "{why}"
                );
            }
            let (_, why) = refused(comm.shared_window::<u64>(usize::MAX));
            assert!(why.contains("63 bits"), "{why}");
            let window = comm.shared_window::<u64>(1000)?;
            assert_eq!(window.all()?.len(), 1000 * comm.size());
            window.free()
        });
    }
}

#[test]
fn ranks_of_several_hosts_share_no_window() {
    if !over_hosts() {
        return;
    }
    Job::of(4).cyclic().succeed(|world| {
        let comm = world.comm();
        let (class, why) = refused(comm.shared_window::<u8>(1));
        assert_eq!(class, ErrorClass::RmaShared);
        assert!(why.contains("are on different nodes"), "{why}");
        let node = comm.split_by_node(0)?;
        let window = node.shared_window::<u8>(1)?;
        window.local()?.store(0, 1);
        window.fence()?;
        assert_eq!(window.all()?.to_vec(), vec![1; node.size()]);
        window.free()
    });
}

#[test]
fn ranks_agree_on_the_kind_and_the_elements() {
    Job::of(2).on_one_host().succeed(|world| {
        let comm = world.comm();
        let refused_kind = match comm.rank() {
            0 => refused(comm.shared_window::<u64>(1)),
            _ => refused(comm.shared_window_noncontiguous::<u64>(1)),
        };
        let refused_size = match comm.rank() {
            0 => refused(comm.shared_window::<u64>(1)),
            _ => refused(comm.shared_window::<u32>(1)),
        };
        for (_, why) in [refused_kind, refused_size] {
            assert!(why.contains("different kinds"), "{why}");
        }
        let window = comm.shared_window::<u64>(1)?;
        assert!(window.of(2).is_err(), "there is no rank 2");
        window.free()
    });
}
