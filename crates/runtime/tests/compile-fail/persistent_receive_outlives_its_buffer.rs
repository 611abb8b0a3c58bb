use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let mut receive = {
        let mut values = [0u64; 4];
        comm.recv_init(&mut values, 0, 1)?
    };
    receive.run().map(drop)
}
