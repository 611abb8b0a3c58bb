//! The transport: order, every length, room and bulk operations, in one thread and between two.

mod protocols;

use crate::common::{Event, Rank, head, pattern, target, threads};
use oxmpi_shm::{Node, SegmentLayout};
use oxmpi_wire::regions::Region;
use oxmpi_wire::{
    Access, Busy, EnvelopeFilter, Fault, Key, Local, Memory, Peer, QueueHead, Remote, Rma, Rx,
    Token, Tx,
};
use std::sync::Barrier;

fn small(ranks: u32) -> SegmentLayout {
    SegmentLayout {
        ranks,
        slots: 8,
        buffer: 256,
        buffers: 4,
    }
}

#[test]
fn a_rank_sends_to_itself() {
    let mut rank = Rank::new(Node::alone(small(1)).unwrap());
    for len in 0..=256 {
        let body = pattern(len, len);
        rank.send(0, len as u32, &body);
        rank.until("own frame", |log| !log.is_empty());
        let expected = Event::Frame(0, head(len as u32, len), body);
        assert_eq!(rank.log.0, [expected]);
        rank.log.0.clear();
    }
}

#[test]
fn a_full_link_is_busy_and_then_has_room() {
    for (len, fits) in [(8, 8), (200, 4)] {
        let mut rank = Rank::new(Node::alone(small(1)).unwrap());
        let body = pattern(len, 1);
        let sent = (0..100)
            .take_while(|&tag| rank.try_send(0, tag, &body).is_ok())
            .count();
        assert_eq!(sent, fits, "{len} B");
        rank.until("room", |log| log.contains(&Event::Room(0)));
        let frames = |log: &[Event]| log.iter().filter(|e| matches!(e, Event::Frame(..))).count();
        assert_eq!(frames(&rank.log.0), fits);
        rank.try_send(0, 0, &body).unwrap();
    }
}

#[test]
fn two_ranks_keep_order_over_both_paths() {
    const MESSAGES: usize = 20_000;
    let len = |i: usize| (i * 7919) % 257;
    threads(small(2), |me, mut rank| {
        if me == 0 {
            for i in 0..MESSAGES {
                rank.send(1, i as u32, &pattern(len(i), i));
            }
            rank.until("answer", |log| {
                log.iter().any(|e| matches!(e, Event::Frame(..)))
            });
        } else {
            let mut next = 0;
            while next < MESSAGES {
                rank.until("frames", |log| !log.is_empty());
                for event in rank.log.0.drain(..) {
                    let body = pattern(len(next), next);
                    let head = head(next as u32, body.len());
                    assert_eq!(event, Event::Frame(0, head, body));
                    next += 1;
                }
            }
            rank.send(0, 0, &[]);
        }
    });
}

/// What a receive from any rank leaves at the head of a ring is the next that a poll takes, however much others send.
#[test]
fn a_head_that_is_left_is_polled_first() {
    let sent = Barrier::new(3);
    threads(small(3), |me, mut rank| {
        if me > 0 {
            rank.send(0, 0, &[]);
            sent.wait();
            match me {
                1 => rank.send(0, 1, &pattern(200, 1)),
                _ => (0..5).for_each(|_| rank.send(0, 2, &pattern(8, 2))),
            }
            sent.wait();
            sent.wait();
            return;
        }
        rank.until("both links", |log| log.len() == 2);
        rank.log.0.clear();
        sent.wait();
        sent.wait();
        let wanted = EnvelopeFilter::exact(head(2, 8).envelope);
        let mut body = [0; 8];
        let bytes = target(&mut body);
        let mut head = QueueHead::Empty;
        while head != QueueHead::Other {
            head = rank.rx.take_head(&mut rank.tx, None, wanted, &bytes);
        }
        rank.rx.poll(&mut rank.tx, 1, &mut rank.log);
        sent.wait();
        assert!(
            matches!(rank.log.0[..], [Event::Frame(1, ..)]),
            "{:?}",
            rank.log
        );
    });
}

/// Sends the key of `body` to the peer and waits for the peer's message that it is done.
fn send_key(rank: &mut Rank, peer: u32, body: &mut [u8], access: Access) {
    let region = rank.register(body, access);
    let key = rank.tx.expose(&region, Peer(peer));
    rank.send(peer, 0, &key.0);
    rank.until("end", |log| {
        log.iter()
            .any(|e| matches!(e, Event::Frame(_, h, _) if h.envelope.tag == 1))
    });
    rank.release(region, 99);
}

