//! The conformance suite of transports, over small and usual sizes, by each bulk protocol, and in the heap.

use std::cell::RefCell; // word 'cell': of the standard library
use std::sync::Arc;
use std::thread;

use crate::common::{KEY, WATCHDOG};
use oxmpi_os::RawBytes;
use oxmpi_shm::heap::{Heap, HeapBlock, HeapPreference, HeapSize};
use oxmpi_shm::{BulkPreference, BulkProtocol, Node, NodeLeader, SegmentLayout, ShmRx, ShmTx};
use oxmpi_testkit::conformance::{TestMemory, TestedTransport};

/// Memory of a test, by its owner.
enum OwnedMemory {
    /// Of this process alone.
    Private(Box<[u8]>),
    /// The first bytes of a block of the heap.
    Heap(HeapBlock, usize),
}

impl TestMemory for OwnedMemory {
    type Bytes = RawBytes;

    fn new(bytes: Vec<u8>) -> Self {
        Self::Private(bytes.into())
    }

    fn bytes(&self) -> RawBytes {
        let (start, len) = match self {
            Self::Private(bytes) => (bytes.as_ptr().cast_mut(), bytes.len()),
            Self::Heap(block, len) => (block.start().as_ptr(), *len),
        };
        // SAFETY: the suite keeps the memory until the transport has given it back, and reads it
        // only then. The box or the block owns it alone.
        unsafe { RawBytes::new(start, len) }
    }

    fn to_vec(&self) -> Vec<u8> {
        match self {
            Self::Private(bytes) => bytes.to_vec(),
            Self::Heap(block, len) => {
                let mut bytes = vec![0; *len];
                // SAFETY: the block has as many bytes, and is no vector.
                unsafe { oxmpi_os::copy::copy_from_shared(block.start().as_ptr(), &mut bytes) };
                bytes
            }
        }
    }
}

/// The ranks of a node that this thread drives, with this preference of their gets and with heaps.
fn ranks(
    layout: SegmentLayout,
    preference: BulkPreference,
    heap: Option<HeapPreference>,
) -> Vec<(Node, BulkPreference)> {
    let mut host = NodeLeader::bind().unwrap();
    let (name, count) = (host.name().to_owned(), layout.ranks);
    let others: Vec<_> = (1..count)
        .map(|rank| {
            let name = name.clone();
            thread::spawn(move || Node::join(&name, rank, count, KEY, WATCHDOG).unwrap())
        })
        .collect();
    if let Some(heap) = heap {
        host = host.with_heap(heap);
    }
    let host = host.serve(layout, KEY, WATCHDOG).unwrap();
    let others = others.into_iter().map(|rank| rank.join().unwrap());
    let all = std::iter::once(host).chain(others);
    all.map(|node| (node, preference)).collect()
}

fn ends(ranks: Vec<(Node, BulkPreference)>) -> Vec<(ShmTx, ShmRx)> {
    let end = |(node, preference): (Node, BulkPreference)| {
        let (mut tx, rx) = node.ends().unwrap();
        tx.set_bulk_preference(preference);
        (tx, rx)
    };
    ranks.into_iter().map(end).collect()
}

/// The ranks of a node, of the usual sizes or the smallest, so that everything runs out of room often. Gets use one
/// protocol, where it is available: number `PROTOCOL` of `buffers` and the claimable ones, or the best.
struct OnNode<const TIGHT: bool, const PROTOCOL: usize>;

/// In place of the number of a protocol: the best by trial.
const ANY: usize = usize::MAX;

impl<const TIGHT: bool, const PROTOCOL: usize> TestedTransport for OnNode<TIGHT, PROTOCOL> {
    type Tx = ShmTx;
    type Rx = ShmRx;
    type Memory = OwnedMemory;

    fn ends(count: u32) -> Vec<(ShmTx, ShmRx)> {
        let layout = match TIGHT {
            false => SegmentLayout::new(count),
            true => SegmentLayout {
                ranks: count,
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
        ends(ranks(layout, preference, None))
    }
}

/// The ranks of a node whose memory lies in the heap, which all have mapped.
struct InHeap;

thread_local! {
    /// By rank of the node that was made last.
    static HEAPS: RefCell<Vec<Arc<Heap>>> = const { RefCell::new(Vec::new()) }; // word 'cell': as above
}

impl TestedTransport for InHeap {
    type Tx = ShmTx;
    type Rx = ShmRx;
    type Memory = OwnedMemory;

    fn ends(count: u32) -> Vec<(ShmTx, ShmRx)> {
        let heap = HeapPreference {
            size: HeapSize::Bytes(64 << 20),
            ..HeapPreference::default()
        };
        let preference = BulkPreference {
            protocol: Some(BulkProtocol::Mapped),
            chunk: None,
        };
        let ranks = ranks(SegmentLayout::new(count), preference, Some(heap));
        let heap = |(node, _): &(Node, _)| Arc::clone(node.rank_areas().expect("a heap").heap());
        HEAPS.set(ranks.iter().map(heap).collect());
        ends(ranks)
    }

    fn memory(rank: u32, bytes: Vec<u8>) -> OwnedMemory {
        let heap = HEAPS.with_borrow(|heaps| Arc::clone(&heaps[rank as usize]));
        let block = heap
            .allocate(bytes.len() as u64)
            .expect("the heap has room");
        // SAFETY: the block has as many bytes, which nobody else uses yet.
        unsafe { oxmpi_os::copy::copy_to_shared(&bytes, block.start().as_ptr()) };
        OwnedMemory::Heap(block, bytes.len())
    }
}

oxmpi_testkit::conformance!(buffers, OnNode<false, 0>);
oxmpi_testkit::conformance!(slots, OnNode<false, 1>);
oxmpi_testkit::conformance!(copy, OnNode<false, 2>);
oxmpi_testkit::conformance!(copy_nt, OnNode<false, 3>);
oxmpi_testkit::conformance!(cma, OnNode<false, 4>);
oxmpi_testkit::conformance!(usual, OnNode<false, ANY>);
oxmpi_testkit::conformance!(tight, OnNode<true, ANY>);
oxmpi_testkit::conformance!(in_heap, InHeap);
