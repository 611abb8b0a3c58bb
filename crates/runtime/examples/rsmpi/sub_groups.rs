//! Three communicators of every third rank. rsmpi: `split`.

use oxmpi::World;

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let third = comm
        .split(Some(comm.rank() as u32 % 3), 0)?
        .expect("every rank has a colour");
    third.barrier()?;
    println!(
        "rank {} of {} is rank {} of {}",
        comm.rank(),
        comm.size(),
        third.rank(),
        third.size()
    );
    Ok(())
}
