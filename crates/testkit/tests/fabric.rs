//! The fabric is a transport like any other: it passes the suite in every weather.

use oxmpi_testkit::conformance::{End, Mortal, Subject};
use oxmpi_testkit::fabric::{Fabric, FabricRx, FabricTx, Weather, fabric};
use oxmpi_testkit::memory::Shared;

fn join<S>(weather: Weather) -> [End<S>; 2]
where
    S: Subject<Tx = FabricTx, Rx = FabricRx>,
{
    let (_, ends) = fabric(2, weather);
    End::two(ends)
}

macro_rules! subject {
    ($name:ident, $weather:expr) => {
        struct $name;

        impl Subject for $name {
            type Tx = FabricTx;
            type Rx = FabricRx;
            type Memory = Shared;

            fn join() -> [End<Self>; 2] {
                join($weather)
            }

            fn memory(bytes: Vec<u8>) -> Shared {
                Shared::new(bytes)
            }

            fn bytes(memory: &Shared) -> Shared {
                memory.clone()
            }

            fn read(memory: &Shared) -> Vec<u8> {
                memory.to_vec()
            }
        }

        impl Mortal for $name {
            fn kill(end: End<Self>) {
                Fabric::of(&end.tx).kill(end.tx.me());
            }
        }
    };
}

subject!(Fair, Weather::default());
subject!(Stormy, Weather::storm(11));

oxmpi_testkit::conformance!(fair, Fair, mortal);
oxmpi_testkit::conformance!(stormy, Stormy, mortal);
