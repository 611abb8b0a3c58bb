//! Ranks that the system really denies each other's memory: long messages take another road, and
//! nobody notices but who asks.
//!
//! Two ways, which need no privilege and work with all: a filter of system calls, as containers
//! have, and processes that may not be traced, as another user's (ptrace(2), "Ptrace access mode
//! checking").

use std::io;

use oxmpi::{Comm, Result, World};

use crate::job::Job;

/// Whom root's ranks are run as: root may trace all.
const NOBODY: u32 = 65_534;

/// Lengths on both sides of where roads and pieces change.
const LENGTHS: [usize; 3] = [9_000, 300_000, 1_000_000];

/// Which road the user asked for: `single` and `both` need what is denied.
const ROADS: [&str; 4] = ["auto", "single", "both", "cache"];

/// This process gets `EPERM` from process_vm_readv and process_vm_writev from now on. Everything else
/// is allowed.
fn filter() {
    let statement = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let is = |call: libc::c_long, to_denial: u8| {
        let code = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        statement(code, call as u32, to_denial, 0)
    };
    let answer = |k| statement(libc::BPF_RET | libc::BPF_K, k, 0, 0);
    let mut program = [
        // The call's number is the first field of what the filter sees.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        is(libc::SYS_process_vm_readv, 2),
        is(libc::SYS_process_vm_writev, 1),
        answer(libc::SECCOMP_RET_ALLOW),
        answer(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
    ];
    let program = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: no pointers; without new privileges a process may filter its own calls.
    let promised = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    // SAFETY: the program lives during the call, which copies it.
    let filtered = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        )
    };
    assert_eq!(
        (promised, filtered),
        (0, 0),
        "{}",
        io::Error::last_os_error()
    );
}

/// This process is no longer root's, so that what it may trace is what others may.
fn become_nobody() {
    // SAFETY: no pointers.
    if unsafe { libc::geteuid() } == 0 {
        // SAFETY: as above.
        let group = unsafe { libc::setgid(NOBODY) };
        // SAFETY: as above.
        let user = unsafe { libc::setuid(NOBODY) };
        assert_eq!((group, user), (0, 0), "root may become anybody");
    }
    traceable(true);
}

/// Says whether processes of the same user may read this one's memory.
fn traceable(whether: bool) {
    // SAFETY: no pointers.
    let set = unsafe { libc::prctl(libc::PR_SET_DUMPABLE, libc::c_ulong::from(whether), 0, 0, 0) };
    assert_eq!(set, 0, "{}", io::Error::last_os_error());
}

/// What the system says to this process when it reads a word of the peer's memory.
fn reads_peer(comm: &Comm) -> Result<io::Result<()>> {
    let peer = 1 - comm.rank();
    let word = 7u64;
    let mine = [
        u64::from(std::process::id()),
        (&raw const word).expose_provenance() as u64,
    ];
    let mut theirs = [0u64; 2];
    comm.sendrecv(&mine, peer, 0, &mut theirs, peer, 0)?;
    let mut copy = 0u64;
    let local = libc::iovec {
        iov_base: (&raw mut copy).cast(),
        iov_len: 8,
    };
    let remote = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(theirs[1] as usize),
        iov_len: 8,
    };
    let pid = theirs[0] as libc::pid_t;
    // SAFETY: the local bytes are those of a variable; the kernel looks up the others.
    let done = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    let error = io::Error::last_os_error();
    // The peer's variable lives until it was read.
    comm.barrier()?;
    Ok(if done == 8 { Ok(()) } else { Err(error) })
}

/// Messages of all lengths both ways, at once and one after the other.
fn exchange(comm: &Comm) -> Result<()> {
    let (me, peer) = (comm.rank(), 1 - comm.rank());
    for round in 0..6usize {
        for len in LENGTHS {
            let of = |rank: usize| (0..len).map(move |at| (at * 7 + at / 250 + rank + round) as u8);
            let out: Vec<u8> = of(me).collect();
            let mut room = vec![0; len];
            comm.sendrecv(&out, peer, 1, &mut room, peer, 1)?;
            assert!(room.iter().copied().eq(of(peer)), "{len} B at once");
            room.fill(0);
            for from in [0, 1] {
                if me == from {
                    comm.send(&out, peer, 2)?;
                } else {
                    comm.recv(&mut room, peer, 2)?;
                    assert!(room.iter().copied().eq(of(peer)), "{len} B from {from}");
                }
            }
        }
    }
    Ok(())
}

/// Plays a rank that is denied its peer's memory, if `denied` says so.
fn play(denied: bool) -> Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let answer = reads_peer(comm)?;
    if denied {
        let error = answer
            .expect_err("the peer's memory can be read")
            .raw_os_error();
        assert_eq!(error, Some(libc::EPERM));
    }
    exchange(comm)
}

/// The number of this process's rank, before it has joined the job.
fn rank() -> usize {
    let number = std::env::var("PMI_RANK").expect("this is a rank");
    number.parse().expect("a number")
}

#[test]
fn a_filter_of_calls_is_no_error() {
    for road in ROADS {
        let done = Job::of(2)
            .on_one_host()
            .with("OXMPI_SHM_ROAD", road)
            .run(|| {
                filter();
                play(true)
            });
        assert_eq!(done.code, 0, "{road}: {}", done.err);
    }
}

#[test]
fn one_that_is_filtered_is_enough() {
    for road in ROADS {
        let done = Job::of(2)
            .on_one_host()
            .with("OXMPI_SHM_ROAD", road)
            .run(|| {
                if rank() == 0 {
                    filter();
                }
                play(rank() == 0)
            });
        assert_eq!(done.code, 0, "{road}: {}", done.err);
    }
}

#[test]
fn processes_that_may_not_be_traced_are_no_error() {
    for road in ROADS {
        let done = Job::of(2)
            .on_one_host()
            .with("OXMPI_SHM_ROAD", road)
            .run(|| {
                become_nobody();
                traceable(false);
                play(true)
            });
        assert_eq!(done.code, 0, "{road}: {}", done.err);
    }
}

#[test]
fn one_that_may_not_be_traced_is_enough() {
    for road in ROADS {
        let done = Job::of(2)
            .on_one_host()
            .with("OXMPI_SHM_ROAD", road)
            .run(|| {
                become_nobody();
                if rank() == 1 {
                    traceable(false);
                }
                play(rank() == 0)
            });
        assert_eq!(done.code, 0, "{road}: {}", done.err);
    }
}

/// The right is taken away while the job runs, from a pair that has used it.
#[test]
fn a_right_that_is_lost_is_no_error() {
    for road in ROADS {
        let done = Job::of(2)
            .on_one_host()
            .with("OXMPI_SHM_ROAD", road)
            .run(|| {
                become_nobody();
                let world = World::init()?;
                exchange(world.comm())?;
                traceable(false);
                world.comm().barrier()?;
                let denied = reads_peer(world.comm())?.is_err();
                assert!(denied, "the peer's memory can still be read");
                exchange(world.comm())
            });
        assert_eq!(done.code, 0, "{road}: {}", done.err);
    }
}
