//! Conformance tests of the fabric, with regular and with adverse configurations.

use oxmpi_testkit::conformance::{KillableTransport, TestedTransport, TransportEnd};
use oxmpi_testkit::fabric::{Fabric, FabricConfig, FabricRx, FabricTx, fabric};
use oxmpi_testkit::memory::Buffer;

fn join<S>(config: FabricConfig) -> [TransportEnd<S>; 2]
where
    S: TestedTransport<Tx = FabricTx, Rx = FabricRx>,
{
    let (_, ends) = fabric(2, config);
    TransportEnd::two(ends)
}

macro_rules! subject {
    ($name:ident, $config:expr) => {
        struct $name;

        impl TestedTransport for $name {
            type Tx = FabricTx;
            type Rx = FabricRx;
            type Memory = Buffer;

            fn join() -> [TransportEnd<Self>; 2] {
                join($config)
            }
        }

        impl KillableTransport for $name {
            fn kill(end: TransportEnd<Self>) {
                Fabric::of(&end.tx).kill(end.tx.me());
            }
        }
    };
}

subject!(Regular, FabricConfig::default());
subject!(Adverse, FabricConfig::adverse(11));

oxmpi_testkit::conformance!(regular, Regular, killable);
oxmpi_testkit::conformance!(adverse, Adverse, killable);
