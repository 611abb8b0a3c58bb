//! Measures a barrier of all ranks; the twin of `crates/bench/peers/barrier.c`.
//!
//! Prints one line: nanoseconds for each barrier, in blocks of 1 to 2 ms, on rank 0.

mod blocks;
mod report;

fn main() -> oxmpi::Result<()> {
    let world = oxmpi::World::init()?;
    let comm = world.comm();
    let measured = blocks::measure(
        comm,
        comm.size(),
        &mut (),
        |(), times| (0..times).try_for_each(|_| comm.barrier()),
        |()| (),
    )?;
    report::report("barrier", comm, 0, &measured, 1.0, true);
    Ok(())
}
