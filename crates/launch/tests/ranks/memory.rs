//! Tests of `World::alloc`: memory that the other ranks of a node can map.

use oxmpi::{Error, Memory, Op, Result, World};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::footprint::memory;
use crate::job::{Job, SIZES};

/// Bytes of shared memory in use, this rank's share (proportional set size).
fn shared_in_use() -> u64 {
    memory("Pss_Shmem:")
}

/// Lowers the limit of a resource to `bytes`.
fn limit_to(resource: Resource, bytes: u64) {
    let limit = Rlimit {
        current: Some(bytes),
        maximum: Some(bytes),
    };
    setrlimit(resource, limit).expect("a lower limit may be set");
}

/// Elements that depend on their index and on the rank that sends them.
fn pattern(rank: usize, count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(move |i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ rank as u64)
}

/// Messages from and to allocated memory and vectors, at offsets too, of lengths for every path.
#[test]
fn messages_from_and_to_allocated_memory_arrive() {
    for ranks in [1, 2, 4] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (me, n) = (comm.rank(), comm.size());
            let (left, right) = ((me + n - 1) % n, (me + 1) % n);
            for count in [0, 1, 6, 700, 20_000, 300_000] {
                let mut own = world.alloc::<u64>(count + 3)?;
                let mut room = world.alloc::<u64>(count + 5)?;
                assert!(own.is_shared() && own.iter().all(|&x| x == 0));
                for (to, x) in own[3..].iter_mut().zip(pattern(me, count)) {
                    *to = x;
                }
                let private = own[3..].to_vec();
                let mut vector = vec![0; count];
                let pass = |from: &[u64], into: &mut [u64]| {
                    into.fill(9);
                    comm.sendrecv(from, right, 1, into, left, 1)?;
                    assert!(into.iter().copied().eq(pattern(left, count)), "{count}");
                    Ok(())
                };
                pass(&own[3..], &mut room[5..])?;
                pass(&private, &mut room[5..])?;
                pass(&own[3..], &mut vector)?;
                assert_eq!(room[..5], [0; 5]);
            }
            Ok(())
        });
    }
}

#[test]
fn collectives_and_shared_endpoints_use_allocated_memory() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let count = 50_000;
            let mut sum = world.alloc::<u64>(count)?;
            let mut part = world.alloc::<u64>(count)?;
            part.fill(comm.rank() as u64);
            comm.allreduce_into(&part, &mut sum, Op::SUM)?;
            let all = (0..comm.size() as u64).sum::<u64>();
            assert!(sum.iter().all(|&x| x == all));

            let me = comm.rank();
            // Each half of the ranks in reverse order, on an endpoint of its own.
            let half = comm
                .split(Some((me % 2) as u32), -(me as i32))?
                .expect("a part");
            let shared = half.share()?;
            let root = half.size() - 1;
            part.fill(me as u64 + 1);
            shared.bcast_into(&mut part, root)?;
            assert!(part.iter().all(|&x| x == (me % 2) as u64 + 1));
            Ok(())
        });
    }
}

/// Dropped memory takes no pages and is zero when it is allocated again. Memory may outlive its world.
#[test]
fn dropped_memory_is_free_and_zeroed_when_allocated_again() {
    let done = Job::of(2).on_one_host().run(|| -> Result<()> {
        let world = World::init()?;
        world.comm().barrier()?;
        const BYTES: usize = 64 << 20;
        let before = shared_in_use();
        let mut memory = world.alloc::<u8>(BYTES)?;
        let start = memory.as_ptr();
        assert!(
            shared_in_use() < before + (1 << 20),
            "nothing is touched yet"
        );
        memory.fill(7);
        assert!(shared_in_use() >= BYTES as u64);
        drop(memory);
        assert!(
            shared_in_use() < before + (1 << 20),
            "all of it is given back"
        );
        let again = world.alloc::<u8>(BYTES)?;
        assert_eq!(again.as_ptr(), start);
        assert!(again.iter().all(|&x| x == 0));
        world.finalize()?;
        let mut again = again;
        again[BYTES - 1] = 1;
        Ok(())
    });
    assert_eq!(done.code, 0, "{}", done.err);
}

/// The text of the error of an allocation that must fail.
fn refused<T: oxmpi::Data>(asked: Result<Memory<T>>) -> String {
    match asked.expect_err("more than there is") {
        error @ Error::Alloc { .. } => error.to_string(),
        other => panic!("{other}"),
    }
}

/// An allocation error names the bytes asked for, the bytes left, and the setting of the limit.
#[test]
fn a_failed_allocation_is_reported_with_numbers() {
    let done = Job::of(2)
        .on_one_host()
        .with("OXMPI_SHM_HEAP", "4MiB")
        .run(|| -> Result<()> {
            let world = World::init()?;
            let half = world.alloc::<u8>(2 << 20)?;
            let text = refused(world.alloc::<u32>(1 << 20));
            for says in [
                "asked for 4194304 bytes",
                "2097152 B are free",
                "of the 4194304 B of this rank's area",
                "shm_heap",
            ] {
                assert!(text.contains(says), "{text}");
            }
            drop(half);
            world.alloc::<u32>(1 << 20)?;
            for too_many in [1 << 50, usize::MAX] {
                let text = refused(world.alloc::<u64>(too_many));
                assert!(text.contains("MiB left"), "{text}");
            }
            world.comm().barrier()
        });
    assert_eq!(done.code, 0, "{}", done.err);
}

