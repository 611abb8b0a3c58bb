//! Conformance tests of bulk transfer: get, put, registration.

use oxmpi_wire::{Access, Busy, Fault, Key, Local, Memory, Remote, Rma, Token};

use super::{EventLog, TestMemory, TestedTransport, TransportEnd, eager, until};
use crate::memory::pattern;

/// Lengths of messages, some around the sizes of pages and chunks.
const LENS: [usize; 9] = [1, 7, 48, 4095, 4096, 4097, 65_536, 1_000_003, 5 << 20];

#[derive(Clone, Copy)]
enum Direction {
    Get,
    Put,
}

pub(super) type Region<S> = <<S as TestedTransport>::Tx as Memory>::Region;

/// Registered memory of one end.
pub(super) fn registered<S: TestedTransport>(
    end: &mut TransportEnd<S>,
    bytes: Vec<u8>,
    access: Access,
) -> (S::Memory, Region<S>, Key) {
    let memory = S::memory(end.rank, bytes);
    let region = end
        .tx
        .register(memory.bytes(), access, end.peer)
        .expect("memory can be registered");
    let key = end.tx.expose(&region, end.peer);
    (memory, region, key)
}

/// Starts a get or a put between the peer's region of `key` and `region` of this end.
fn start<S: TestedTransport>(
    end: &mut TransportEnd<S>,
    direction: Direction,
    ((key, key_at), (region, at)): ((&Key, u64), (&Region<S>, u64)),
    len: u64,
    token: Token,
) -> Result<(), Busy> {
    let remote = Remote {
        key,
        at: key_at,
        len,
    };
    let local = Local { region, at, len };
    match direction {
        Direction::Get => end.tx.get(end.peer, remote, local, token),
        Direction::Put => end.tx.put(end.peer, local, remote, token),
    }
}

/// Moves a range and compares all bytes of the target.
fn moves<S: TestedTransport>(
    direction: Direction,
    len: usize,
    key_at: usize,
    at: usize,
    part: usize,
) {
    let [mut a, mut b] = S::join();
    let (source, target) = (pattern(len, 1), vec![0xee; len]);
    let (here, there) = match direction {
        Direction::Get => (target.clone(), source.clone()),
        Direction::Put => (source.clone(), target.clone()),
    };
    let (here_access, there_access) = match direction {
        Direction::Get => (Access::WRITE, Access::READ),
        Direction::Put => (Access::READ, Access::WRITE),
    };
    let (here, region, _) = registered(&mut a, here, here_access);
    let (there, there_region, key) = registered(&mut b, there, there_access);
    let (mut a_log, mut b_log) = (EventLog::default(), EventLog::default());
    let mut started = false;
    until("bulk moves", || {
        if !started {
            let ranges = ((&key, key_at as u64), (&region, at as u64));
            started = start(&mut a, direction, ranges, part as u64, Token(77)).is_ok();
        }
        a.poll(&mut a_log);
        b.poll(&mut b_log);
        !a_log.done.is_empty()
    });
    assert_eq!(a_log.done, [(Token(77), Ok(()))]);
    let (from_at, to_at, got) = match direction {
        Direction::Get => (key_at, at, here.to_vec()),
        Direction::Put => (at, key_at, there.to_vec()),
    };
    let mut expected = target;
    expected[to_at..to_at + part].copy_from_slice(&source[from_at..from_at + part]);
    assert!(
        got == expected,
        "{part} B from {from_at} to {to_at} are not what was sent"
    );
    let released = [
        release(&mut a, &mut b, region),
        release(&mut b, &mut a, there_region),
    ];
    assert_eq!(released, [Ok(()), Ok(())]);
}

/// Releases `region` of `end` and waits until that has ended.
fn release<S: TestedTransport>(
    end: &mut TransportEnd<S>,
    other: &mut TransportEnd<S>,
    region: Region<S>,
) -> Result<(), Fault> {
    let (mut log, mut other_log) = (EventLog::default(), EventLog::default());
    end.tx.release(region, Token(u64::MAX));
    until("memory is given back", || {
        end.poll(&mut log);
        other.poll(&mut other_log);
        !log.done.is_empty()
    });
    assert_eq!(log.done.len(), 1, "one release has one answer");
    assert_eq!(log.done[0].0, Token(u64::MAX));
    log.done[0].1
}

