//! Tests of windows of real ranks where something is missing: the process after a fork, the heap's memory, access to other
//! processes, a target that runs.

use oxmpi::window::{ByteWindow, DynamicWindow, LockKind, SharedWindow};
use oxmpi::{Comm, Error, Memory, Op, Result, World};
use rustix::process::{Pid, Signal, kill_process};

use crate::denied::{TO_OTHERS, drop_root, filter, rank, traceable};
use crate::fork::{CHILD_OK, fork, refused, wait};
use crate::job::{Job, WINDOW_PATHS};

/// Bytes of a rank's memory: a page.
const BYTES: usize = 4096;

fn private() -> Memory<u8> {
    vec![0; BYTES].into()
}

/// Windows of memory of the heap, and of private memory.
fn windows(world: &World) -> Result<[ByteWindow; 2]> {
    let comm = world.comm();
    Ok([
        comm.byte_window(world.alloc(BYTES)?, private())?,
        comm.byte_window(private(), private())?,
    ])
}

/// Each rank does all that there is to its right neighbour's memory, which is zero before and afterwards.
fn every_operation(comm: &Comm, window: &mut ByteWindow) -> Result<()> {
    let (me, size) = (comm.rank(), comm.size());
    let right = (me + 1) % size;
    let mine = [me as u8 + 1; 300];
    window.lock_all()?;
    window.put(&mine, right, 0)?;
    window.flush(right)?;
    window.get(0..300, right, 0)?;
    window.flush_local(right)?;
    assert_eq!(window.landing()?[..300], mine);
    window.unlock_all()?;

    window.lock(right, LockKind::Exclusive)?;
    window.accumulate(&[3u64; 50], Op::SUM, right, 1024)?;
    window.get_accumulate(&[4u64], Op::SUM, 0, right, 1024)?;
    window.compare_and_swap([7u64, 9], 8, right, 1024)?;
    window.unlock(right)?;
    let before = [3u64, 7].map(u64::to_ne_bytes);
    assert_eq!(window.landing()?[..16], *before.as_flattened());

    window.fence(true)?;
    window.put(&mine, right, 2048)?;
    window.fence(false)?;
    let mut own = [0; BYTES];
    window.lock(me, LockKind::Exclusive)?;
    window.load(&mut own, 0)?;
    window.store(&[0; BYTES], 0)?;
    window.unlock(me)?;
    let left = ((me + size - 1) % size) as u8 + 1;
    let sums = [[9u64].as_slice(), &[3; 49]].concat();
    let sums: Vec<u8> = sums.into_iter().flat_map(u64::to_ne_bytes).collect();
    assert_eq!([&own[..300], &own[2048..2348]], [[left; 300]; 2]);
    assert_eq!(own[1024..1424], sums);
    comm.barrier()
}

/// What a forked child does.
#[derive(Clone, Copy)]
enum Child {
    Calls,
    Exits,
    Executes,
}

impl Child {
    fn run(
        self,
        window: &mut ByteWindow,
        shared: Option<&SharedWindow<u64>>,
        dynamic: &DynamicWindow,
    ) -> ! {
        match self {
            Self::Calls => every_call_is_refused(window, shared, dynamic),
            Self::Exits => {}
            Self::Executes => {
                let command = c"exit 3";
                let end = std::ptr::null::<libc::c_char>();
                // SAFETY: the list of arguments has an end.
                unsafe {
                    libc::execl(
                        c"/bin/sh".as_ptr(),
                        c"sh".as_ptr(),
                        c"-c".as_ptr(),
                        command.as_ptr(),
                        end,
                    )
                };
                panic!("there is no /bin/sh");
            }
        }
        std::process::exit(CHILD_OK)
    }
}

