//! Memory with gaps, memory that is not registered, and keys of released regions.

use super::{HeapMemory, connected, device, pair, settle, with_queues};
use crate::fake::{self, Script};
use crate::registration::{LeavePinned, RegistrationOptions};
use crate::transport::{PortPair, VerbsEndpoint, VerbsOptions, VerbsTransportError};
use oxmpi_os::RawBytes;
use oxmpi_testkit::conformance::{EventLog, TestMemory, eager};
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::{
    Access, Bytes as _, Fault, Layout, Local, Memory, Peer, Remote, Rma, Slot, Token, Tx,
};

const A: Peer = Peer(0);
const B: Peer = Peer(1);

/// 20 blocks of 3 bytes, 5 bytes apart.
fn with_gaps(memory: &HeapMemory) -> RawBytes {
    memory.strided(Layout::strided(3, 5, 20).expect("a layout"))
}

/// The bytes of `with_gaps`, and those between.
fn split(memory: &HeapMemory) -> (Vec<u8>, Vec<u8>) {
    let bytes = memory.to_vec();
    let inside = |at: &(usize, &u8)| at.0 % 5 < 3 && at.0 < 98;
    let (packed, gaps): (Vec<_>, Vec<_>) = bytes.iter().enumerate().partition(inside);
    (
        packed.into_iter().map(|(_, byte)| *byte).collect(),
        gaps.into_iter().map(|(_, byte)| *byte).collect(),
    )
}

#[test]
fn memory_with_gaps_moves_by_copies() {
    for get in [true, false] {
        let mut ends = pair(Script::GOOD);
        let [(a, _), (b, _)] = &mut ends;
        let (source, target) = (
            HeapMemory::new(vec![0; 100]),
            HeapMemory::new(vec![0xee; 100]),
        );
        let mut log = EventLog::default();
        // `a` gets from `b`, or puts to `b`: the part of either that moves begins in the middle of a block.
        let (here, there, access) = match get {
            true => (&target, &source, [Access::WRITE, Access::READ]),
            false => (&source, &target, [Access::READ, Access::WRITE]),
        };
        let region = a.register(with_gaps(here), access[0], B).unwrap();
        let there_region = b.register(with_gaps(there), access[1], A).unwrap();
        // Bytes that are read may change until they are exposed, or put.
        source.bytes().fill(0, &mut &pattern(100, 1)[..]);
        let key = b.expose(&there_region, A);
        let (remote, local) = (
            Remote {
                key: &key,
                at: 4,
                len: 50,
            },
            Local {
                region: &region,
                at: 7,
                len: 50,
            },
        );
        match get {
            true => a.get(B, remote, local, Token(1)).unwrap(),
            false => a.put(B, local, remote, Token(1)).unwrap(),
        }
        let [first, second] = &mut ends;
        settle(&mut [first, second], &mut log);
        ends[1].0.release(there_region, Token(2));
        ends[0].0.release(region, Token(3));
        let [first, second] = &mut ends;
        settle(&mut [first, second], &mut log);
        let mut done = log.done;
        done.sort_by_key(|(token, _)| token.0);
        assert_eq!(done, [1, 2, 3].map(|token| (Token(token), Ok(()))));
        let (from, to) = if get { (4, 7) } else { (7, 4) };
        let mut expected = [0xee; 60];
        expected[to..to + 50].copy_from_slice(&split(&source).0[from..from + 50]);
        let (packed, gaps) = split(&target);
        assert!(packed == expected, "get {get}: {packed:?}");
        assert!(gaps.iter().all(|byte| *byte == 0xee), "gaps stay");
        drop(ends);
        assert_eq!(fake::registered(), 0);
    }
}

