//! Conformance tests of the switch.

use oxmpi_testkit::conformance::{KillableTransport, TestedTransport, TransportEnd};
use oxmpi_testkit::memory::Buffer;
use oxmpi_testkit::switch::{SwitchRx, SwitchTx, switch};
use oxmpi_wire::Network;

struct Switch;

impl TestedTransport for Switch {
    type Tx = SwitchTx<Buffer>;
    type Rx = SwitchRx<Buffer>;
    type Memory = Buffer;

    fn ends(count: u32) -> Vec<(SwitchTx<Buffer>, SwitchRx<Buffer>)> {
        switch(count).expect("pipes")
    }
}

impl KillableTransport for Switch {
    fn kill(end: TransportEnd<Self>) {
        end.tx.abort();
    }
}

oxmpi_testkit::conformance!(threads, Switch, killable);
