//! Gets of offered memory by each bulk protocol.

use oxmpi_os::RawBytes;
use oxmpi_shm::heap::{HeapPreference, HeapSize};
use oxmpi_shm::{BulkPreference, BulkProtocol, Node, SegmentLayout};
use oxmpi_wire::{Access, Fault, Key, Local, Memory, Peer, Remote, Rma, Token};

use super::common::{Event, Rank, pattern};
use super::writable;

/// The preference for one protocol.
fn by(protocol: BulkProtocol) -> BulkPreference {
    BulkPreference {
        protocol: Some(protocol),
        chunk: None,
    }
}

/// Gets all bytes of `key` into new memory.
fn get_whole(rank: &mut Rank, key: &Key, len: usize) -> Vec<u8> {
    let mut copy = vec![0; len];
    let region = rank
        .tx
        .register(writable(&mut copy), Access::Write, Peer(0))
        .unwrap();
    let (at, len) = (0, len as u64);
    let (remote, local) = (
        Remote { key, at, len },
        Local {
            region: &region,
            at,
            len,
        },
    );
    rank.tx.get(Peer(0), remote, local, Token(1)).unwrap();
    rank.until("get", |log| log.contains(&Event::Done(1, Ok(()))));
    rank.log.0.clear();
    rank.tx.release(region, Token(2));
    rank.until("release", |log| log.contains(&Event::Done(2, Ok(()))));
    rank.log.0.clear();
    copy
}

/// A get whose key has a wrong address pulls the bytes instead.
#[test]
fn a_get_pulls_where_an_address_is_wrong() {
    for protocol in [BulkProtocol::Cma, BulkProtocol::CmaBoth] {
        let mut rank = Rank::new(Node::alone(SegmentLayout::new(1)).unwrap());
        rank.tx.set_bulk_preference(by(protocol));
        let mut from = pattern(300_000, 1);
        let source = rank
            .tx
            .register(writable(&mut from), Access::Read, Peer(0))
            .unwrap();
        let mut key = rank.tx.key(&source, Peer(0));
        assert_eq!(get_whole(&mut rank, &key, 300_000), from);
        let source = rank
            .tx
            .register(writable(&mut from), Access::Read, Peer(0))
            .unwrap();
        let right = from.as_ptr().addr().to_ne_bytes();
        key = rank.tx.key(&source, Peer(0));
        let place = key.0.windows(8).position(|bytes| bytes == right).unwrap();
        key.0[place..place + 8].copy_from_slice(&8u64.to_ne_bytes());
        assert_eq!(get_whole(&mut rank, &key, 300_000), from, "{protocol:?}");
    }
}

/// More regions at once than offers and FIFOs, taken in the reverse order.
#[test]
fn many_offers_are_open_at_once() {
    const REGIONS: usize = 80;
    for protocol in [
        None,
        Some(BulkProtocol::Copy),
        Some(BulkProtocol::CopyNt),
        Some(BulkProtocol::CmaBoth),
    ] {
        let mut rank = Rank::new(Node::alone(SegmentLayout::new(1)).unwrap());
        rank.tx.set_bulk_preference(BulkPreference {
            protocol,
            chunk: None,
        });
        let mut bodies: Vec<Vec<u8>> = (0..REGIONS).map(|i| pattern(100_000, i)).collect();
        let regions: Vec<_> = bodies
            .iter_mut()
            .map(|body| {
                rank.tx
                    .register(writable(body), Access::Read, Peer(0))
                    .unwrap()
            })
            .collect();
        let keys: Vec<_> = regions.iter().map(|r| rank.tx.key(r, Peer(0))).collect();
        for _ in 0..10 {
            rank.poll();
        }
        for (key, body) in keys.iter().zip(&bodies).rev() {
            assert_eq!(&get_whole(&mut rank, key, 100_000), body);
        }
        // A second time, when the offers are over and the regions still registered.
        for (key, body) in keys.iter().zip(&bodies) {
            assert_eq!(&get_whole(&mut rank, key, 100_000), body);
        }
        for region in regions {
            rank.tx.release(region, Token(9));
            rank.until("release", |log| log.contains(&Event::Done(9, Ok(()))));
            rank.log.0.clear();
        }
    }
}

/// A key of memory that is no longer registered reaches nothing, by any protocol.
#[test]
fn a_released_offer_is_refused() {
    for protocol in BulkProtocol::CLAIMABLE {
        let mut rank = Rank::new(Node::alone(SegmentLayout::new(1)).unwrap());
        rank.tx.set_bulk_preference(by(protocol));
        let (mut from, mut to) = (pattern(70_000, 1), vec![0; 70_000]);
        let source = rank
            .tx
            .register(writable(&mut from), Access::Read, Peer(0))
            .unwrap();
        let target = rank
            .tx
            .register(writable(&mut to), Access::Write, Peer(0))
            .unwrap();
        let key = rank.tx.key(&source, Peer(0));
        rank.poll();
        rank.tx.release(source, Token(1));
        rank.until("release", |log| log.contains(&Event::Done(1, Ok(()))));
        let (at, len) = (0, 70_000);
        let remote = Remote { key: &key, at, len };
        let region = &target;
        let local = Local { region, at, len };
        rank.tx.get(Peer(0), remote, local, Token(2)).unwrap();
        rank.until("refusal", |log| {
            log.iter()
                .any(|event| matches!(event, Event::Done(2, Err(Fault::Refused(_)))))
        });
        assert!(to.iter().all(|&byte| byte == 0));
    }
}

/// Memory that all ranks have mapped is copied from there.
#[test]
fn allocated_memory_is_copied_where_it_is_mapped() {
    let preference = HeapPreference {
        size: HeapSize::Bytes(8 << 20),
        ..HeapPreference::default()
    };
    let node = Node::alone(SegmentLayout::new(1))
        .unwrap()
        .with_heap(preference);
    let block = node
        .rank_areas()
        .expect("a heap")
        .heap()
        .allocate(1 << 20)
        .unwrap();
    let mut rank = Rank::new(node);
    let body = pattern(1 << 20, 3);
    // SAFETY: the block is this test's, as long as `body` or longer, and nobody else uses it.
    unsafe { std::ptr::copy(body.as_ptr(), block.start().as_ptr(), body.len()) };
    // SAFETY: the block outlives the transfers.
    let bytes = unsafe { RawBytes::new(block.start().as_ptr(), body.len()) };
    let source = rank.tx.register(bytes, Access::Read, Peer(0)).unwrap();
    rank.tx.set_bulk_preference(by(BulkProtocol::Mapped));
    let key = rank.tx.key(&source, Peer(0));
    assert_eq!(get_whole(&mut rank, &key, body.len()), body);
    assert!(
        rank.tx.bulk_choices(Peer(0)).is_empty(),
        "no trial was needed"
    );
    rank.tx.set_bulk_preference(BulkPreference::default());
    for _ in 0..40 {
        let source = rank.tx.register(bytes, Access::Read, Peer(0)).unwrap();
        let key = rank.tx.key(&source, Peer(0));
        assert_eq!(get_whole(&mut rank, &key, body.len()), body);
    }
    let choices = rank.tx.bulk_choices(Peer(0));
    let [choice] = choices.as_slice() else {
        panic!("one size class: {choices:?}");
    };
    let mapped = choice
        .costs
        .iter()
        .find(|cost| cost.0 == BulkProtocol::Mapped);
    assert!(mapped.is_some_and(|seen| seen.2 >= 3), "{choice:?}");
}
