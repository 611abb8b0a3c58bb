//! Tests that messages of one communicator never match receives of another.

use std::thread;

use oxmpi::{Result, SharedComm};

use crate::job::Job;

/// Threads that duplicate different communicators at the same time get different contexts.
#[test]
fn communicators_that_threads_duplicate_at_once_have_different_contexts() {
    Job::of(2).succeed(|world| {
        let one = world.comm().share()?;
        let other = one.dup()?;
        thread::scope(|threads| {
            let duplicating = threads.spawn(|| duplicate(&one, 1));
            duplicate(&other, 2)?;
            duplicating.join().expect("no panic")
        })
    });
}

fn duplicate(comm: &SharedComm, thread: u32) -> Result<()> {
    const TIMES: u32 = 300;
    let peer = 1 - comm.rank();
    let copies: Vec<_> = (0..TIMES).map(|_| comm.dup()).collect::<Result<_>>()?;
    for (n, copy) in (0..).zip(&copies) {
        copy.bsend(&[thread, n], peer, 0)?;
    }
    for (n, copy) in (0..).zip(&copies) {
        let mut got = [0u32; 2];
        copy.recv(&mut got, peer, 0)?;
        assert_eq!(got, [thread, n]);
    }
    Ok(())
}