fn receive_key(rank: &mut Rank) -> Key {
    rank.until("key", |log| {
        log.iter().any(|e| matches!(e, Event::Frame(..)))
    });
    let Some(Event::Frame(_, _, body)) = rank.log.0.pop() else {
        panic!("no key came first");
    };
    Key(body.try_into().unwrap())
}

#[test]
fn get_and_put_move_every_length() {
    for len in [1usize, 7, 255, 256, 257, 5_000, 100_000, 3_000_001] {
        for layout in [small(2), SegmentLayout::new(2)] {
            threads(layout, |me, mut rank| {
                let body = pattern(len, 5);
                if me == 0 {
                    send_key(&mut rank, 1, &mut body.clone(), Access::READ);
                    rank.log.0.clear();
                    let mut target = vec![0; len];
                    send_key(&mut rank, 1, &mut target, Access::WRITE);
                    assert_eq!(target, body);
                } else {
                    let key = receive_key(&mut rank);
                    let mut copy = vec![0; len];
                    let region = rank.register(&mut copy, Access::WRITE);
                    rank.get(0, &key, &region, len, 1);
                    rank.until_done(1, Ok(()));
                    assert_eq!(copy, body);
                    rank.log.0.clear();
                    rank.send(0, 1, &[]);

                    let key = receive_key(&mut rank);
                    put(&mut rank, &region, &key, len, 2);
                    rank.until_done(2, Ok(()));
                    rank.send(0, 1, &[]);
                    rank.release(region, 3);
                }
            });
        }
    }
}

/// Starts operation `token`: puts the first `len` bytes of `region` to the start of what rank 0 offers by `key`.
fn put(rank: &mut Rank, region: &Region, key: &Key, len: usize, token: u64) {
    let (at, len) = (0, len as u64);
    let (local, remote) = (Local { region, at, len }, Remote { key, at, len });
    rank.tx.put(Peer(0), local, remote, Token(token)).unwrap();
}

/// A rank alone with two regions of so many bytes, one to read from and one to write to.
fn two_regions(from: &mut [u8], to: &mut [u8]) -> (Rank, Region, Region) {
    let mut rank = Rank::new(Node::alone(small(1)).unwrap());
    let source = rank.register(from, Access::READ);
    let target = rank.register(to, Access::WRITE);
    (rank, source, target)
}

#[test]
fn parts_of_a_region_and_wrong_keys() {
    let (mut from, mut to) = (pattern(1000, 1), vec![0; 1000]);
    let (mut rank, source, target) = two_regions(&mut from, &mut to);
    let (read, write) = (
        rank.tx.expose(&source, Peer(0)),
        rank.tx.expose(&target, Peer(0)),
    );

    let part = rank.try_get(0, (&read, 300), (&target, 100), 600, 1);
    part.unwrap();
    rank.until_done(1, Ok(()));
    assert_eq!(to[100..700], from[300..900]);
    assert!(to[..100].iter().chain(&to[700..]).all(|&b| b == 0));

    let refused = Err(Fault::NOT_REGISTERED);
    let mut stale = read;
    stale.0[0] ^= 1;
    let cases = [
        (stale, 0, 10),
        (write, 0, 10),
        (read, 995, 10),
        (read, u64::MAX, 10),
        (Key([0xff; 32]), 0, 10),
    ];
    for (token, (key, at, len)) in (10..).zip(cases) {
        let started = rank.try_get(0, (&key, at), (&target, 0), len, token);
        started.unwrap();
        rank.until_done(token, refused);
    }
    put(&mut rank, &target, &read, 900, 20);
    rank.until_done(20, refused);

    rank.get(0, &read, &target, 0, 21);
    rank.until_done(21, Ok(()));

    rank.release(source, 30);
    rank.get(0, &read, &target, 10, 31);
    rank.until_done(31, refused);
}

#[test]
fn a_release_waits_for_transfers() {
    let (mut from, mut to) = (pattern(5_000_000, 1), vec![0; 5_000_000]);
    let (mut rank, source, target) = two_regions(&mut from, &mut to);
    let key = rank.tx.expose(&source, Peer(0));
    rank.get(0, &key, &target, 5_000_000, 1);
    rank.poll();
    rank.tx.release(source, Token(2));
    rank.tx.release(target, Token(3));
    assert!(rank.log.0.is_empty());
    rank.until("all", |log| log.len() == 3);
    assert_eq!(to, from);
    for token in 1..=3 {
        assert!(rank.log.0.contains(&Event::Done(token, Ok(()))), "{token}");
    }
}

