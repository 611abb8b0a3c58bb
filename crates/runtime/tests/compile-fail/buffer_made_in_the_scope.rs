use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    world.comm().scope(|s| {
        let mut buffer = [0u8; 4];
        s.irecv(&mut buffer, 0, 1)?;
        Ok(())
    })
}
