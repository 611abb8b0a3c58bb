//! Each rank tells every rank its number. rsmpi: `all_to_all`.

use oxmpi::World;

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();

    let ranks = comm.alltoall(&vec![comm.rank(); comm.size()])?;
    println!("{ranks:?}");
    assert!(ranks.into_iter().eq(0..comm.size()));
    Ok(())
}
