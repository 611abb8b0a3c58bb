//! Tests of ranks without access to each other's memory: long messages use another protocol.
//!
//! Access is denied in two ways that need no privilege: a seccomp filter, as in containers, and processes
//! that may not be traced, as those of another user (ptrace(2), "Ptrace access mode checking"). Ranks that
//! may not create shared memory use tcp.

use std::io;

use oxmpi::{Comm, Result, World};

use crate::job::Job;

/// User and group that ranks of root change to: root may trace every process.
const NOBODY: u32 = 65_534;

/// Message lengths below and above the limits of protocols and chunks.
const LENGTHS: [usize; 3] = [9_000, 300_000, 1_000_000];

/// Values of the protocol setting; two of them need the denied access.
const PROTOCOLS: [&str; 4] = ["auto", "cma", "cma_both", "copy"];

/// The system calls that read and write another process's memory.
pub(crate) const TO_OTHERS: [libc::c_long; 2] =
    [libc::SYS_process_vm_readv, libc::SYS_process_vm_writev];

/// Installs a seccomp filter by which `calls` return `EPERM` in this process. All other calls are allowed.
pub(crate) fn filter(calls: &[libc::c_long]) {
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
    // The filter's input begins with the number of the call.
    let mut program = vec![statement(
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        0,
        0,
        0,
    )];
    let to_denial = (1..=calls.len() as u8).rev();
    program.extend(calls.iter().zip(to_denial).map(|(&call, to)| is(call, to)));
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program.push(answer(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
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

/// Changes this process from root to [`NOBODY`], so that it may trace what ordinary users may.
pub(crate) fn drop_root() {
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

/// Sets whether processes of the same user may read this process's memory.
pub(crate) fn traceable(whether: bool) {
    // SAFETY: no pointers.
    let set = unsafe { libc::prctl(libc::PR_SET_DUMPABLE, libc::c_ulong::from(whether), 0, 0, 0) };
    assert_eq!(set, 0, "{}", io::Error::last_os_error());
}

/// Reads a word of the peer's memory, and returns the kernel's error if that is denied.
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
    // After the barrier the peer has read the variable, which may be dropped.
    comm.barrier()?;
    Ok(if done == 8 { Ok(()) } else { Err(error) })
}

/// Exchanges messages of all lengths in both directions, at once and one after the other.
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

/// Runs a rank that exchanges messages; with `denied` it checks first that it cannot read its peer's memory.
fn exchange_as_rank(denied: bool) -> Result<()> {
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

/// This process's rank, known before it joins the job.
pub(crate) fn rank() -> usize {
    let number = std::env::var("PMI_RANK").expect("this is a rank");
    number.parse().expect("a number")
}

#[test]
fn ranks_exchange_with_reads_and_writes_denied() {
    for protocol in PROTOCOLS {
        let done = Job::of(2)
            .on_one_host()
            .with("OXMPI_SHM_PROTOCOL", protocol)
            .run(|| {
                filter(&TO_OTHERS);
                exchange_as_rank(true)
            });
        assert_eq!(done.code, 0, "{protocol}: {}", done.err);
    }
}

/// With reads allowed and writes denied a gather succeeds, whose long blocks would be written to the root's
/// memory.
#[test]
fn ranks_gather_with_writes_denied() {
    let job = Job::of(3).on_one_host().run(|| {
        if rank() == 1 {
            filter(&TO_OTHERS[1..]);
        }
        let world = World::init()?;
        let comm = world.comm();
        for len in LENGTHS {
            let mine = vec![comm.rank() as u8; len];
            let is_root = comm.rank() == 0;
            let mut all = vec![9; 3 * len];
            comm.gather_into(&mine, is_root.then_some(&mut all), 0)?;
            let right = |(at, byte): (usize, &u8)| usize::from(*byte) == at / len;
            assert!(!is_root || all.iter().enumerate().all(right), "{len} B");
        }
        Ok::<(), oxmpi::Error>(())
    });
    assert_eq!(job.code, 0, "{}", job.err);
}

#[test]
fn ranks_exchange_when_one_is_denied_access() {
    for protocol in PROTOCOLS {
        let done = Job::of(2)
            .on_one_host()
            .with("OXMPI_SHM_PROTOCOL", protocol)
            .run(|| {
                if rank() == 0 {
                    filter(&TO_OTHERS);
                }
                exchange_as_rank(rank() == 0)
            });
        assert_eq!(done.code, 0, "{protocol}: {}", done.err);
    }
}

#[test]
fn ranks_exchange_when_none_may_be_traced() {
    for protocol in PROTOCOLS {
        let done = Job::of(2)
            .on_one_host()
            .with("OXMPI_SHM_PROTOCOL", protocol)
            .run(|| {
                drop_root();
                traceable(false);
                exchange_as_rank(true)
            });
        assert_eq!(done.code, 0, "{protocol}: {}", done.err);
    }
}

#[test]
fn ranks_exchange_when_one_may_not_be_traced() {
    for protocol in PROTOCOLS {
        let done = Job::of(2)
            .on_one_host()
            .with("OXMPI_SHM_PROTOCOL", protocol)
            .run(|| {
                drop_root();
                if rank() == 1 {
                    traceable(false);
                }
                exchange_as_rank(rank() == 0)
            });
        assert_eq!(done.code, 0, "{protocol}: {}", done.err);
    }
}

/// Two ranks that have read each other's memory lose the right to do so while the job runs.
#[test]
fn ranks_exchange_after_access_is_revoked() {
    for protocol in PROTOCOLS {
        let done = Job::of(2)
            .on_one_host()
            .with("OXMPI_SHM_PROTOCOL", protocol)
            .run(|| {
                drop_root();
                let world = World::init()?;
                exchange(world.comm())?;
                traceable(false);
                world.comm().barrier()?;
                let denied = reads_peer(world.comm())?.is_err();
                assert!(denied, "the peer's memory can still be read");
                exchange(world.comm())
            });
        assert_eq!(done.code, 0, "{protocol}: {}", done.err);
    }
}

/// A part of the warning that a job prints once on each host where shared memory does not open.
const INSTEAD: &str = "tcp is used instead";

/// Exchanges messages of all lengths among all ranks, received in memory of [`World::alloc`]. `neighbours` is
/// the expected number of ranks that share memory with this one, itself included.
fn exchange_among_all(world: &World, neighbours: usize) -> Result<()> {
    let comm = world.comm();
    assert_eq!(comm.split_by_node(0)?.size(), neighbours);
    let (rank, size) = (comm.rank(), comm.size());
    for len in LENGTHS {
        let mine: Vec<u8> = (0..size)
            .flat_map(|to| vec![(rank * 7 + to) as u8; len])
            .collect();
        let mut theirs = world.alloc::<u8>(len * size)?;
        comm.alltoall_into(&mine, &mut theirs)?;
        for (from, block) in theirs.chunks(len).enumerate() {
            assert!(block.iter().all(|&byte| byte == (from * 7 + rank) as u8));
        }
    }
    let shared = comm.share()?;
    shared.barrier()?;
    assert_eq!(shared.split_by_node(0)?.size(), neighbours);
    Ok(())
}

#[test]
fn ranks_without_shared_memory_use_tcp() {
    for ranks in [1, 2, 4] {
        let done = Job::of(ranks).on_one_host().run(|| {
            filter(&[libc::SYS_memfd_create]);
            exchange_among_all(&World::init()?, 1)
        });
        assert_eq!(done.code, 0, "{done:?}");
        let warnings = usize::from(ranks > 1);
        assert_eq!(done.err.matches(INSTEAD).count(), warnings, "{}", done.err);
        let why = "sm does not open: shared memory: memfd: Operation not permitted";
        assert_eq!(done.err.matches(why).count(), warnings, "{}", done.err);
    }
}

/// The other ranks share memory when one rank may not create any.
#[test]
fn a_rank_without_shared_memory_uses_tcp() {
    for denied in ["0", "2"] {
        let job = Job::of(4).on_one_host().with("DENIED", denied);
        let done = job.run(|| {
            let denied = std::env::var("DENIED").is_ok_and(|denied| denied == rank().to_string());
            if denied {
                filter(&[libc::SYS_memfd_create]);
            }
            exchange_among_all(&World::init()?, if denied { 1 } else { 3 })
        });
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(done.err.matches(INSTEAD).count(), 1, "{}", done.err);
    }
}

#[test]
fn without_another_transport_the_error_says_why_shared_memory_fails() {
    let done = Job::of(2)
        .on_one_host()
        .with("OXMPI_TRANSPORTS", "sm")
        .run(|| {
            filter(&[libc::SYS_memfd_create]);
            World::init().map(drop)
        });
    assert_eq!(done.code, 1, "{done:?}");
    for said in [
        "sm: it does not open: shared memory: memfd: Operation not permitted",
        "tcp: transports = sm (OXMPI_TRANSPORTS) does not name it",
    ] {
        assert!(done.err.contains(said), "{}", done.err);
    }
}