fn every_call_is_refused(
    window: &mut ByteWindow,
    shared: Option<&SharedWindow<u64>>,
    dynamic: &DynamicWindow,
) {
    for target in [0, 1] {
        refused(window.put(&[1; 8], target, 0));
        refused(window.get(0..8, target, 0));
        refused(window.accumulate(&[1u64], Op::SUM, target, 0));
        refused(window.get_accumulate(&[1u64], Op::SUM, 0, target, 0));
        refused(window.compare_and_swap([0u64, 1], 0, target, 0));
        refused(window.flush(target));
        refused(window.flush_local(target));
        refused(window.lock(target, LockKind::Shared));
        refused(window.unlock(target));
        if let Some(shared) = shared {
            refused(shared.of(target));
            refused(shared.lock(target, LockKind::Exclusive, |_| Ok(())));
        }
    }
    refused(window.load(&mut [0; 8], 0));
    refused(window.store(&[0; 8], 0));
    refused(window.landing().map(drop));
    refused(window.flush_all());
    refused(window.flush_local_all());
    refused(window.unlock_all());
    refused(window.lock_all());
    refused(window.fence(true));
    refused(dynamic.attach(private()));
    refused(dynamic.lock_all(|_| Ok(())));
    if let Some(shared) = shared {
        refused(shared.sync());
        refused(shared.fence());
    }
}

/// A rank forks in an epoch: its child may do nothing to windows, and its own accesses go on while the child runs.
#[test]
fn epochs_go_on_after_a_fork() {
    for [name, value] in WINDOW_PATHS {
        let job = Job::of(2).on_one_host().with(name, value);
        job.succeed(|world| {
            let comm = world.comm();
            let other = 1 - comm.rank();
            // Ranks that have no memory in common share no window.
            let shared = comm.shared_window::<u64>(4).ok();
            let dynamic = comm.dynamic_window()?;
            for mut window in windows(world)? {
                for kind in [Child::Calls, Child::Exits, Child::Executes] {
                    window.lock_all()?;
                    window.put(&[5; 64], other, 128)?;
                    window.accumulate(&[7u64; 4], Op::SUM, other, 256)?;
                    let child = fork();
                    if child == 0 {
                        kind.run(&mut window, shared.as_ref(), &dynamic);
                    }
                    window.put(&[6; 32], other, 128)?;
                    window.accumulate(&[1u64; 4], Op::SUM, other, 256)?;
                    window.flush(other)?;
                    window.get(0..160, other, 128)?;
                    let landing = window.landing()?;
                    assert_eq!(landing[..64], [[6; 32], [5; 32]].concat());
                    assert_eq!(landing[128..136], 8u64.to_ne_bytes());
                    window.unlock_all()?;
                    assert_eq!(wait(child), CHILD_OK, "the child ended well");
                    comm.barrier()?;
                    window.lock(comm.rank(), LockKind::Exclusive)?;
                    window.store(&[0; BYTES], 0)?;
                    window.unlock(comm.rank())?;
                    comm.barrier()?;
                    every_operation(comm, &mut window)?;
                }
                window.free()?;
            }
            dynamic.free()?;
            shared.map_or(Ok(()), SharedWindow::free)
        });
    }
}

/// No page of the heap is left for the locks of windows, on all ranks or on one: messages ask for what they protect.
#[test]
fn windows_without_room_for_their_locks_are_accessed_by_messages() {
    for full in ["0", "0 1 2"] {
        let job = Job::of(3).on_one_host().with("OXMPI_SHM_HEAP", "2MiB");
        job.with("TEST_FULL", full).succeed(|world| {
            let comm = world.comm();
            let full = std::env::var("TEST_FULL").expect("set");
            let is_full = full.contains(&comm.rank().to_string());
            let mut pages = Vec::new();
            while let Ok(page) = world.alloc::<u8>(BYTES) {
                pages.push(page);
                if !is_full && pages.len() == 3 {
                    break;
                }
            }
            assert_eq!(pages.len() > 100, is_full, "{} pages", pages.len());
            let mut page = || pages.pop().expect("it has been allocated");
            for memory in [page(), private()] {
                let mut window = comm.byte_window(memory, page())?;
                every_operation(comm, &mut window)?;
                window.free()?;
            }
            assert_eq!(
                comm.shared_window::<u8>(1 << 20).is_err(),
                full.contains('0')
            );
            drop(pages);
            windows(world)?.into_iter().try_for_each(|mut window| {
                every_operation(comm, &mut window)?;
                window.free().map(drop)
            })
        });
    }
}

/// The system calls that reach private memory of another rank are refused, all or those that write, on all ranks or on one.
#[test]
fn windows_work_where_access_to_other_processes_is_refused() {
    for refused in ["0 1 2", "1"] {
        for calls in ["both", "writes"] {
            let job = Job::of(3).on_one_host().with("TEST_REFUSED", refused);
            let done = job.with("TEST_CALLS", calls).run(|| {
                let refused = std::env::var("TEST_REFUSED").expect("set");
                let calls = std::env::var("TEST_CALLS").expect("set");
                if refused.contains(&rank().to_string()) {
                    filter(&TO_OTHERS[usize::from(calls == "writes")..]);
                }
                let world = World::init()?;
                for mut window in windows(&world)? {
                    every_operation(world.comm(), &mut window)?;
                    window.free()?;
                }
                Ok::<_, Error>(())
            });
            assert_eq!(done.code, 0, "{calls} on {refused}: {done:?}");
        }
    }
}