/// Bytes move by frames where one side is not registered: with gaps, and both read and written; or since the device
/// refused.
#[test]
fn memory_that_is_not_registered_moves_by_frames() {
    // Each end registers its receives and its sends; then come the regions of `a` and of `b`.
    for failing in [None, Some(5), Some(6)] {
        for get in [true, false] {
            let mut ends = pair(Script {
                failing_registration: failing,
                ..Script::GOOD
            });
            let [(a, _), (b, _)] = &mut ends;
            let both = Access::READ | Access::WRITE;
            let here = HeapMemory::new(pattern(3000, 1));
            let there = HeapMemory::new(pattern(3000, 2));
            let blocks = Layout::strided(3, 5, 600).expect("a layout");
            let there_bytes = match failing {
                None => there.strided(blocks),
                Some(_) => there.bytes(),
            };
            let region = a.register(here.bytes(), both, B).unwrap();
            let there_region = b.register(there_bytes, both, A).unwrap();
            let key = b.expose(&there_region, A);
            let (remote, local) = (
                Remote {
                    key: &key,
                    at: 4,
                    len: 1700,
                },
                Local {
                    region: &region,
                    at: 7,
                    len: 1700,
                },
            );
            // The packed bytes of `b`.
            let expected = |memory: &HeapMemory| {
                let bytes = memory.to_vec();
                let is_byte = |at: &(usize, &u8)| failing.is_some() || at.0 % 5 < 3;
                let packed = bytes.iter().enumerate().filter(is_byte);
                packed.map(|(_, byte)| *byte).collect::<Vec<_>>()
            };
            match get {
                true => a.get(B, remote, local, Token(1)).unwrap(),
                false => a.put(B, local, remote, Token(1)).unwrap(),
            }
            let mut log = EventLog::default();
            let [first, second] = &mut ends;
            settle(&mut [first, second], &mut log);
            assert_eq!(log.done, [(Token(1), Ok(()))], "{failing:?}, get {get}");
            let (mine, theirs) = (here.to_vec(), expected(&there));
            assert_eq!(mine[7..][..1700], theirs[4..][..1700]);
            let untouched = if get { &theirs } else { &mine };
            let whole = HeapMemory::new(pattern(3000, if get { 2 } else { 1 }));
            let whole = if get {
                expected(&whole)
            } else {
                whole.to_vec()
            };
            assert_eq!(*untouched, whole, "the source stays");
            ends[1].0.release(there_region, Token(2));
            ends[0].0.release(region, Token(3));
            let [first, second] = &mut ends;
            settle(&mut [first, second], &mut log);
            assert_eq!(log.done.len(), 3);
            drop(ends);
            assert_eq!(fake::registered(), 0);
        }
    }
}

#[test]
fn a_get_writes_only_to_memory_for_writing() {
    let mut ends = pair(Script::GOOD);
    let [(a, _), (b, _)] = &mut ends;
    let (here, there) = (HeapMemory::new(vec![1; 8]), HeapMemory::new(vec![2; 8]));
    let region = a.register(here.bytes(), Access::READ, B).unwrap();
    let there_region = b.register(there.bytes(), Access::READ, A).unwrap();
    let key = b.expose(&there_region, A);
    let mut log = EventLog::default();
    let (remote, local) = (
        Remote {
            key: &key,
            at: 0,
            len: 8,
        },
        Local {
            region: &region,
            at: 0,
            len: 8,
        },
    );
    a.get(B, remote, local, Token(1)).unwrap();
    settle(&mut [&mut ends[0]], &mut log);
    assert!(
        matches!(log.done[..], [(Token(1), Err(Fault::Invalid(_)))]),
        "{:?}",
        log.done
    );
    assert!(log.lost.is_empty());
}

/// Whichever registration fails, the call that needs it says so, or the bytes go by frames; nothing is left, and the next
/// one works.
#[test]
fn a_registration_that_fails_is_an_error_of_its_call_or_goes_by_frames() {
    for number in 1..=5 {
        let script = Script {
            failing_registration: Some(number),
            ..Script::GOOD
        };
        let context = device(script);
        let registration = RegistrationOptions {
            leave_pinned: LeavePinned::Off,
            copied: 0,
            ..RegistrationOptions::default()
        };
        let options = VerbsOptions {
            registration,
            ..with_queues("P,128,2")
        };
        let mut end = VerbsEndpoint::open(&context, 2, options).unwrap();
        let mut failed: Vec<String> = Vec::new();
        let mut note = |why: VerbsTransportError| failed.push(why.to_string());
        let mut offer = end.offer(B);
        if let Err(why) = offer {
            note(why);
            offer = end.offer(B);
        }
        // Connected to itself: only memory matters here.
        if let Err(why) = end.connect(B, &PortPair::first(&offer.unwrap())) {
            note(why);
            let offer = end.offer(B).unwrap();
            end.connect(B, &PortPair::first(&offer)).unwrap();
        }
        let (mut tx, _rx) = end.into_halves();
        let memory = HeapMemory::new(vec![0; 100]);
        let mut regions = Vec::new();
        for bytes in [memory.bytes(), with_gaps(&memory), memory.bytes()] {
            match tx.register(bytes, Access::READ, B) {
                Ok(region) => regions.push(region),
                Err(Fault::Refused(why)) => failed.push(why.to_owned()),
                Err(why) => panic!("{why}"),
            }
        }
        match &failed[..] {
            [text] if number < 3 => {
                let expected = "ibv_reg_mr of a protection domain of fake0: ";
                assert!(text.starts_with(expected), "{number}: {text}");
            }
            [] if number >= 3 => {}
            _ => panic!("registration {number}: {failed:?}"),
        }
        drop(regions);
        drop(tx);
        drop(_rx);
        assert_eq!(fake::registered(), 0);
    }
}

