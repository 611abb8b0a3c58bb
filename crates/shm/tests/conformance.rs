//! The conformance suite of transports, over small and usual sizes and by each bulk protocol.

mod common;

use std::thread;

use common::{KEY, WATCHDOG};
use oxmpi_os::RawBytes;
use oxmpi_shm::{BulkPreference, BulkProtocol, Node, NodeLeader, SegmentLayout, ShmRx, ShmTx};
use oxmpi_testkit::conformance::{TestMemory, TestedTransport, TransportEnd};
use oxmpi_wire::Peer;

/// The sizes of a node of two ranks.
trait Sizes {
    const LAYOUT: SegmentLayout;
}

struct Usual;

impl Sizes for Usual {
    const LAYOUT: SegmentLayout = SegmentLayout::new(2);
}

/// The smallest sizes, so that everything runs out of room often.
struct Tight;

impl Sizes for Tight {
    const LAYOUT: SegmentLayout = SegmentLayout {
        ranks: 2,
        slots: 4,
        buffer: 128,
        buffers: 4,
    };
}

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

struct OnNode<S>(S);

impl<S: Sizes> TestedTransport for OnNode<S> {
    type Tx = ShmTx;
    type Rx = ShmRx;
    type Memory = HeapMemory;

    fn join() -> [TransportEnd<Self>; 2] {
        let host = NodeLeader::bind().unwrap();
        let name = host.name().to_owned();
        let other = thread::spawn(move || Node::join(&name, 1, 2, KEY, WATCHDOG).unwrap());
        let nodes = [
            host.serve(S::LAYOUT, KEY, WATCHDOG).unwrap(),
            other.join().unwrap(),
        ];
        let mut peer = 2;
        nodes.map(|node| {
            peer -= 1;
            let (tx, rx) = node.ends().unwrap();
            TransportEnd {
                tx,
                rx,
                peer: Peer(peer),
            }
        })
    }
}

/// Two ranks of a node whose gets use one protocol, where it is available: number `PROTOCOL` of `buffers` and the
/// claimable ones.
struct ByProtocol<const PROTOCOL: usize>;

impl<const PROTOCOL: usize> TestedTransport for ByProtocol<PROTOCOL> {
    type Tx = ShmTx;
    type Rx = ShmRx;
    type Memory = HeapMemory;

    fn join() -> [TransportEnd<Self>; 2] {
        let protocols = [BulkProtocol::Buffers]
            .into_iter()
            .chain(BulkProtocol::CLAIMABLE);
        let preference = BulkPreference {
            protocol: protocols.clone().nth(PROTOCOL),
            chunk: Some(4096),
        };
        OnNode::<Usual>::join().map(|end| {
            let TransportEnd { mut tx, rx, peer } = end;
            tx.set_bulk_preference(preference);
            TransportEnd { tx, rx, peer }
        })
    }
}

oxmpi_testkit::conformance!(buffers, ByProtocol<0>);
oxmpi_testkit::conformance!(slots, ByProtocol<1>);
oxmpi_testkit::conformance!(copy, ByProtocol<2>);
oxmpi_testkit::conformance!(copy_nt, ByProtocol<3>);
oxmpi_testkit::conformance!(cma, ByProtocol<4>);
oxmpi_testkit::conformance!(usual, OnNode<Usual>);
oxmpi_testkit::conformance!(tight, OnNode<Tight>);
