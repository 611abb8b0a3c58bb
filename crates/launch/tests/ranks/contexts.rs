//! Tests that messages of one communicator never match receives of another.

use std::thread;

use oxmpi::{Result, SharedComm};

use crate::job::Job;

/// Threads that duplicate at once, each a communicator of its own, get different contexts.
#[test]
fn threads_duplicate_at_once() {
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

fn duplicate(comm: &SharedComm, who: u32) -> Result<()> {
    const TIMES: u32 = 300;
    let peer = 1 - comm.rank();
    let copies: Vec<_> = (0..TIMES).map(|_| comm.dup()).collect::<Result<_>>()?;
    for (n, copy) in (0..).zip(&copies) {
        copy.bsend(&[who, n], peer, 0)?;
    }
    for (n, copy) in (0..).zip(&copies) {
        let mut got = [0u32; 2];
        copy.recv(&mut got, peer, 0)?;
        assert_eq!(got, [who, n]);
    }
    Ok(())
}
