//! Tests with a hostile peer: whatever it writes into the segment, the other side goes on or gives it up.

mod offers;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::vec::Vec;

use oxmpi_os::RawBytes;
use oxmpi_os::memory::Memfd;
use oxmpi_wire::{
    Access, Busy, Envelope, Fault, Flags, Header, Kind, Local, Memory, Peer, Put, Remote, Rma, Rx,
    Sink, Slot, Take, Token, Tx,
};
use proptest::prelude::*;

use super::{SHORT, ShmRx, ShmTx};
use crate::NodeBarriers;
use crate::ring::{MappedWords, SharedWords};
use crate::segment::{Segment, SegmentLayout};

const LAYOUT: SegmentLayout = SegmentLayout {
    ranks: 2,
    slots: 4,
    buffer: 128,
    buffers: 4,
};

#[derive(Default)]
struct SinkLog {
    frames: Vec<(Header, Vec<u8>)>,
    done: Vec<(Token, Result<(), Fault>)>,
    lost: Vec<(Peer, Fault)>,
}

impl<T> Sink<T> for SinkLog {
    fn frame(&mut self, _: &mut T, _: Peer, head: &Header, body: &mut impl Take) {
        let mut bytes = vec![0; body.left()];
        body.take(&mut bytes);
        assert_eq!(bytes.len(), head.len as usize);
        self.frames.push((*head, bytes));
    }
    fn done(&mut self, _: &mut T, token: Token, result: Result<(), Fault>) {
        self.done.push((token, result));
    }
    fn room(&mut self, _: &mut T, _: Peer) {}
    fn lost(&mut self, _: &mut T, peer: Peer, why: Fault) {
        self.lost.push((peer, why));
    }
}

/// One rank of a node in this process.
struct Rank {
    segment: Arc<Segment>,
    tx: ShmTx,
    rx: ShmRx,
    log: SinkLog,
}

/// The ranks of a node in this process.
fn ranks(layout: SegmentLayout) -> Vec<Rank> {
    let memory = Memfd::create("oxmpi-test", layout.file_len()).unwrap();
    let rank = |me| {
        let segment = Arc::new(Segment::map(&memory, layout, me).unwrap());
        for rank in 0..layout.ranks {
            segment.set_pid(rank, std::process::id());
        }
        Rank {
            tx: ShmTx::new(segment.clone(), me),
            rx: ShmRx::new(segment.clone(), me).unwrap(),
            segment,
            log: SinkLog::default(),
        }
    };
    (0..layout.ranks).map(rank).collect()
}

/// Rank 0 of two; the test acts as rank 1.
fn victim() -> Rank {
    let victim = ranks(LAYOUT).swap_remove(0);
    victim.segment.link_announcer(0).announce(1);
    victim
}

impl Rank {
    fn poll(&mut self) {
        self.rx.poll(&mut self.tx, 8, &mut self.log);
    }

    /// Sends an empty message to `to`.
    fn send(&mut self, to: u32) -> Result<(), Busy> {
        self.tx.short(Peer(to), &eager(0), &RawBytes::empty())
    }

    /// Checks that the other rank was given up once, since it broke the protocol.
    fn assert_given_up(&self, what: &str) {
        let lost = &self.log.lost[..];
        let given_up = matches!(lost, [(Peer(1), Fault::Protocol(_))]);
        assert!(given_up, "{what}: {lost:?}");
    }

    /// Writes word `at` of the link from rank 1 to rank 0.
    fn write(&self, at: usize, word: u64) {
        put(self.segment.ring(1, 0), at, word);
    }

    /// Writes rank 1's `n`th message, from 0, by hand.
    fn message(&self, n: usize, compact: u32, body: &[u64]) {
        let at = n % LAYOUT.slots as usize * crate::ring::STRIDE;
        for (i, word) in body.iter().enumerate() {
            self.write(at + 1 + i, *word);
        }
        // The numbers of the higher rank's messages: 7, 11, 15 ...
        self.write(at, (4 * n as u64 + 7) << 32 | u64::from(compact));
    }
}

fn put(words: MappedWords<'_>, at: usize, word: u64) {
    assert!(at < words.len());
    // SAFETY: in bounds by the assertion.
    unsafe { words.store(at, word, Ordering::Relaxed) };
}