/// Runs a rank of a job of two in which `alloc` returns private memory.
fn private() -> Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let mut memory = world.alloc::<u64>(100_000)?;
    assert!(!memory.is_shared());
    memory.fill(comm.rank() as u64);
    comm.bcast_into(&mut memory, 1)?;
    assert!(memory.iter().all(|&x| x == 1));
    Ok(())
}

#[test]
fn memory_is_private_with_a_heap_of_0_bytes() {
    let done = Job::of(2)
        .on_one_host()
        .with("OXMPI_SHM_HEAP", "0")
        .run(|| {
            // A closure: the ranks find their test by its name.
            private()
        });
    assert_eq!(done.code, 0, "{}", done.err);
}

/// The limit on files leaves room for the rings, and none for the memory of `alloc`.
#[test]
fn memory_is_private_under_a_limit_on_files() {
    let done = Job::of(2).on_one_host().run(|| {
        limit_to(Resource::Fsize, 3 << 20);
        private()
    });
    assert_eq!(done.code, 0, "{}", done.err);
}

/// Rank 1 cannot map the areas of `alloc`: its own memory is private, and it receives from the other rank by
/// another protocol.
#[test]
fn a_rank_without_addresses_has_private_memory() {
    Job::of(2)
        .on_one_host()
        .with("OXMPI_SHM_HEAP", "64GiB")
        .succeed(|world| {
            let comm = world.comm();
            let me = comm.rank();
            if me == 1 {
                limit_to(Resource::As, 4 << 30);
            }
            let mut memory = world.alloc::<u64>(100_000)?;
            assert_eq!(memory.is_shared(), me == 0);
            memory.fill(me as u64);
            for root in [0, 1] {
                let mut room = memory.to_vec();
                let bytes = if me == root {
                    &mut memory[..]
                } else {
                    &mut room[..]
                };
                comm.bcast_into(bytes, root)?;
                assert!(bytes.iter().all(|&x| x == root as u64));
            }
            Ok(())
        });
}

/// One rank has no address space for the buffers of long messages: in both directions these messages take the
/// buffers of shorter ones.
#[test]
fn a_rank_without_addresses_exchanges_long_messages() {
    const BYTES: usize = 1 << 20;
    const LEFT: u64 = 8 << 20;
    for limited in [0, 1] {
        Job::of(2)
            .on_one_host()
            .with("OXMPI_SHM_HEAP", "0")
            .succeed(|world| {
                let comm = world.comm();
                let (me, other) = (comm.rank(), 1 - comm.rank());
                let (out, mut into) = (vec![me as u8 + 1; BYTES], vec![0; BYTES]);
                // Both links exist, and have carried no long message.
                comm.sendrecv(&out[..8], other, 1, &mut into[..8], other, 1)?;
                if me == limited {
                    limit_to(Resource::As, addresses() + LEFT);
                }
                comm.barrier()?;
                for _ in 0..3 {
                    into.fill(0);
                    comm.sendrecv(&out, other, 2, &mut into, other, 2)?;
                    assert!(into.iter().all(|&byte| byte == other as u8 + 1));
                }
                Ok(())
            });
    }
}

/// Bytes of address space that this process uses.
fn addresses() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("it exists");
    let pages = text
        .split(' ')
        .next()
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.expect("a number comes first") * rustix::param::page_size() as u64
}

/// A limit on files that is too small for the rings is reported with numbers, before the kernel ends the
/// process by a signal.
#[test]
fn a_file_limit_below_the_rings_is_refused_with_numbers() {
    let job = Job::of(2).on_one_host().with("OXMPI_TRANSPORTS", "^tcp");
    let done = job.run(|| -> Result<()> {
        limit_to(Resource::Fsize, 64 << 10);
        World::init()?.comm().barrier()
    });
    assert_eq!(done.code, 1, "{}", done.err);
    let says = "1 MiB of shared memory wanted, 0 MiB allowed in a file (RLIMIT_FSIZE, `ulimit -f`)";
    assert!(done.err.contains(says), "{}", done.err);
}

/// Access to allocated memory in a forked child panics and `alloc` fails there; the parent's memory is
/// unchanged.
#[test]
fn access_in_a_forked_child_is_an_error() {
    let done = Job::of(1).on_one_host().run(|| -> Result<()> {
        let world = World::init()?;
        let mut memory = world.alloc::<u8>(1000)?;
        memory.fill(5);
        // SAFETY: this rank has one thread, so no other thread holds a lock that the child needs.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let look = std::panic::AssertUnwindSafe(|| memory[0]);
            let panicked = std::panic::catch_unwind(look).expect_err("there is none");
            let text = panicked.downcast_ref::<&str>().copied().unwrap_or_default();
            assert!(text.contains("fork"), "{text}");
            assert!(matches!(world.alloc::<u8>(1), Err(Error::Forked)));
            drop(memory);
            drop(world);
            std::process::exit(3);
        }
        let mut status = 0;
        // SAFETY: the status is a local variable.
        let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!((ended, libc::WEXITSTATUS(status)), (child, 3));
        assert!(memory.iter().all(|&x| x == 5));
        Ok(())
    });
    assert_eq!(done.code, 0, "{}", done.err);
}
