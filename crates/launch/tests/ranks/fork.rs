//! Tests that a forked child of a rank does not take part in the job or disturb it.

use std::process::exit;

use oxmpi::{Comm, Error, Result, Source, Tag, World};

use crate::job::Job;

/// The exit code of a child for which all went well. A child that panics ends with code 0, as the test harness waits for its
/// thread on another one, which a child does not have.
pub(crate) const CHILD_OK: i32 = 3;

/// Forks this process. Returns 0 in the child and the child's process number in the parent.
pub(crate) fn fork() -> i32 {
    // SAFETY: a rank of this test has one thread, so no other thread holds a lock that the child needs.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "no process is left");
    pid
}

/// Waits for a child. Returns its exit code, or 1000 plus the number of the signal that ended it.
pub(crate) fn wait(pid: i32) -> i32 {
    let mut status = 0;
    // SAFETY: the status is a local variable.
    let ended = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!(ended, pid);
    if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status)
    } else {
        1000 + libc::WTERMSIG(status)
    }
}

pub(crate) fn refused<T>(result: Result<T>) {
    match result {
        Ok(_) => panic!("a call went well in the child"),
        Err(Error::Forked) => {}
        Err(other) => panic!("{other}"),
    }
}

fn every_call_is_refused(comm: &Comm) {
    let peer = comm.size() - 1;
    refused(comm.send(&[1u8], peer, 1));
    refused(comm.bsend(&[1u8], peer, 1));
    refused(comm.recv(&mut [1u8], peer, 1));
    refused(comm.recv_vec::<u8>(Source::Any, 1));
    refused(comm.probe(Source::Any, Tag::Any));
    refused(comm.iprobe(Source::Any, Tag::Any));
    refused(comm.barrier());
    refused(comm.dup());
    refused(comm.split(None, 0));
    refused(comm.share());
}

/// The child gets errors from everything that was open at the fork: a request, a scope, a claimed message, an
/// owned request, the world. The parent completes all of them.
#[test]
fn calls_in_a_forked_child_fail_and_its_parent_continues() {
    for ranks in [1, 2] {
        let done = Job::of(ranks).run(|| {
            let world = World::init()?;
            let comm = world.comm();
            let (me, peer) = (comm.rank(), comm.size() - 1 - comm.rank());
            let long = vec![me as u8; 300_000];
            let mut room = vec![9u8; 300_000];
            comm.send(&[5u8], peer, 8)?;
            let message = comm.mprobe(peer, 8)?;
            let owned = comm.irecv_owned::<u8>(10, peer, 9)?;
            let mut child = -1;
            let ended = comm.scope(|s| {
                let receive = s.irecv(&mut room, peer, 7)?;
                s.isend(&long, peer, 7)?;
                child = fork();
                if child == 0 {
                    every_call_is_refused(comm);
                    refused(receive.wait());
                    return Err(Error::Forked);
                }
                Ok(())
            });
            if child == 0 {
                refused(ended);
                refused(message.recv_vec::<u8>());
                refused(owned.wait());
                drop(world);
                exit(CHILD_OK);
            }
            assert_eq!(wait(child), CHILD_OK, "the child ended well");
            ended?;
            assert!(room.iter().all(|&byte| byte == peer as u8));
            assert_eq!(message.recv_vec::<u8>()?.0, [5]);
            comm.send(&[6u8], peer, 9)?;
            assert_eq!(owned.wait()?.0, [6]);
            comm.barrier()
        });
        assert_eq!(done.code, 0, "{}", done.err);
    }
}
