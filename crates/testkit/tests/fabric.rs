//! The fabric is a transport like any other: it passes the suite in every weather.

use oxmpi_testkit::conformance::{KillableTransport, TestedTransport, TransportEnd};
use oxmpi_testkit::fabric::{Fabric, FabricConfig, FabricRx, FabricTx, fabric};
use oxmpi_testkit::memory::SharedBytes;

fn join<S>(weather: FabricConfig) -> [TransportEnd<S>; 2]
where
    S: TestedTransport<Tx = FabricTx, Rx = FabricRx>,
{
    let (_, ends) = fabric(2, weather);
    TransportEnd::two(ends)
}

macro_rules! subject {
    ($name:ident, $weather:expr) => {
        struct $name;

        impl TestedTransport for $name {
            type Tx = FabricTx;
            type Rx = FabricRx;
            type Memory = SharedBytes;

            fn join() -> [TransportEnd<Self>; 2] {
                join($weather)
            }

            fn memory(bytes: Vec<u8>) -> SharedBytes {
                SharedBytes::new(bytes)
            }

            fn bytes(memory: &SharedBytes) -> SharedBytes {
                memory.clone()
            }

            fn read(memory: &SharedBytes) -> Vec<u8> {
                memory.to_vec()
            }
        }

        impl KillableTransport for $name {
            fn kill(end: TransportEnd<Self>) {
                Fabric::of(&end.tx).kill(end.tx.me());
            }
        }
    };
}

subject!(Fair, FabricConfig::default());
subject!(Stormy, FabricConfig::adverse(11));

oxmpi_testkit::conformance!(fair, Fair, killable);
oxmpi_testkit::conformance!(stormy, Stormy, killable);
