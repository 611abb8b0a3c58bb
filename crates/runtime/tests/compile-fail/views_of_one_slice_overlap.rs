use oxmpi::layout::{Strided, ViewMut};
use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let mut matrix = [0u8; 4];
    let mut left = ViewMut::new(&mut matrix, Strided { first: 0, count: 2, block: 1, stride: 2 })?;
    let mut right = ViewMut::new(&mut matrix, Strided { first: 1, count: 2, block: 1, stride: 2 })?;
    world.comm().recv(&mut left, 0, 1)?;
    world.comm().recv(&mut right, 0, 1).map(drop)
}