/// A key is void at the peer once the release has ended, also where frames have no credits.
#[test]
fn a_released_key_is_void_and_harmless() {
    for late in [None, Some(1), Some(2)] {
        let mut ends = pair(Script {
            late,
            ..Script::GOOD
        });
        let (here, there) = (HeapMemory::new(vec![1; 64]), HeapMemory::new(vec![2; 64]));
        for round in 0..20 {
            let [(a, a_rx), (b, b_rx)] = &mut ends;
            let region = a.register(here.bytes(), Access::WRITE, B).unwrap();
            let there_region = b.register(there.bytes(), Access::READ, A).unwrap();
            let key = b.expose(&there_region, A);
            b.release(there_region, Token(round));
            let mut log = EventLog::default();
            while log.done.is_empty() {
                oxmpi_wire::Rx::poll(b_rx, b, 64, &mut log);
                oxmpi_wire::Rx::poll(a_rx, a, 64, &mut log);
            }
            let (remote, local) = (
                Remote {
                    key: &key,
                    at: 0,
                    len: 8,
                },
                Local {
                    region: &region,
                    at: 0,
                    len: 8,
                },
            );
            a.get(B, remote, local, Token(99)).unwrap();
            a.release(region, Token(98));
            let [first, second] = &mut ends;
            settle(&mut [first, second], &mut log);
            assert!(
                log.done.contains(&(Token(99), Err(Fault::NOT_REGISTERED))),
                "{:?}",
                log.done
            );
            assert!(log.lost.is_empty());
        }
    }
}

/// So is a key of memory before that, in the same place of the peer's table.
#[test]
fn every_released_key_is_void() {
    let mut ends = pair(Script::GOOD);
    let (here, there) = (HeapMemory::new(vec![1; 64]), HeapMemory::new(vec![2; 64]));
    let mut log = EventLog::default();
    let region = ends[0].0.register(here.bytes(), Access::WRITE, B).unwrap();
    let mut keys = Vec::new();
    for round in 0..3 {
        let b = &mut ends[1].0;
        let there_region = b.register(there.bytes(), Access::READ, A).unwrap();
        keys.push(b.expose(&there_region, A));
        b.release(there_region, Token(round));
        let [first, second] = &mut ends;
        settle(&mut [first, second], &mut log);
    }
    log.done.clear();
    for (key, token) in keys.iter().zip(10..) {
        let (remote, local) = (
            Remote { key, at: 0, len: 8 },
            Local {
                region: &region,
                at: 0,
                len: 8,
            },
        );
        ends[0].0.get(B, remote, local, Token(token)).unwrap();
    }
    let [first, second] = &mut ends;
    settle(&mut [first, second], &mut log);
    let refused = |token| (Token(token), Err(Fault::NOT_REGISTERED));
    assert_eq!(log.done, [10, 11, 12].map(refused));
    assert!(log.lost.is_empty());
}

/// Memory that only gets write, and no peer, keeps what this rank wrote to it.
#[test]
fn a_get_to_memory_with_gaps_changes_its_range_only() {
    let mut ends = pair(Script::GOOD);
    let [(a, _), (b, _)] = &mut ends;
    let (here, there) = (
        HeapMemory::new(vec![0; 100]),
        HeapMemory::new(pattern(60, 2)),
    );
    let region = a.register(with_gaps(&here), Access::WRITE, B).unwrap();
    let there_region = b.register(there.bytes(), Access::READ, A).unwrap();
    let key = b.expose(&there_region, A);
    here.bytes().fill(0, &mut &[0xee; 100][..]);
    let (remote, local) = (
        Remote {
            key: &key,
            at: 5,
            len: 10,
        },
        Local {
            region: &region,
            at: 5,
            len: 10,
        },
    );
    a.get(B, remote, local, Token(1)).unwrap();
    let mut log = EventLog::default();
    settle(&mut [&mut ends[0]], &mut log);
    ends[0].0.release(region, Token(2));
    settle(&mut [&mut ends[0]], &mut log);
    let mut expected = [0xee; 60];
    expected[5..15].copy_from_slice(&pattern(60, 2)[5..15]);
    assert!(split(&here).0 == expected);
}

