//! Every rank prints its number, process and host.
//!
//! `oxmpi run -n 4 hello`

use oxmpi::World;

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    println!(
        "hello from rank {} of {}, pid {} on {}",
        comm.rank(),
        comm.size(),
        std::process::id(),
        world.host()
    );
    Ok(())
}
