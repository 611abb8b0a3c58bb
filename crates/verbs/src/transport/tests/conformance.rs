//! The conformance suite of all transports.

use super::{HeapMemory, connected, with_queues};
use crate::fake::Script;
use crate::registration::RegistrationOptions;
use crate::transport::{VerbsOptions, VerbsRx, VerbsTx};
use oxmpi_testkit::conformance::{KillableTransport, TestedTransport, TransportEnd};

/// Devices and options of a suite.
trait Kind {
    const SCRIPT: Script = Script::GOOD;

    fn options() -> VerbsOptions {
        VerbsOptions::default()
    }
}

struct Fake<K>(K);

impl<K: Kind> TestedTransport for Fake<K> {
    type Tx = VerbsTx;
    type Rx = VerbsRx;
    type Memory = HeapMemory;

    fn ends(count: u32) -> Vec<(VerbsTx, VerbsRx)> {
        connected(count, K::SCRIPT, &K::options())
    }
}

impl<K: Kind> KillableTransport for Fake<K> {
    /// Its queue pairs are destroyed, and those of its peers in error.
    fn kill(end: TransportEnd<Self>) {
        drop(end);
    }
}

/// Memory of up to `copied` bytes is copied, and the rest is registered for one use.
fn uncached(copied: u64) -> RegistrationOptions {
    RegistrationOptions {
        leave_pinned: false,
        copied,
        ..RegistrationOptions::default()
    }
}

/// The usual sizes.
struct Usual;
impl Kind for Usual {}

/// Two buffers, nothing inline, and pieces of 100 B: everything runs out of room often. Memory is registered for each use.
struct Tight;
impl Kind for Tight {
    const SCRIPT: Script = Script {
        inline: 0,
        ..Script::GOOD
    };

    fn options() -> VerbsOptions {
        VerbsOptions {
            piece: 100,
            registration: uncached(0),
            ..with_queues("P,128,2")
        }
    }
}

/// One buffer.
struct Single;
impl Kind for Single {
    fn options() -> VerbsOptions {
        with_queues("P,1000,1")
    }
}

/// Completions that are late, and out of order between queue pairs. Memory is copied through registered buffers.
struct Late;
impl Kind for Late {
    const SCRIPT: Script = Script {
        late: Some(0x5eed),
        inline: 40,
        ..Script::GOOD
    };

    fn options() -> VerbsOptions {
        VerbsOptions {
            piece: 10_000,
            registration: uncached(u64::MAX),
            ..with_queues("P,4096,8,6,3")
        }
    }
}

oxmpi_testkit::conformance!(usual, Fake<Usual>, killable);
oxmpi_testkit::conformance!(tight, Fake<Tight>, killable);
oxmpi_testkit::conformance!(single, Fake<Single>, killable);
oxmpi_testkit::conformance!(late, Fake<Late>, killable);
