use oxmpi::{Result, World};

#[derive(Clone, Copy)]
#[repr(C)]
struct Padded {
    small: u8,
    large: u64,
}

fn main() -> Result<()> {
    let world = World::init()?;
    world.comm().send(&[Padded { small: 1, large: 2 }], 0, 1)
}
