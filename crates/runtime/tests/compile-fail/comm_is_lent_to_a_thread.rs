use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    std::thread::scope(|threads| {
        threads.spawn(|| world.comm().barrier());
    });
    Ok(())
}
