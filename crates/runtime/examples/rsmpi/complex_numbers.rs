//! Rank 0 sends complex numbers, real part first. rsmpi: `complex_numbers`.

use oxmpi::World;
use zerocopy::{FromBytes, Immutable, IntoBytes};

#[derive(Clone, Copy, Debug, Default, FromBytes, Immutable, IntoBytes, PartialEq)]
#[repr(C)]
struct Complex64 {
    re: f64,
    im: f64,
}

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let wanted = [1.0, 2.0, 3.0].map(|re| Complex64 { re, im: re + 1.0 });
    let mut data = [Complex64::default(); 3];
    if world.comm().rank() == 0 {
        data = wanted;
    }
    world.comm().bcast_into(&mut data, 0)?;
    assert_eq!(data, wanted);
    Ok(())
}