fn eager(len: usize) -> Header {
    Header {
        kind: Kind::Eager,
        flags: Flags::empty(),
        len: len as u32,
        envelope: Envelope { context: 0, tag: 0 },
    }
}

fn compact(kind: u32, flags: u32, len: u32) -> u32 {
    kind << 24 | flags << 16 | len
}

#[test]
fn a_node_of_many_ranks_has_no_barriers() {
    for (ranks, open) in [
        (NodeBarriers::RANKS, true),
        (NodeBarriers::RANKS + 1, false),
    ] {
        let layout = SegmentLayout { ranks, ..LAYOUT };
        let memory = Memfd::create("oxmpi-test", layout.len()).unwrap();
        let segment = Segment::map(&memory, layout, 0).unwrap();
        assert_eq!(
            NodeBarriers::new(Arc::new(segment), 0).are_available(),
            open
        );
    }
}

#[test]
fn a_rank_that_miscounts_barriers_is_given_up() {
    for (count, good) in [
        (0, true),
        (1, true),
        (2, true),
        (3, false),
        (u64::MAX, false),
    ] {
        let mut victim = victim();
        let mut barriers = NodeBarriers::new(victim.segment.clone(), 0);
        assert!(barriers.enter(5, 0b10));
        victim.segment.barrier_count(1, 5).enter(count);
        let missing = barriers.poll(5, &mut victim.tx);
        assert_eq!(missing, if count == 1 || count == 2 { 0 } else { 0b10 });
        victim.poll();
        let lost: &[_] = &[(Peer(1), Fault::Protocol("an impossible count of barriers"))];
        assert_eq!(victim.log.lost, if good { &[] } else { lost }, "{count}");
    }
}

#[test]
fn broken_frames_give_the_peer_up() {
    let control = compact(Kind::Transport as u32, 0, 0);
    let cases: [(&str, u32, [u64; 7]); 9] = [
        ("kind", compact(0, 0, 8), [0; 7]),
        ("kind", compact(200, 0, 8), [0; 7]),
        ("flags", compact(1, 0xff, 8), [0; 7]),
        ("too long", compact(1, 0, 129), [0; 7]),
        ("wrong buffer", compact(1, 0, 120), [0, 3, 0, 0, 0, 0, 0]),
        (
            "no buffer",
            compact(1, 0, 120),
            [0, u64::MAX, 0, 0, 0, 0, 0],
        ),
        ("control code", control, [77; 7]),
        (
            "chunk too long",
            control,
            [2, 0, u64::from(u32::MAX), 0, 0, 0, 0],
        ),
        ("empty chunk", control, [2, 0, 0, 0, 0, 0, 0]),
    ];
    for (what, compact, body) in cases {
        let mut victim = victim();
        victim.message(0, compact, &body);
        victim.poll();
        victim.assert_given_up(what);
        assert!(victim.log.frames.is_empty(), "{what}");
        victim.message(1, compact, &body);
        victim.poll();
        victim.assert_given_up(what);
    }
}

#[test]
fn an_impossible_sequence_number_is_found() {
    let mut victim = victim();
    victim.poll();
    victim.write(0, 77 << 32);
    for _ in 0..=1 << 15 {
        victim.poll();
    }
    victim.assert_given_up("rank 1");
}

#[test]
fn impossible_credits_end_the_link() {
    let mut victim = victim();
    // One more than the ring holds: the first uses the ping-pong slot.
    for _ in 0..=LAYOUT.slots {
        victim.send(1).unwrap();
    }
    let credits = LAYOUT.slots as usize * crate::ring::STRIDE;
    put(victim.segment.ring(0, 1), credits, 1000);
    assert!(victim.send(1).is_err());
    victim.poll();
    victim.assert_given_up("rank 1");
}

/// A spent budget leaves the next poll at a late link; fewer links are left then.
#[test]
fn peers_may_leave_in_the_middle_of_a_round() {
    let layout = SegmentLayout { ranks: 4, ..LAYOUT };
    let mut ranks = ranks(layout);
    for peer in &mut ranks[1..] {
        peer.send(0).unwrap();
    }
    let rank = &mut ranks[0];
    for budget in [1, 1, 8] {
        let moved = rank.rx.poll(&mut rank.tx, budget, &mut rank.log);
        assert_eq!(moved, 1);
    }
    for peer in 1..3 {
        rank.segment.exit_flag(peer).leave();
    }
    rank.rx.disarm();
    for _ in 0..2 {
        rank.poll();
    }
    assert_eq!((rank.log.frames.len(), rank.log.lost.len()), (3, 2));
}

