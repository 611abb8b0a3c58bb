//! The conformance suite of transports, over small and usual sizes and by each bulk protocol.

use std::thread;

use crate::common::{KEY, WATCHDOG};
use oxmpi_os::RawBytes;
use oxmpi_shm::{BulkPreference, BulkProtocol, Node, NodeLeader, SegmentLayout, ShmRx, ShmTx};
use oxmpi_testkit::conformance::{TestMemory, TestedTransport, TransportEnd};

/// Memory of the process, by its owner.
struct HeapMemory(Box<[u8]>);

impl TestMemory for HeapMemory {
    type Bytes = RawBytes;

    fn new(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }

    fn bytes(&self) -> RawBytes {
        // SAFETY: the suite keeps the memory until the transport has given it back, and reads it
        // only then. The box owns it alone.
        unsafe { RawBytes::new(self.0.as_ptr().cast_mut(), self.0.len()) }
    }

    fn to_vec(&self) -> Vec<u8> {
        self.0.to_vec()
    }
}

/// Two ranks of a node, of the usual sizes or the smallest, so that everything runs out of room often. Gets use one
/// protocol, where it is available: number `PROTOCOL` of `buffers` and the claimable ones, or the best.
struct OnNode<const TIGHT: bool, const PROTOCOL: usize>;

/// In place of the number of a protocol: the best by trial.
const ANY: usize = usize::MAX;

impl<const TIGHT: bool, const PROTOCOL: usize> TestedTransport for OnNode<TIGHT, PROTOCOL> {
    type Tx = ShmTx;
    type Rx = ShmRx;
    type Memory = HeapMemory;

    fn join() -> [TransportEnd<Self>; 2] {
        let layout = match TIGHT {
            false => SegmentLayout::new(2),
            true => SegmentLayout {
                ranks: 2,
                slots: 4,
                buffer: 128,
                buffers: 4,
            },
        };
        let mut protocols = [BulkProtocol::Buffers]
            .into_iter()
            .chain(BulkProtocol::CLAIMABLE);
        let protocol = protocols.nth(PROTOCOL);
        let preference = BulkPreference {
            protocol,
            chunk: protocol.map(|_| 4096),
        };
        let host = NodeLeader::bind().unwrap();
        let name = host.name().to_owned();
        let other = thread::spawn(move || Node::join(&name, 1, 2, KEY, WATCHDOG).unwrap());
        let nodes = [
            host.serve(layout, KEY, WATCHDOG).unwrap(),
            other.join().unwrap(),
        ];
        TransportEnd::two(nodes.map(|node| {
            let (mut tx, rx) = node.ends().unwrap();
            tx.set_bulk_preference(preference);
            (tx, rx)
        }))
    }
}

oxmpi_testkit::conformance!(buffers, OnNode<false, 0>);
oxmpi_testkit::conformance!(slots, OnNode<false, 1>);
oxmpi_testkit::conformance!(copy, OnNode<false, 2>);
oxmpi_testkit::conformance!(copy_nt, OnNode<false, 3>);
oxmpi_testkit::conformance!(cma, OnNode<false, 4>);
oxmpi_testkit::conformance!(usual, OnNode<false, ANY>);
oxmpi_testkit::conformance!(tight, OnNode<true, ANY>);
