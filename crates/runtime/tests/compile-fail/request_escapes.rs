use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let buffer = [0u8; 4];
    let request = world.comm().scope(|s| s.isend(&buffer, 0, 1))?;
    request.wait().map(drop)
}
