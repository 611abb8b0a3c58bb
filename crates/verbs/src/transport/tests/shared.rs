//! Shared receive queues: bounds, limit events, peers that are lost.

use super::{connected, device, settle, with_queues};
use crate::fake::Script;
use crate::objects::EventSource;
use crate::transport::receive_queues::SharedQueue;
use crate::transport::{EagerRings, VerbsOptions, VerbsTx};
use oxmpi_testkit::conformance::{EventLog, eager};
use oxmpi_wire::{Busy, Fault, Peer, Rx, Slot, Tx};
use std::collections::HashSet;
use std::time::Instant;

fn send(tx: &mut VerbsTx, to: Peer, tag: u32) -> Result<(), Busy> {
    tx.frame(to, &eager(tag, 0), 0)?.send();
    Ok(())
}

fn sent_until_busy(tx: &mut VerbsTx, to: Peer) -> u32 {
    (0..)
        .find(|tag| send(tx, to, *tag).is_err())
        .expect("a bound")
}

/// A rank sends a peer no more frames than the fourth number, and no more than its share of what is posted, until the
/// peer takes them.
#[test]
fn sends_to_a_peer_are_bounded() {
    for (queues, bound) in [
        ("S,128,42,21,4", 4u32),
        ("S,128,42,42,99", 11),
        ("S,128,6,3,4", 2),
    ] {
        let options = VerbsOptions {
            rings: EagerRings::OFF,
            ..with_queues(queues)
        };
        let mut ends = connected(3, Script::GOOD, &options);
        let mut log = EventLog::default();
        let mut all = 0;
        for round in 1..5 {
            for peer in [Peer(1), Peer(2)] {
                let sent = sent_until_busy(&mut ends[0].0, peer);
                // Credits come back by halves.
                let least = if round == 1 { bound } else { bound.div_ceil(2) };
                assert!((least..=bound).contains(&sent), "{queues}: {sent}");
                all += sent;
            }
            settle(&mut ends.iter_mut().collect::<Vec<_>>(), &mut log);
            assert_eq!(log.frames.len() as u32, all, "{queues}");
        }
    }
}

/// How long a receiver may go without a poll: all peers send what they may, and poll more often than all retries last.
/// Returns what the senders lose.
fn flood_of_a_busy_rank(count: u32, inline: u32, queues: &str) -> EventLog {
    let script = Script {
        rnr_polls: 1,
        inline,
        ..Script::GOOD
    };
    let mut ends = connected(count, script, &with_queues(queues));
    let (busy, senders) = ends.split_first_mut().expect("ends");
    let mut log = EventLog::default();
    let mut sent = 0;
    for (tx, _) in &mut *senders {
        sent += sent_until_busy(tx, Peer(0)) as usize;
    }
    for _ in 0..20 {
        for (tx, rx) in &mut *senders {
            rx.poll(tx, 64, &mut log);
        }
    }
    let mut all: Vec<_> = [busy].into_iter().chain(senders).collect();
    settle(&mut all, &mut log);
    assert!(!log.lost.is_empty() || log.frames.len() == sent);
    log
}

/// A rank may compute however long, also where its buffers do not suffice for the shares of all peers.
#[test]
fn a_rank_that_does_not_poll_loses_nobody() {
    for inline in [0, 256] {
        for (count, queues) in [
            (2, "S,128,8,5,32"),
            (5, "S,128,60,50,32"),
            (9, "P,128:S,256,64,45"),
            (6, "S,128,4,2,2"),
        ] {
            let log = flood_of_a_busy_rank(count, inline, queues);
            assert_eq!(log.lost, [], "{queues}");
        }
    }
}

/// A frame for a lost peer, which goes nowhere, leaves the buffers alone that hold messages to others.
#[test]
fn a_frame_to_a_lost_peer_spoils_no_other() {
    let mut ends = connected(4, Script::GOOD, &with_queues("S,256,4,2,4"));
    let send = |tx: &mut VerbsTx, to, tag: u32| {
        let mut slot = tx.frame(to, &eager(tag, 200), 200)?;
        oxmpi_wire::Put::put(&mut slot, &[tag as u8; 200]);
        slot.send();
        Ok::<(), Busy>(())
    };
    // All receives of 1 are taken, so the messages of 0 stay in its buffers.
    for (from, to, first) in [(2, 1, 0), (3, 1, 2), (0, 1, 4), (0, 2, 6)] {
        for tag in first..first + 2 {
            assert_eq!(send(&mut ends[from].0, Peer(to), tag), Ok(()));
        }
    }
    ends[0].0.give_up(Peer(3), Fault::PeerDead);
    assert_eq!(send(&mut ends[0].0, Peer(3), 99), Ok(()));
    let mut log = EventLog::default();
    settle(&mut ends.iter_mut().collect::<Vec<_>>(), &mut log);
    let mut bodies: Vec<_> = log.frames.iter().map(|(_, _, body)| body.clone()).collect();
    bodies.sort();
    assert_eq!(bodies, (0..8).map(|tag| vec![tag; 200]).collect::<Vec<_>>());
}

/// The device announces that a queue runs short, once, and again after it was filled.
#[test]
fn the_limit_is_an_event_each_time() {
    let context = device(Script::GOOD);
    let domain = context.alloc_pd().expect("a domain");
    let queue = domain
        .create_shared_receive_queue(4, 1, 7)
        .expect("a queue");
    let next = || context.next_event(Instant::now()).expect("events");
    assert_eq!(next(), None);
    for _ in 0..2 {
        queue.arm_limit(3).expect("a limit");
        let event = next().expect("no receives are posted");
        assert!(event.is_limit_reached());
        assert_eq!(event.source, EventSource::SharedReceiveQueue(7));
        assert_eq!(next(), None, "it comes once");
    }
}