#[test]
fn a_rank_that_naps_notices_soon_that_a_peer_has_left() {
    let mut victim = victim();
    victim.segment.exit_flag(1).leave();
    for _ in 0..100 {
        victim.poll();
        victim.rx.napped();
    }
    assert_eq!(victim.log.lost, [(Peer(1), Fault::Left)]);
}

#[test]
fn a_flood_of_pulls_is_bounded() {
    let mut victim = victim();
    let control = compact(Kind::Transport as u32, 0, 0);
    for n in 0..10_000 {
        victim.message(n, control, &[1, n as u64, 7, 0, 100]);
        victim.poll();
    }
    victim.assert_given_up("rank 1");
}

/// What the hostile peer does between two polls.
#[derive(Clone, Debug)]
enum ClaimStep {
    Ring(usize, u64),
    Credits(usize, u64),
    PingPong(usize, u64),
    Frame(u32, u32, u32, [u64; 7]),
    Send(usize),
    Get,
}

fn step() -> impl Strategy<Value = ClaimStep> {
    let word = prop_oneof![
        0..8u64,
        any::<u64>(),
        (0..32u64, 0..300u64).prop_map(|(h, l)| h << 32 | 1 << 24 | l)
    ];
    let ring = LAYOUT.slots as usize * crate::ring::STRIDE;
    prop_oneof![
        (0..ring, word.clone()).prop_map(|(at, w)| ClaimStep::Ring(at, w)),
        (0..2usize, 0..12u64).prop_map(|(at, w)| ClaimStep::Credits(at, w)),
        (0..crate::ring::STRIDE, word.clone()).prop_map(|(at, w)| ClaimStep::PingPong(at, w)),
        (0..8u32, 0..3u32, 0..300u32, proptest::array::uniform7(word))
            .prop_map(|(kind, flags, len, body)| ClaimStep::Frame(kind, flags, len, body)),
        (0..=128usize).prop_map(ClaimStep::Send),
        Just(ClaimStep::Get),
    ]
}

proptest! {
    #[test]
    fn nothing_that_a_peer_writes_breaks_the_other_side(steps in proptest::collection::vec(step(), 1..60)) {
        let mut victim = victim();
        let mut memory = [vec![5u8; 1000], vec![6u8; 1000]];
        let regions = memory.each_mut().map(|memory| {
            // SAFETY: the memory outlives the victim, and is read only afterwards.
            let bytes = unsafe { RawBytes::new(memory.as_mut_ptr(), memory.len()) };
            victim.tx.register(bytes, Access::READ, Peer(0)).unwrap()
        });
        let key = victim.tx.expose(&regions[0], Peer(1));
        for (n, step) in steps.into_iter().enumerate() {
            match step {
                ClaimStep::Ring(at, word) => victim.write(at, word),
                ClaimStep::Credits(at, word) => {
                    let credits = LAYOUT.slots as usize * crate::ring::STRIDE;
                    put(victim.segment.ring(0, 1), credits + at, word);
                }
                ClaimStep::PingPong(at, word) => put(victim.segment.ping_pong_slot(0, 1).unwrap(), at, word),
                ClaimStep::Frame(kind, flags, len, body) => {
                    victim.message(n, compact(kind, flags, len), &body);
                }
                ClaimStep::Send(len) if len <= SHORT => {
                    // SAFETY: as above; only read.
                    let body = unsafe { RawBytes::new(key.0.as_ptr().cast_mut(), len.min(32)) };
                    let _ = victim.tx.short(Peer(1), &eager(len.min(32)), &body);
                }
                ClaimStep::Send(len) => {
                    if let Ok(mut slot) = victim.tx.frame(Peer(1), &eager(len), len) {
                        slot.put(&vec![1; len]);
                        slot.send();
                    }
                }
                ClaimStep::Get => {
                    let remote = Remote { key: &key, at: 0, len: 500 };
                    let local = Local { region: &regions[1], at: 3, len: 500 };
                    let _ = victim.tx.get(Peer(1), remote, local, Token(n as u64));
                }
            }
            victim.poll();
            prop_assert!(victim.log.lost.len() <= 1);
        }
    }
}
