use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let mut flags = [false; 4];
    world.comm().recv(&mut flags, 0, 1).map(drop)
}
