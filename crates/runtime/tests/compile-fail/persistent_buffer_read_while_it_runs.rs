use oxmpi::{Result, World, collective};

fn main() -> Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let mut values = [0u64; 4];
    let mut bcast = comm.persistent(collective::bcast(&mut values, 0))?;
    comm.scope(|s| {
        let request = s.restart(&mut bcast)?;
        println!("{:?}", bcast.buffers());
        request.wait().map(drop)
    })
}
