use oxmpi::layout::{Strided, ViewMut};
use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let mut matrix = [0u8; 4];
    let mut column = ViewMut::new(&mut matrix, Strided { first: 0, count: 2, block: 1, stride: 2 })?;
    world.comm().scope(|s| {
        s.irecv(&mut column, 0, 1)?;
        s.isend(&column, 0, 1)?;
        Ok(())
    })
}
