use oxmpi::layout::{Strided, View};
use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let matrix = [0u8; 4];
    let mut column = View::new(&matrix, Strided { first: 0, count: 2, block: 1, stride: 2 })?;
    world.comm().recv(&mut column, 0, 1).map(drop)
}
