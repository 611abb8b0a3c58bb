use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let mut values = [0u64; 4];
    let mut send = comm.send_init(&values, 0, 1)?;
    send.run()?;
    values[0] = 1;
    send.run()?;
    println!("{values:?}");
    Ok(())
}
