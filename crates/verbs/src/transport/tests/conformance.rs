//! The conformance suite of all transports.

use super::{HeapMemory, connected, with_queues};
use crate::fake::Script;
use crate::registration::{LeavePinned, RegistrationOptions};
use crate::transport::{EagerRings, LongMessages, TransferFlags, VerbsOptions, VerbsRx, VerbsTx};
use oxmpi_testkit::conformance::{KillableTransport, TestedTransport, TransportEnd};

/// Devices and options of a suite.
trait Kind {
    const SCRIPT: Script;

    fn options() -> VerbsOptions;
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

/// Defines a kind for the suite.
macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident = $script:expr, $options:expr;)*) => {$(
        $(#[$meta])*
        struct $kind;

        impl Kind for $kind {
            const SCRIPT: Script = $script;

            fn options() -> VerbsOptions {
                $options
            }
        }
    )*};
}

/// A device that grants nothing inline.
const NOTHING_INLINE: Script = Script {
    inline: 0,
    ..Script::GOOD
};

/// A device whose completions are late, and out of order between queue pairs.
const LATE: Script = Script {
    late: Some(0x5eed),
    inline: 40,
    ..Script::GOOD
};

/// Rings from the first frame of a peer on.
fn with_rings(slots: u32, size: u32, queues: &str) -> VerbsOptions {
    VerbsOptions {
        rings: EagerRings {
            threshold: 1,
            peers: 2,
            slots,
            size,
        },
        ..with_queues(queues)
    }
}

/// Without rings, the default of openib.
fn without_rings() -> VerbsOptions {
    VerbsOptions {
        rings: EagerRings::OFF,
        ..VerbsOptions::default()
    }
}

/// All memory goes by frames.
fn by_frames(queues: &str) -> VerbsOptions {
    VerbsOptions {
        long: LongMessages {
            flags: TransferFlags::SEND,
            ..LongMessages::default()
        },
        ..with_queues(queues)
    }
}

/// Writes in place of reads, in fragments.
fn by_writes(queues: &str) -> VerbsOptions {
    VerbsOptions {
        long: LongMessages {
            flags: TransferFlags::PUT,
            fragment: 1000,
            min_rdma_size: 0,
            ..LongMessages::default()
        },
        ..with_queues(queues)
    }
}

/// Pieces of `piece` bytes. Memory of up to `copied` bytes is copied, and of the rest all is registered in pieces but one page.
fn in_pieces(piece: u32, copied: u64, queues: &str) -> VerbsOptions {
    VerbsOptions {
        piece,
        registration: RegistrationOptions {
            leave_pinned: LeavePinned::Off,
            copied,
            ..RegistrationOptions::default()
        },
        long: LongMessages {
            first: Some(0),
            last: 0,
            min_rdma_size: 0,
            ..LongMessages::default()
        },
        ..with_queues(queues)
    }
}

/// The three phases of a pipeline, by these flags.
fn pipelined(flags: TransferFlags, leave_pinned: LeavePinned, queues: &str) -> VerbsOptions {
    VerbsOptions {
        long: LongMessages {
            flags,
            fragment: 10_000,
            first: Some(1500),
            last: 5000,
            min_rdma_size: 0,
        },
        registration: RegistrationOptions {
            leave_pinned,
            copied: 0,
            ..RegistrationOptions::default()
        },
        ..with_queues(queues)
    }
}