/// Access to other processes is refused after a window is made: an access is an error that names its target, and leaves no
/// lock behind.
#[test]
fn access_that_is_revoked_later_is_an_error() {
    let done = Job::of(2).on_one_host().run(|| {
        drop_root();
        let world = World::init()?;
        let comm = world.comm();
        let other = 1 - comm.rank();
        let mut window = comm.byte_window(private(), private())?;
        every_operation(comm, &mut window)?;
        traceable(false);
        comm.barrier()?;
        window.lock(other, LockKind::Exclusive)?;
        for access in [
            window.put(&[1; 8], other, 0),
            window.get(0..8, other, 0),
            window.accumulate(&[1u64], Op::SUM, other, 0),
            window.accumulate(&[1u64; 100], Op::SUM, other, 0),
        ] {
            let why = access.expect_err("it is refused").to_string();
            let says = format!("reach the memory of rank {other} any more");
            assert!(why.contains(&says), "{why}");
        }
        window.unlock(other)?;
        comm.barrier()?;
        window.lock(comm.rank(), LockKind::Exclusive)?;
        window.accumulate(&[1u64; 100], Op::SUM, comm.rank(), 0)?;
        window.unlock(comm.rank())?;
        window.free()?;
        Ok::<_, Error>(())
    });
    assert_eq!(done.code, 0, "{done:?}");
}

/// Waits until a process is stopped by a signal.
fn stop(process: Pid) {
    kill_process(process, Signal::STOP).expect("it runs");
    let is_stopped = || {
        let path = format!("/proc/{}/stat", process.as_raw_nonzero());
        let stat = std::fs::read_to_string(path).expect("it is there");
        stat.rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('T'))
    };
    while !is_stopped() {
        std::thread::yield_now();
    }
}

/// A thousand operations of each kind on a target that is stopped, in the heap and in private memory.
#[test]
fn a_stopped_target_is_accessed_by_every_operation() {
    const TIMES: u64 = 1000;
    let done = Job::of(2).on_one_host().run(|| {
        let world = World::init()?;
        let comm = world.comm();
        for mut window in windows(&world)? {
            if comm.rank() == 1 {
                comm.send(&[std::process::id()], 0, 1)?;
            } else {
                let target = comm.recv_vec::<u32>(1, 1)?.0[0].cast_signed();
                let target = Pid::from_raw(target).expect("a process");
                stop(target);
                let worked = (0..TIMES).try_for_each(|i| {
                    let kinds = [LockKind::Exclusive, LockKind::Shared];
                    window.lock(1, kinds[i as usize % 2])?;
                    window.put(&i.to_ne_bytes(), 1, 40)?;
                    window.flush(1)?;
                    window.get(0..8, 1, 40)?;
                    window.flush_local(1)?;
                    assert_eq!(window.landing()?[..8], i.to_ne_bytes());
                    window.accumulate(&[1u64; 100], Op::SUM, 1, 80)?;
                    window.flush_all()?;
                    window.get_accumulate(&[1u64], Op::SUM, 8, 1, 2000)?;
                    window.compare_and_swap([i, i + 1], 16, 1, 2008)?;
                    assert_eq!(
                        window.landing()?[8..24],
                        [i; 2].map(u64::to_ne_bytes).concat()
                    );
                    window.unlock(1)
                });
                kill_process(target, Signal::CONT).expect("it is there");
                worked?;
            }
            comm.barrier()?;
            let memory = window.free()?;
            if comm.rank() == 1 {
                let word = |at: usize| memory[at..at + 8].to_vec();
                assert_eq!(word(40), (TIMES - 1).to_ne_bytes());
                for at in [80, 872, 2000, 2008] {
                    assert_eq!(word(at), TIMES.to_ne_bytes(), "byte {at}");
                }
            }
        }
        Ok::<_, Error>(())
    });
    assert_eq!(done.code, 0, "{done:?}");
}
