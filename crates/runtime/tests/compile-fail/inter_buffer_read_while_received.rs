use oxmpi::{InterComm, Result};

fn receive(inter: &InterComm) -> Result<()> {
    let mut buffer = [0u8; 4];
    inter.scope(|s| {
        let request = s.irecv(&mut buffer, 0, 1)?;
        println!("{}", buffer[0]);
        request.wait().map(drop)
    })
}

fn main() -> Result<()> {
    let world = oxmpi::World::init()?;
    receive(&world.comm().intercomm(0, None)?)
}
