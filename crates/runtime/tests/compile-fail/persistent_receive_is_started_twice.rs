use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let mut values = [0u64; 4];
    let mut receive = comm.recv_init(&mut values, 0, 1)?;
    comm.scope(|s| {
        s.restart(&mut receive)?;
        s.restart(&mut receive)?;
        Ok(())
    })
}