/// Whatever a lost peer has sent, its buffers are posted again.
#[test]
fn a_lost_peer_keeps_no_shared_buffers() {
    for late in [None, Some(9)] {
        let script = Script {
            late,
            ..Script::GOOD
        };
        let mut ends = connected(8, script, &with_queues("P,128,2:S,256,4,2,2"));
        let long = |tx: &mut VerbsTx, tag| {
            let mut slot = tx.frame(Peer(0), &eager(tag, 200), 200)?;
            oxmpi_wire::Put::put(&mut slot, &[1; 200]);
            slot.send();
            Ok::<(), Busy>(())
        };
        let mut log = EventLog::default();
        while ends.len() > 2 {
            let (mut tx, rx) = ends.pop().expect("an end");
            while long(&mut tx, 0).is_ok() {}
            drop((tx, rx));
        }
        settle(&mut ends.iter_mut().collect::<Vec<_>>(), &mut log);
        assert_eq!(log.lost.iter().filter(|(peer, _)| peer.0 > 1).count(), 12);
        log.frames.clear();
        for tag in 0..40 {
            assert_eq!(long(&mut ends[1].0, tag), Ok(()), "late {late:?}");
            settle(&mut ends.iter_mut().collect::<Vec<_>>(), &mut log);
        }
        assert_eq!(log.frames.len(), 40);
    }
}

/// A message by one queue that waits for a receive does not stop those by another queue, and is handed over first.
#[test]
fn a_late_frame_goes_before_those_that_overtook_it() {
    let mut ends = connected(2, Script::GOOD, &with_queues("P,128,8:S,4096,1,1,4"));
    let send = |tx: &mut VerbsTx, tag, len: usize| {
        let mut slot = tx.frame(Peer(1), &eager(tag, len), len).expect("room");
        oxmpi_wire::Put::put(&mut slot, &vec![tag as u8; len]);
        slot.send();
    };
    // One receive for long messages, two of them, and short ones after them.
    let [(a, a_rx), (b, b_rx)] = &mut ends[..] else {
        panic!("two ends were asked for");
    };
    let mut log = EventLog::default();
    send(a, 0, 4000);
    a_rx.poll(a, 64, &mut log);
    send(a, 1, 4000);
    (2..7).for_each(|tag| send(a, tag, 5));
    b_rx.poll(b, 3, &mut log);
    assert!(log.frames.len() <= 3, "the budget is kept");
    settle(&mut ends.iter_mut().collect::<Vec<_>>(), &mut log);
    let tags: Vec<u32> = log
        .frames
        .iter()
        .map(|(_, head, _)| head.envelope.tag)
        .collect();
    assert_eq!(tags, (0..7).collect::<Vec<_>>());
    assert!(
        log.frames
            .iter()
            .all(|(_, head, body)| body == &vec![head.envelope.tag as u8; body.len()])
    );
}

/// A receiver with a shared queue and its senders.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    posted: u32,
    /// Messages in buffers that nobody has polled.
    arrived: u32,
    free: u32,
    /// Of each sender: messages that have no buffer yet, and those that have one and have not completed.
    senders: Vec<[u32; 2]>,
}

impl World {
    fn steps(&self, queue: &SharedQueue) -> Vec<World> {
        let mut steps = Vec::new();
        for at in 0..self.senders.len() {
            let [waiting, placed] = self.senders[at];
            let mut step = |change: &dyn Fn(&mut World)| {
                let mut next = self.clone();
                change(&mut next);
                steps.push(next);
            };
            if waiting + placed < queue.sends {
                step(&|next| next.senders[at][0] += 1);
            }
            if waiting > 0 && self.posted > 0 {
                step(&|next| {
                    next.senders[at] = [waiting - 1, placed + 1];
                    next.posted -= 1;
                    next.arrived += 1;
                });
            }
            if placed > 0 {
                step(&|next| next.senders[at][1] -= 1);
            }
        }
        steps.extend(self.poll(queue));
        steps
    }

    /// The receiver polls a message.
    fn poll(&self, queue: &SharedQueue) -> Option<World> {
        let mut next = self.clone();
        next.arrived = self.arrived.checked_sub(1)?;
        next.free += 1;
        if queue.refills(next.posted) {
            next.posted += std::mem::take(&mut next.free);
        }
        Some(next)
    }

    /// Without further sends, all complete.
    fn settles(mut self, queue: &SharedQueue) -> bool {
        let none = SharedQueue { sends: 0, ..*queue };
        while let Some(next) = self.steps(&none).pop() {
            self = next;
        }
        self.senders.iter().all(|sender| *sender == [0, 0])
    }
}

/// All orders of events of small queues: no message waits for ever, and nothing is lost or doubled.
#[test]
fn senders_to_a_shared_queue_never_wait_for_ever() {
    let mut tried = 0;
    for (buffers, low_mark, sends, senders) in [
        (1, 1, 1, 2),
        (1, 1, 2, 2),
        (2, 1, 2, 2),
        (2, 2, 2, 2),
        (3, 1, 2, 3),
        (4, 2, 2, 2),
    ] {
        let queue = SharedQueue {
            size: 128,
            buffers,
            low_mark,
            sends,
        };
        let start = World {
            posted: buffers,
            arrived: 0,
            free: 0,
            senders: vec![[0, 0]; senders],
        };
        let mut seen = HashSet::from([start.clone()]);
        let mut open = vec![start];
        while let Some(world) = open.pop() {
            assert_eq!(
                world.posted + world.arrived + world.free,
                buffers,
                "{world:?}"
            );
            assert!(world.clone().settles(&queue), "{queue:?}: {world:?}");
            for next in world.steps(&queue) {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        tried += seen.len();
    }
    assert!(tried > 1000, "{tried} states are hardly all");
}
