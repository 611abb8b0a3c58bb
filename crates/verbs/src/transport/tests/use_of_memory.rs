//! How much memory is registered, against what [`RegisteredBytes`] foretells.

use super::{device, settle, with_queues};
use crate::fake::{self, Script};
use crate::transport::{
    PortPair, Rail, RegisteredBytes, VerbsEndpoint, VerbsOptions, VerbsRx, VerbsTx,
};
use oxmpi_testkit::conformance::{EventLog, eager};
use oxmpi_wire::{Peer, Slot, Tx};

/// Ends of which the first is connected with each other, opened for `ranks` ranks.
fn star(ends: u32, ranks: u32, options: &VerbsOptions) -> Vec<(VerbsTx, VerbsRx)> {
    let context = device(Script::GOOD);
    let open = || VerbsEndpoint::open(&context, ranks, options.clone()).expect("an endpoint");
    let mut first = open();
    let mut others: Vec<_> = (1..ends).map(|_| open()).collect();
    for (end, number) in others.iter_mut().zip(1..) {
        let here = first.offer(Peer(number)).expect("pairs");
        let there = end.offer(Peer(0)).expect("pairs");
        first
            .connect(Peer(number), &PortPair::first(&there))
            .expect("a connection");
        end.connect(Peer(0), &PortPair::first(&here))
            .expect("a connection");
    }
    others.insert(0, first);
    others.into_iter().map(VerbsEndpoint::into_halves).collect()
}

/// Within 5 % of what was foretold, whatever the queues, for each number of peers; the number of ranks adds nothing.
#[test]
fn registered_memory_grows_with_peers_and_not_with_ranks() {
    for queues in [
        "P,128,16:S,2048,8",
        "S,4096,8",
        "P,4096,8",
        "P,128,2:P,4096,4:S,8192,4,2,1",
    ] {
        let options = with_queues(queues);
        let bytes = RegisteredBytes::of(&options);
        for ranks in [64, 4096] {
            for used in [0, 1, 7, 63] {
                let ends = star(used + 1, ranks, &options);
                let foretold = bytes.total(used, 0, 0) + u64::from(used) * bytes.total(1, 0, 0);
                let registered = fake::registered_bytes() + fake::completion_bytes();
                assert!(
                    registered.abs_diff(foretold) * 20 <= foretold,
                    "{queues}, {used} of {ranks}: {registered} B, foretold {foretold} B"
                );
                drop(ends);
                assert_eq!(fake::registered_bytes() + fake::completion_bytes(), 0);
            }
        }
    }
}

/// Rings are made for peers that send often, for 16 of 64.
#[test]
fn rings_are_made_for_the_first_hot_peers() {
    let options = with_queues("P,128,4:S,1024,8");
    let bytes = RegisteredBytes::of(&options);
    let mut ends = star(64, 64, &options);
    let mut log = EventLog::default();
    for _ in 0..20 {
        for (tx, _) in &mut ends[1..] {
            tx.frame(Peer(0), &eager(0, 0), 0).expect("room").send();
        }
        settle(&mut ends.iter_mut().collect::<Vec<_>>(), &mut log);
    }
    assert_eq!(log.frames.len(), 20 * 63);
    // 16 rings, and what their senders have for them.
    let foretold = bytes.total(63, 16, 0) + 63 * bytes.total(1, 0, 0) + 16 * bytes.ring;
    let registered = fake::registered_bytes() + fake::completion_bytes();
    assert!(
        registered.abs_diff(foretold) * 20 <= foretold,
        "{registered} B, foretold {foretold} B"
    );
}

/// A device that does not resize queues has those of all ranks from the start.
#[test]
fn a_queue_that_cannot_grow_is_as_long_as_all_ranks_need() {
    let options = with_queues("P,128,4");
    let of_peer = RegisteredBytes::of(&options).peer_completions;
    for (resizes_queues, expected) in [(true, of_peer), (false, 64 * of_peer)] {
        let context = device(Script {
            resizes_queues,
            ..Script::GOOD
        });
        let mut end = VerbsEndpoint::open(&context, 64, options.clone()).expect("an endpoint");
        end.offer(Peer(1)).expect("pairs");
        assert_eq!(fake::completion_bytes(), expected);
    }
}

/// As the README says.
#[test]
fn the_readme_knows_the_entries_of_a_peer() {
    let of_peer = RegisteredBytes::of(&VerbsOptions::default()).peer_completions;
    let entries = format!("up to {} entries", of_peer / 64);
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&entries), "{entries}");
}

/// What `oxmpi info` asks costs no memory, and says the same as opening.
#[test]
fn a_check_of_ports_registers_nothing() {
    let rails = |context| {
        [Rail {
            context,
            port: 1,
            gid_index: 0,
        }]
    };
    let options = VerbsOptions::default();
    let good = rails(device(Script::GOOD));
    assert!(VerbsEndpoint::check_rails(&good, &options).is_ok());
    assert_eq!(fake::regions_so_far(), []);
    assert_eq!(fake::completion_bytes(), 0);
    let short = Script {
        max_cqe: 100,
        ..Script::GOOD
    };
    let short = rails(device(short));
    let [checked, opened] = [
        VerbsEndpoint::check_rails(&short, &options),
        VerbsEndpoint::open_rails(&short, 1, options).map(drop),
    ];
    let [checked, opened] = [checked, opened].map(|result| result.unwrap_err().to_string());
    assert_eq!(checked, opened);
}
