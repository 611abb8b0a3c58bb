use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let request = {
        let comm = world.comm().dup()?;
        comm.irecv_owned::<u8>(4, 0, 1)?
    };
    request.wait().map(drop)
}
