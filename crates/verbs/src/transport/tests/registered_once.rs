//! Memory that is registered once and found again.

use super::{connected, pair, with_queues};
use crate::fake::{self, MappedMemory, Script};
use crate::registration::{CacheCounts, KeptMemory, RegistrationOptions, notifier_unavailable};
use crate::transport::{VerbsOptions, VerbsRx, VerbsTx};
use oxmpi_wire::{Access, Memory, Peer, Token};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const B: Peer = Peer(1);

/// A buffer that is sent again is registered once, and one that was unmapped in between is registered again.
#[test]
fn memory_that_is_used_again_is_found() {
    let mut ends = pair(Script::GOOD);
    let Some(CacheCounts { hits: 0, .. }) = ends[0].0.registration_counts() else {
        // Where memory cannot be watched, nothing is cached.
        return assert!(notifier_unavailable().is_some());
    };
    let before = fake::registered();
    let use_once = |ends: &mut [(VerbsTx, VerbsRx); 2], memory: &MappedMemory| {
        let bytes = memory.bytes(5000..100_000);
        let region = ends[0].0.register(bytes, Access::READ, B).unwrap();
        ends[0].0.release(region, Token(1));
        let counts = ends[0].0.registration_counts().unwrap();
        (counts.hits, counts.misses, counts.uncached)
    };
    // As `World::alloc` gives it, and as the allocator does.
    let mut mappings = [MappedMemory::shared(30), MappedMemory::new(30)];
    for _ in 0..3 {
        for memory in &mappings {
            use_once(&mut ends, memory);
        }
    }
    assert_eq!(use_once(&mut ends, &mappings[0]), (5, 2, 0));
    assert_eq!(fake::registered(), before + 2);
    mappings[0].discard(3..4);
    assert_eq!(use_once(&mut ends, &mappings[0]), (5, 3, 0));
    assert_eq!(use_once(&mut ends, &mappings[1]), (6, 3, 0));
    mappings[1].resize(10_000);
    assert_eq!(use_once(&mut ends, &mappings[1]), (6, 4, 0));
    fake::fork_and_wait(|| true);
    assert_eq!(use_once(&mut ends, &mappings[1]), (7, 4, 0));
    drop(ends);
    assert_eq!(fake::registered(), 0);
}

/// A heap is registered once, also where the process has no notifier, until its owner has given pages back.
#[test]
fn kept_memory_is_registered_once() {
    let registration = RegistrationOptions {
        uses_notifier: false,
        ..RegistrationOptions::default()
    };
    let options = VerbsOptions {
        registration,
        ..with_queues("P,4096,8")
    };
    let mut ends = connected(2, Script::GOOD, &options);
    let tx = &mut ends[0].0;
    assert!(tx.registration_counts().is_none(), "nothing else is cached");
    let heap = MappedMemory::shared(60);
    let addresses = heap.bytes(0..200_000).start().addr() as u64;
    let given_back = Arc::new(AtomicU64::new(7));
    tx.keep_registered(KeptMemory {
        addresses: addresses..addresses + 200_000,
        given_back: Arc::clone(&given_back),
    });
    let before = fake::registered();
    let mut use_once = |range: std::ops::Range<usize>| {
        let region = tx.register(heap.bytes(range), Access::READ | Access::WRITE, B);
        tx.release(region.unwrap(), Token(1));
        fake::registered() - before
    };
    assert_eq!([use_once(5000..100_000), use_once(6000..90_000)], [1, 1]);
    assert_eq!(
        use_once(150_000..210_000),
        1,
        "what reaches beyond it does not stay"
    );
    let so_far = fake::regions_so_far().len();
    given_back.fetch_add(1, Ordering::Release);
    assert_eq!(use_once(5000..100_000), 1);
    assert_eq!(fake::regions_so_far().len(), so_far + 1, "anew");
    drop(ends);
    assert_eq!(fake::registered(), 0);
}
