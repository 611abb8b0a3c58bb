//! Rank 0 sends a struct that the others receive as an array. A type of plain data needs no description: its
//! bytes travel. rsmpi: `structured`.

use oxmpi::World;
use zerocopy::{FromBytes, Immutable, IntoBytes};

#[derive(Clone, Copy, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
struct Particle {
    kind: i32,
    charge: i32,
    spin: i32,
}

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let (kind, charge, spin) = (3, 2, 1);
    let mut ints = [0; 3];
    if comm.rank() == 0 {
        ints = zerocopy::transmute!(Particle { kind, charge, spin });
    }
    comm.bcast_into(&mut ints, 0)?;
    assert_eq!(ints, [3, 2, 1]);
    Ok(())
}
