//! Gets of offered memory by each bulk protocol.

use oxmpi_os::RawBytes;
use oxmpi_shm::{BulkPreference, BulkProtocol, Node, SegmentLayout};
use oxmpi_wire::{Access, Fault, Key, Layout, Memory, Peer};

use crate::common::{Event, Rank, alone_with_heap, pattern};

/// A rank alone, whose gets go by this protocol, or by any.
fn by(protocol: Option<BulkProtocol>) -> Rank {
    let mut rank = Rank::new(Node::alone(SegmentLayout::new(1)).unwrap());
    prefer(&mut rank, protocol);
    rank
}

fn prefer(rank: &mut Rank, protocol: Option<BulkProtocol>) {
    let chunk = None;
    rank.tx
        .set_bulk_preference(BulkPreference { protocol, chunk });
}

/// Gets all bytes of `key` into new memory.
fn get_whole(rank: &mut Rank, key: &Key, len: usize) -> Vec<u8> {
    let mut copy = vec![0; len];
    let region = rank.register(&mut copy, Access::WRITE);
    rank.get(0, key, &region, len, 1);
    rank.until_done(1, Ok(()));
    rank.log.0.clear();
    rank.release(region, 2);
    rank.log.0.clear();
    copy
}

/// A get whose key has a wrong address pulls the bytes instead.
#[test]
fn a_get_pulls_where_an_address_is_wrong() {
    for protocol in [BulkProtocol::Cma, BulkProtocol::CmaBoth] {
        let mut rank = by(Some(protocol));
        let mut from = pattern(300_000, 1);
        let source = rank.register(&mut from, Access::READ);
        let mut key = rank.tx.expose(&source, Peer(0));
        assert_eq!(get_whole(&mut rank, &key, 300_000), from);
        let source = rank.register(&mut from, Access::READ);
        let right = from.as_ptr().addr().to_ne_bytes();
        key = rank.tx.expose(&source, Peer(0));
        let place = key.0.windows(8).position(|bytes| bytes == right).unwrap();
        key.0[place..place + 8].copy_from_slice(&8u64.to_ne_bytes());
        assert_eq!(get_whole(&mut rank, &key, 300_000), from, "{protocol:?}");
    }
}

/// Gets into memory with gaps, by each protocol: the blocks are long enough to be read straight to their places, or
/// not.
#[test]
fn gets_fill_memory_with_gaps() {
    for protocol in BulkProtocol::CLAIMABLE {
        for (block, gap) in [(8, 8), (2000, 100)] {
            let mut rank = by(Some(protocol));
            let (len, stride) = (block * 1000, block + gap);
            let mut from = pattern(len, 1);
            let mut memory = vec![0; stride * 1000];
            let layout = Layout::strided(block as u64, stride as i64, 1000).unwrap();
            // SAFETY: the memory outlives the region, and nobody else uses it meanwhile.
            let places = unsafe { RawBytes::with_layout(memory.as_mut_ptr(), layout) };
            let target = rank.tx.register(places, Access::WRITE, Peer(0)).unwrap();
            let source = rank.register(&mut from, Access::READ);
            let key = rank.tx.expose(&source, Peer(0));
            rank.get(0, &key, &target, len, 1);
            rank.until_done(1, Ok(()));
            let mut expected = vec![0; stride * 1000];
            for (to, from) in expected.chunks_mut(stride).zip(from.chunks(block)) {
                to[..block].copy_from_slice(from);
            }
            assert!(memory == expected, "{protocol:?}, blocks of {block} B");
        }
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
        let mut rank = by(protocol);
        let mut bodies: Vec<Vec<u8>> = (0..REGIONS).map(|i| pattern(100_000, i)).collect();
        let regions: Vec<_> = bodies
            .iter_mut()
            .map(|body| rank.register(body, Access::READ))
            .collect();
        let keys: Vec<_> = regions.iter().map(|r| rank.tx.expose(r, Peer(0))).collect();
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
            rank.release(region, 9);
            rank.log.0.clear();
        }
    }
}

/// A key of memory that is no longer registered reaches nothing, by any protocol.
#[test]
fn a_released_offer_is_refused() {
    for protocol in BulkProtocol::CLAIMABLE {
        let mut rank = by(Some(protocol));
        let (mut from, mut to) = (pattern(70_000, 1), vec![0; 70_000]);
        let source = rank.register(&mut from, Access::READ);
        let target = rank.register(&mut to, Access::WRITE);
        let key = rank.tx.expose(&source, Peer(0));
        rank.poll();
        rank.release(source, 1);
        rank.get(0, &key, &target, 70_000, 2);
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
    let node = alone_with_heap();
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
    let source = rank.tx.register(bytes, Access::READ, Peer(0)).unwrap();
    prefer(&mut rank, Some(BulkProtocol::Mapped));
    let key = rank.tx.expose(&source, Peer(0));
    assert_eq!(get_whole(&mut rank, &key, body.len()), body);
    assert!(
        rank.tx.bulk_choices(Peer(0)).is_empty(),
        "no trial was needed"
    );
    prefer(&mut rank, None);
    for _ in 0..200 {
        let source = rank.tx.register(bytes, Access::READ, Peer(0)).unwrap();
        let key = rank.tx.expose(&source, Peer(0));
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
