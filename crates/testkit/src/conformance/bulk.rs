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

type Region<S> = <<S as TestedTransport>::Tx as Memory>::Region;

/// Registered memory of one end.
fn registered<S: TestedTransport>(
    end: &mut TransportEnd<S>,
    bytes: Vec<u8>,
    access: Access,
) -> (S::Memory, Region<S>, Key) {
    let memory = S::Memory::new(bytes);
    let region = end
        .tx
        .register(memory.bytes(), access, end.peer)
        .expect("memory can be registered");
    let key = end.tx.key(&region, end.peer);
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
        Direction::Get => (Access::Write, Access::Read),
        Direction::Put => (Access::Read, Access::Write),
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
    let (here, region, _) = registered(&mut a, vec![0; 64_000], Access::Write);
    let (_there, _there_region, key) = registered(&mut b, pattern(64_000, 3), Access::Read);
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
            Access::Read
        } else {
            Access::Write
        };
        let (memory, region, _) = registered(&mut a, pattern(5000, round), access);
        assert_eq!(release(&mut a, &mut b, region), Ok(()));
        assert_eq!(memory.to_vec(), pattern(5000, round));
    }
}

/// Bulk operations do not delay frames, nor frames bulk operations.
pub fn frames_pass_bulk<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let len = 8 << 20;
    let (here, region, _) = registered(&mut a, vec![0; len], Access::Write);
    let (_there, _there_region, key) = registered(&mut b, pattern(len, 3), Access::Read);
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
