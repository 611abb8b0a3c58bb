//! Three communicators of every third rank. rsmpi: `split` and `group`.

use oxmpi::{Comparison, World};

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let third = comm
        .split(Some(comm.rank() as u32 % 3), 0)?
        .expect("every rank has a colour");
    third.barrier()?;
    assert_eq!(third.group().compare(&third.group()), Comparison::Identical);
    println!(
        "rank {} of {} is rank {} of {}",
        comm.rank(),
        comm.size(),
        third.rank(),
        third.size()
    );
    Ok(())
}
