//! Measures joining and leaving a job; the twin of `crates/bench/peers/init.c`.
//!
//! Prints one line from each rank: nanoseconds for both.

use std::time::Instant;

fn main() -> oxmpi::Result<()> {
    let start = Instant::now();
    let world = oxmpi::World::init()?;
    let joined = start.elapsed().as_nanos();
    let (rank, ranks) = (world.comm().rank(), world.comm().size());
    let leaving = Instant::now();
    drop(world);
    let left = leaving.elapsed().as_nanos();
    println!(
        "{{\"kernel\":\"init\",\"ranks\":{ranks},\"rank\":{rank},\"init_ns\":{joined},\
         \"finalize_ns\":{left}}}"
    );
    Ok(())
}
