use oxmpi::{Result, World, collective};

fn main() -> Result<()> {
    let world = World::init()?;
    let comm = world.comm().dup()?;
    let mut barrier = comm.persistent(collective::barrier())?;
    drop(comm);
    barrier.run().map(drop)
}