/// A release whose announcement is on its way to a peer ends also when that peer is lost.
#[test]
fn a_release_ends_with_its_peer() {
    let [a, mut b] = pair(Script {
        late: Some(3),
        ..Script::GOOD
    });
    let memory = HeapMemory::new(vec![0; 100]);
    let region = b.0.register(memory.bytes(), Access::READ, A).unwrap();
    b.0.expose(&region, A);
    b.0.release(region, Token(1));
    drop(a);
    let mut log = EventLog::default();
    settle(&mut [&mut b], &mut log);
    assert_eq!(log.done, [(Token(1), Ok(()))]);
    assert_eq!(log.lost, [(A, Fault::PeerDead)]);
}

/// A release ends when all peers know of it, also those to whom that could not be sent at once, or are lost.
#[test]
fn a_release_waits_for_every_peer() {
    for is_lost in [false, true] {
        let mut ends = connected(3, Script::GOOD, &with_queues("P,1000,4"));
        let memory = HeapMemory::new(vec![0; 100]);
        let owner = &mut ends[0].0;
        while owner
            .frame(Peer(2), &eager(0, 0), 0)
            .map(Slot::send)
            .is_ok()
        {}
        let region = owner.register(memory.bytes(), Access::READ, B).unwrap();
        owner.expose(&region, B);
        owner.expose(&region, Peer(2));
        owner.release(region, Token(1));
        let mut log = EventLog::default();
        let [a, b, c] = &mut ends[..] else {
            panic!("three ends were asked for");
        };
        settle(&mut [&mut *a, b], &mut log);
        assert_eq!(log.done, [], "a peer still has the key");
        match is_lost {
            true => a.0.give_up(Peer(2), Fault::PeerDead),
            false => settle(&mut [c], &mut log),
        }
        settle(&mut [a], &mut log);
        assert_eq!(log.done, [(Token(1), Ok(()))]);
    }
}

/// Nobody has to know of the end of memory that goes by frames.
#[test]
fn a_release_of_memory_by_frames_is_not_announced() {
    let mut ends = pair(Script::GOOD);
    let memory = HeapMemory::new(vec![0; 100]);
    let (b, both) = (&mut ends[1].0, Access::READ | Access::WRITE);
    let region = b.register(with_gaps(&memory), both, A).unwrap();
    let key = b.expose(&region, A);
    b.release(region, Token(1));
    assert!(!b.has_unsent());
    let mut log = EventLog::default();
    settle(&mut [&mut ends[1]], &mut log);
    assert_eq!(log.done, [(Token(1), Ok(()))]);
    let region = ends[0]
        .0
        .register(memory.bytes(), Access::WRITE, B)
        .unwrap();
    let (remote, local) = (
        Remote {
            key: &key,
            at: 0,
            len: 8,
        },
        Local {
            region: &region,
            at: 0,
            len: 8,
        },
    );
    ends[0].0.get(B, remote, local, Token(2)).unwrap();
    let [first, second] = &mut ends;
    settle(&mut [first, second], &mut log);
    assert_eq!(log.done[1..], [(Token(2), Err(Fault::NOT_REGISTERED))]);
    assert!(log.lost.is_empty());
}

#[test]
fn a_forked_child_registers_nothing() {
    let mut ends = pair(Script::GOOD);
    let memory = HeapMemory::new(vec![0; 100]);
    fake::fork_and_wait(|| {
        let refused = ends[0].0.register(memory.bytes(), Access::READ, B);
        matches!(refused, Err(Fault::Refused(why)) if why.contains("forked child"))
    });
    let region = ends[0].0.register(memory.bytes(), Access::READ, B);
    ends[0]
        .0
        .release(region.expect("the parent goes on"), Token(1));
}
