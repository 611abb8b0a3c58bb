use oxmpi::layout::{Strided, View};
use oxmpi::{Result, World};

fn main() -> Result<()> {
    let world = World::init()?;
    let mut matrix = [0u8; 4];
    let column = View::new(&matrix, Strided { first: 0, count: 2, block: 1, stride: 2 })?;
    world.comm().scope(|s| {
        let request = s.isend(&column, 0, 1)?;
        matrix[0] = 1;
        request.wait().map(drop)
    })
}