kinds! {
    /// The default of openib.
    Usual = Script::GOOD, VerbsOptions::default();
    /// The same without rings.
    Ringless = Script::GOOD, without_rings();
    /// A ring of two slots beside a queue of two buffers: order between them.
    Ring = Script::GOOD, with_rings(2, 64, "P,1000,2");
    /// A ring of one slot beside shared queues, on a late device.
    RingShared = LATE, with_rings(1, 1000, "S,128,4,2,4:S,1000,4,2,2");
    /// Rings without inline messages.
    RingStaged = NOTHING_INLINE, with_rings(16, 4096, "P,128,2:S,4096,4,2,2");
    /// Two buffers, nothing inline, and pieces of 100 B: everything runs out of room often.
    Tight = NOTHING_INLINE, in_pieces(100, 0, "P,128,2");
    /// One buffer. An offer of a ring would take the only credit, and no end polls while the other one sends.
    Single = Script::GOOD, VerbsOptions { rings: EagerRings::OFF, ..with_queues("P,1000,1") };
    /// No memory is registered, on a late device.
    Frames = LATE, by_frames("P,128,4:S,1000,4,2,2");
    /// The same with two buffers and nothing inline.
    FramesTight = NOTHING_INLINE, by_frames("P,128,2");
    /// Writes only.
    Writes = LATE, by_writes("P,128,4:S,1000,8,4,2");
    /// A pipeline of reads, which also runs out of room.
    Pipeline = LATE, pipelined(TransferFlags::all(), LeavePinned::Off, "P,128,4:S,1000,8,4,2");
    /// A pipeline of writes.
    PipelineWrites = NOTHING_INLINE, pipelined(TransferFlags::PUT, LeavePinned::Off, "P,128,2:S,1000,4,2,1");
    /// A pipeline whose pieces stay registered.
    PipelinePinned = Script::GOOD, pipelined(TransferFlags::all(), LeavePinned::Pipeline, "P,4096,8");
    /// Queues of each peer only, of which a message takes the smallest.
    Own = LATE, in_pieces(10_000, u64::MAX, "P,4096,8,6,3:P,128,4:P,1000,2");
    /// One shared queue.
    Shared = Script::GOOD, with_queues("S,1000,8,4,2");
    /// Two buffers for all peers, one send to each, nothing inline. An offer of a ring would take the only credit.
    SharedTight = NOTHING_INLINE, VerbsOptions { rings: EagerRings::OFF, ..in_pieces(100, 0, "S,128,2,1,1") };
    /// Queues of all kinds, each of which runs out of buffers.
    Mixed = LATE, in_pieces(10_000, u64::MAX, "P,128,4:S,1000,8,4,2:S,4096,2,1,1");
    /// The same on a device that is never late.
    Prompt = NOTHING_INLINE, with_queues("P,64,2:S,128,8,4,2:S,4096,4,2,4");
    /// Queues that ranks of a node share a connection for.
    Extended = Script::GOOD, with_queues("X,128,64,48,8:X,1000,16,8,4");
    /// The same with rings of one slot, on a late device.
    ExtendedLate = LATE, with_rings(1, 1000, "X,128,4,2,4:X,1000,4,2,2");
    /// Writes by them, nothing inline.
    ExtendedWrites = Script { late: Some(3), ..NOTHING_INLINE }, by_writes("X,128,16,10,4:X,1000,8,4,2");
    /// By two ports of each of two devices.
    ExtendedPorts = Script { ports: 2, devices: 2, ..LATE }, with_queues("X,128,64,48,8:X,1000,16,8,4");
    /// Two ports of a device.
    Ports = Script { ports: 2, ..Script::GOOD }, VerbsOptions::default();
    /// A port of each of three devices.
    Devices = Script { devices: 3, ..LATE }, with_rings(2, 64, "P,128,4:S,1000,8,4,2");
}

oxmpi_testkit::conformance!(usual, Fake<Usual>, killable);
oxmpi_testkit::conformance!(ringless, Fake<Ringless>, killable);
oxmpi_testkit::conformance!(ring, Fake<Ring>, killable);
oxmpi_testkit::conformance!(ring_shared, Fake<RingShared>);
oxmpi_testkit::conformance!(ring_staged, Fake<RingStaged>, killable);
oxmpi_testkit::conformance!(tight, Fake<Tight>, killable);
oxmpi_testkit::conformance!(single, Fake<Single>, killable);
oxmpi_testkit::conformance!(frames, Fake<Frames>, killable);
oxmpi_testkit::conformance!(frames_tight, Fake<FramesTight>, killable);
oxmpi_testkit::conformance!(writes, Fake<Writes>, killable);
oxmpi_testkit::conformance!(pipeline, Fake<Pipeline>, killable);
oxmpi_testkit::conformance!(pipeline_writes, Fake<PipelineWrites>, killable);
oxmpi_testkit::conformance!(pipeline_pinned, Fake<PipelinePinned>, killable);
oxmpi_testkit::conformance!(own, Fake<Own>, killable);
// A rank with shared queues only learns of a loss from what it sends, or from whoever watches the processes: no receive
// of its own is flushed.
oxmpi_testkit::conformance!(shared, Fake<Shared>);
oxmpi_testkit::conformance!(shared_tight, Fake<SharedTight>);
oxmpi_testkit::conformance!(extended, Fake<Extended>);
oxmpi_testkit::conformance!(extended_late, Fake<ExtendedLate>);
oxmpi_testkit::conformance!(extended_writes, Fake<ExtendedWrites>);
oxmpi_testkit::conformance!(extended_ports, Fake<ExtendedPorts>);
oxmpi_testkit::conformance!(mixed, Fake<Mixed>, killable);
oxmpi_testkit::conformance!(prompt, Fake<Prompt>, killable);
oxmpi_testkit::conformance!(ports, Fake<Ports>, killable);
oxmpi_testkit::conformance!(devices, Fake<Devices>, killable);
