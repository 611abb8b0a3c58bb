use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let mut values = [0u64; 4];
    let mut receive = comm.recv_init(&mut values, 0, 1)?;
    comm.scope(|s| {
        let request = s.restart(&mut receive)?;
        println!("{:?}", receive.buffers());
        request.wait().map(drop)
    })
}
