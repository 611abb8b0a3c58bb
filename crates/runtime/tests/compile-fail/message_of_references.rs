use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    world.comm().send(&["text"], 0, 1)
}