/// The receiver reads whole regions of the sender.
pub fn get_moves_all_bytes<S: TestedTransport>() {
    for len in LENS {
        moves::<S>(Direction::Get, len, 0, 0, len);
    }
}

/// The sender writes whole regions of the receiver.
pub fn put_moves_all_bytes<S: TestedTransport>() {
    for len in LENS {
        moves::<S>(Direction::Put, len, 0, 0, len);
    }
}

/// Ranges within regions move, and nothing outside of them changes.
pub fn parts_of_a_region_move<S: TestedTransport>() {
    for direction in [Direction::Get, Direction::Put] {
        for (key_at, at, part) in [
            (0, 100, 1),
            (99_999, 0, 1),
            (17, 4096, 70_000),
            (1, 1, 99_999),
        ] {
            moves::<S>(direction, 100_000, key_at, at, part);
        }
    }
}

/// With many operations under way each token is returned once.
pub fn every_token_is_returned_once<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let (here, region, _) = registered(&mut a, vec![0; 64_000], Access::WRITE);
    let (_there, _there_region, key) = registered(&mut b, pattern(64_000, 3), Access::READ);
    let (mut a_log, mut b_log) = (EventLog::default(), EventLog::default());
    let mut next = 0;
    until("all operations end", || {
        while next < 64 {
            let at = next * 1000;
            let ranges = ((&key, at), (&region, at));
            if start(&mut a, Direction::Get, ranges, 1000, Token(next)).is_err() {
                break;
            }
            next += 1;
        }
        a.poll(&mut a_log);
        b.poll(&mut b_log);
        a_log.done.len() == 64
    });
    let mut tokens: Vec<_> = a_log.done.iter().map(|(token, _)| token.0).collect();
    tokens.sort_unstable();
    assert_eq!(tokens, (0..64).collect::<Vec<_>>());
    assert!(here.to_vec() == pattern(64_000, 3));
}

/// Registering and releasing without a transfer.
pub fn release_gives_memory_back<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    for round in 0..100 {
        let access = if round % 2 == 0 {
            Access::READ
        } else {
            Access::WRITE
        };
        let (memory, region, _) = registered(&mut a, pattern(5000, round), access);
        assert_eq!(release(&mut a, &mut b, region), Ok(()));
        assert_eq!(memory.to_vec(), pattern(5000, round));
    }
}

/// Runs one operation of `a` to its end, and returns that.
pub(super) fn ended<S: TestedTransport>(
    [a, b]: [&mut TransportEnd<S>; 2],
    mut start: impl FnMut(&mut TransportEnd<S>) -> Result<(), Busy>,
) -> Result<(), Fault> {
    let (mut log, mut other) = (EventLog::default(), EventLog::default());
    let mut started = false;
    until("an operation ends", || {
        started = started || start(a).is_ok();
        a.poll(&mut log);
        b.poll(&mut other);
        !log.done.is_empty()
    });
    assert_eq!(log.done.len(), 1, "one operation has one end");
    log.done[0].1
}

/// Ranges that do not belong together are the fault of the rank that asks: nothing moves.
pub fn invalid_ranges_move_nothing<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    for (direction, here_access, there_access) in [
        (Direction::Get, Access::WRITE, Access::READ),
        (Direction::Put, Access::READ, Access::WRITE),
    ] {
        let (here, region, _) = registered(&mut a, vec![1; 1000], here_access);
        let (there, _, key) = registered(&mut b, vec![2; 1000], there_access);
        // The length here and there, and the first byte here.
        for (len, remote_len, at) in [
            (100, 99, 0),
            (99, 100, 0),
            (0, 8, 0),
            (8, 0, 0),
            (500, 500, 501),
            (8, 8, u64::MAX),
        ] {
            let result = ended([&mut a, &mut b], |a| {
                let (key, region) = (&key, &region);
                let remote = Remote {
                    key,
                    at: 0,
                    len: remote_len,
                };
                let local = Local { region, at, len };
                match direction {
                    Direction::Get => a.tx.get(a.peer, remote, local, Token(7)),
                    Direction::Put => a.tx.put(a.peer, local, remote, Token(7)),
                }
            });
            let what = format!("{len} B from {at}, {remote_len} B there: {result:?}");
            assert!(matches!(result, Err(Fault::Invalid(_))), "{what}");
            assert!(here.to_vec() == [1; 1000] && there.to_vec() == [2; 1000]);
        }
    }
}