#[test]
fn giving_a_peer_up_ends_its_operations() {
    const WHY: Fault = Fault::Protocol("the test says so");
    let (mut from, mut to) = (pattern(5_000_000, 1), vec![0; 5_000_000]);
    let (mut rank, source, target) = two_regions(&mut from, &mut to);
    let key = rank.tx.expose(&source, Peer(0));
    rank.get(0, &key, &target, 5_000_000, 1);
    rank.poll();
    rank.tx.give_up(Peer(0), WHY);
    rank.tx.release(source, Token(2));
    rank.tx.release(target, Token(3));
    rank.until("the end of all", |log| log.len() == 4);
    for event in [
        Event::Done(1, Err(WHY)),
        Event::Done(2, Ok(())),
        Event::Done(3, Ok(())),
        Event::Lost(0, WHY),
    ] {
        assert!(rank.log.0.contains(&event), "{event:?}: {:?}", rank.log.0);
    }
}

#[test]
fn many_operations_wait_for_room() {
    let (mut from, mut to) = (pattern(4096, 1), vec![0; 4096]);
    let (mut rank, source, target) = two_regions(&mut from, &mut to);
    let key = rank.tx.expose(&source, Peer(0));
    let mut started = 0;
    while started < 2000 {
        let at = started * 2 % 4096;
        match rank.try_get(0, (&key, at), (&target, at), 2, started) {
            Ok(()) => started += 1,
            Err(_) => {
                let rooms = |log: &[Event]| log.iter().filter(|e| **e == Event::Room(0)).count();
                let before = rooms(&rank.log.0);
                rank.until("room", |log| rooms(log) > before);
            }
        }
    }
    rank.until("all", |log| successes(log) == 2000);
    assert_eq!(to[..4000], from[..4000]);
}

/// The operations that have succeeded.
fn successes(log: &[Event]) -> u64 {
    let done = |event: &&Event| matches!(event, Event::Done(_, Ok(())));
    log.iter().filter(done).count() as u64
}

/// A rank that waits for a free operation may not have opened its link to the peer yet: what it then sends
/// arrives.
#[test]
fn a_get_from_a_new_peer_starts_once_an_operation_ends() {
    const OPERATIONS: u64 = 256;
    let layout = SegmentLayout {
        slots: 512,
        ..small(3)
    };
    threads(layout, |me, mut rank| {
        let mut body = pattern(16, me as usize);
        if me != 0 {
            send_key(&mut rank, 0, &mut body, Access::READ);
            return;
        }
        rank.until("keys", |log| log.len() == 2);
        let mut keys = [Key([0; 32]); 3];
        for event in rank.log.0.drain(..) {
            let Event::Frame(from, _, key) = event else {
                panic!("keys first: {event:?}");
            };
            keys[from as usize] = Key(key.try_into().unwrap());
        }
        let region = rank.register(&mut body, Access::WRITE);
        let get = |rank: &mut Rank, from: u32, token| {
            rank.try_get(from, (&keys[from as usize], 1), (&region, 1), 8, token)
        };
        for token in 0..OPERATIONS {
            get(&mut rank, 1, token).unwrap();
        }
        assert_eq!(get(&mut rank, 2, OPERATIONS), Err(Busy));
        rank.until("room", |log| log.contains(&Event::Room(2)));
        get(&mut rank, 2, OPERATIONS).unwrap();
        rank.until("all", |log| successes(log) == OPERATIONS + 1);
        for peer in [1, 2] {
            rank.send(peer, 1, &[]);
        }
    });
}

#[test]
fn a_frame_that_is_dropped_sends_nothing() {
    let mut rank = Rank::new(Node::alone(small(1)).unwrap());
    let _ = rank.tx.frame(Peer(0), &head(1, 100), 100).unwrap();
    rank.try_send(0, 2, &[7; 8]).unwrap();
    rank.until("frame", |log| !log.is_empty());
    assert_eq!(rank.log.0, [Event::Frame(0, head(2, 8), vec![7; 8])]);
}
