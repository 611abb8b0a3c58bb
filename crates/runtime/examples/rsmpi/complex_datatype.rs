//! A struct with arrays and a struct in it. rsmpi: `complex_datatype`.

use oxmpi::World;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, PartialEq)]
#[repr(C)]
struct Pair {
    values: [f32; 2],
    flags: [u8; 4],
}

#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, PartialEq)]
#[repr(C)]
struct Record {
    ints: [i32; 4],
    pair: Pair,
}

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let pair = Pair {
        values: [-0.1, 0.1],
        flags: [7, 1, 0, 0],
    };
    let wanted = Record {
        ints: [1, -2, 3, -4],
        pair,
    };
    let mut records = [Record::new_zeroed()];
    if world.comm().rank() == 0 {
        records[0] = wanted;
    }
    world.comm().bcast_into(&mut records, 0)?;
    assert_eq!(records, [wanted]);
    Ok(())
}
