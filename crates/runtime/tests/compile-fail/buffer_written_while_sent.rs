use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let mut buffer = [0u8; 4];
    world.comm().scope(|s| {
        let request = s.isend(&buffer, 0, 1)?;
        buffer[0] = 1;
        request.wait().map(drop)
    })
}
