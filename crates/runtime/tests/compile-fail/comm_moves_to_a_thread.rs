use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let comm = world.comm().dup()?;
    let other = std::thread::spawn(move || comm.barrier());
    other.join().expect("no panic")
}
