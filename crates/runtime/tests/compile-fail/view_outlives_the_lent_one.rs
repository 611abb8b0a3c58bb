use oxmpi::layout::{Strided, View, ViewMut};
use oxmpi::{Result, World};

fn main() -> Result<()> {
    let _world = World::init()?;
    let mut matrix = [0u8; 4];
    let mut column = ViewMut::new(&mut matrix, Strided { first: 0, count: 2, block: 1, stride: 2 })?;
    let shared: View<'_, u8> = column.as_view();
    column.copy_from_slice(&[1, 2]);
    println!("{:?}", shared.to_vec());
    Ok(())
}
