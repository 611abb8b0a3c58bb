//! Conformance tests of the fabric, with regular and with adverse configurations.

use oxmpi_testkit::conformance::{KillableTransport, TestedTransport, TransportEnd};
use oxmpi_testkit::fabric::{Fabric, FabricConfig, FabricRx, FabricTx, fabric};
use oxmpi_testkit::memory::Buffer;

macro_rules! subject {
    ($name:ident, $config:expr) => {
        struct $name;

        impl TestedTransport for $name {
            type Tx = FabricTx;
            type Rx = FabricRx;
            type Memory = Buffer;

            fn ends(count: u32) -> Vec<(FabricTx, FabricRx)> {
                let (_, ends) = fabric(count, $config);
                ends
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
