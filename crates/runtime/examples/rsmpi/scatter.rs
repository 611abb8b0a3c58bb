//! Rank 0 gives each rank its number. rsmpi: `scatter`.

use oxmpi::World;

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let root = 0;

    let all = (comm.rank() == root).then(|| (0..comm.size()).collect::<Vec<_>>());
    let x = comm.scatter(all.as_deref(), root)?;
    assert_eq!(x, comm.rank());
    Ok(())
}
