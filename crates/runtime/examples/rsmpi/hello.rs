//! Every rank says its number. rsmpi: `simple`.

use oxmpi::World;

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let (rank, size) = (world.comm().rank(), world.comm().size());
    println!("hello from rank {rank} of {size}");
    Ok(())
}