/// A peer's memory is reached within its registration only.
pub fn memory_is_reached_as_registered<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let both = Access::READ | Access::WRITE;
    let (here, region, _) = registered(&mut a, vec![1; 1000], both);
    for (direction, access, at, len) in [
        (Direction::Get, Access::WRITE, 0, 1000),
        (Direction::Put, Access::READ, 0, 1000),
        (Direction::Put, Access::WRITE, 992, 16),
        (Direction::Put, Access::WRITE, u64::MAX, 8),
        (Direction::Put, both, 996, 8),
        (Direction::Get, both, 996, 8),
        (Direction::Get, both, u64::MAX - 3, 8),
    ] {
        let (there, there_region, key) = registered(&mut b, vec![2; 1000], access);
        let get = |a: &mut TransportEnd<S>| {
            start(a, direction, ((&key, at), (&region, 0)), len, Token(7))
        };
        let refused = Err(Fault::NOT_REGISTERED);
        assert_eq!(
            ended([&mut a, &mut b], get),
            refused,
            "{access:?} {at} {len}"
        );
        assert!(here.to_vec() == [1; 1000] && there.to_vec() == [2; 1000]);
        assert_eq!(release(&mut b, &mut a, there_region), Ok(()));
        assert_eq!(ended([&mut a, &mut b], get), refused, "after the release");
    }
}

/// A get of memory that peers also write gives its bytes at that time, as often as its key is used.
pub fn memory_for_reading_and_writing<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let both = Access::READ | Access::WRITE;
    let len = 300_000;
    let (there, _there_region, key) = registered(&mut b, vec![0; len], both);
    let (here, region, _) = registered(&mut a, vec![0; 2 * len], both);
    for round in 0..5 {
        let body = S::Memory::new(pattern(len, round));
        let source = a.tx.register(body.bytes(), Access::READ, a.peer);
        let source = source.expect("memory can be registered");
        let target = round % 2 * len as u64;
        for (direction, local) in [
            (Direction::Put, (&source, 0)),
            (Direction::Get, (&region, target)),
        ] {
            let moved = ended([&mut a, &mut b], |a| {
                start(a, direction, ((&key, 0), local), len as u64, Token(round))
            });
            assert_eq!(moved, Ok(()));
        }
        assert!(
            there.to_vec() == pattern(len, round),
            "put in round {round}"
        );
        let got = &here.to_vec()[target as usize..][..len];
        assert!(got == pattern(len, round), "got in round {round}");
        assert_eq!(release(&mut a, &mut b, source), Ok(()));
    }
}

/// Bulk operations do not delay frames, nor frames bulk operations.
pub fn frames_pass_bulk<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let len = 8 << 20;
    let (here, region, _) = registered(&mut a, vec![0; len], Access::WRITE);
    let (_there, _there_region, key) = registered(&mut b, pattern(len, 3), Access::READ);
    let (mut a_log, mut b_log) = (EventLog::default(), EventLog::default());
    let (mut started, mut tag) = (false, 0);
    until("bulk and frames arrive", || {
        if !started {
            let ranges = ((&key, 0), (&region, 0));
            let len = len as u64;
            started = start(&mut a, Direction::Get, ranges, len, Token(1)).is_ok();
        }
        if tag < 1000 && b.try_send(&eager(tag, 8), &[8; 8], true) {
            tag += 1;
        }
        a.poll(&mut a_log);
        b.poll(&mut b_log);
        a_log.done.len() == 1 && a_log.frames.len() == 1000
    });
    assert!(here.to_vec() == pattern(len, 3));
    assert!(
        b_log.frames.is_empty(),
        "the transport's own frames stay with it"
    );
}
