//! Ranks that sleep beside other descriptors and are woken by doorbells.

use crate::common::{Rank, WATCHDOG, nodes};
use oxmpi_os::pipe::{PollFd, PollFlags, poll};
use oxmpi_shm::{Node, SegmentLayout};
use oxmpi_wire::Sleeper;

const ROUNDS: u32 = 300;

fn rank(node: Node) -> Rank {
    Rank::new(node.with_doorbells().expect("a socket"))
}

/// Sleeps until `rank` has received a message: in its own sleep, or in `poll` with its doorbell.
fn receive(rank: &mut Rank, in_own_sleep: bool) {
    while rank.log.0.is_empty() {
        if rank.poll() > 0 || !rank.rx.arm() {
            continue;
        }
        if in_own_sleep {
            rank.rx.nap(WATCHDOG);
            continue;
        }
        let limit = rank.rx.longest_nap().min(WATCHDOG);
        let doorbell = rank.rx.doorbell().expect("it has one");
        let mut watched = [PollFd::from_borrowed_fd(doorbell, PollFlags::IN)];
        let rung = poll(&mut watched, Some(limit)).expect("it waits");
        assert!(rung > 0 || limit < WATCHDOG, "no doorbell rang");
        rank.rx.disarm();
    }
    rank.log.0.clear();
}

#[test]
fn a_sender_rings_the_doorbell() {
    let start = std::time::Instant::now();
    nodes(SegmentLayout::new(2), |me, node| {
        let mut rank = rank(node);
        for round in 0..ROUNDS {
            if me == 0 {
                rank.send(1, round, &[1; 8]);
            }
            receive(&mut rank, round % (2 + me) == 0);
            if me == 1 {
                rank.send(0, round, &[1; 8]);
            }
        }
    });
    assert!(start.elapsed() < WATCHDOG, "a ring was missed");
}

/// A rank alone has no doorbell.
#[test]
fn a_rank_alone_has_no_doorbell() {
    let node = Node::alone(SegmentLayout::new(1)).expect("memory");
    let alone = rank(node);
    assert!(alone.rx.doorbell().is_none());
}
