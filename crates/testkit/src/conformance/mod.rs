//! The conformance suite: tests that every transport has to pass, generic over the transport.
//!
//! Implement [`TestedTransport`], which makes connected ends, and instantiate the suite with one line in
//! `tests/`:
//!
//! ```
//! use oxmpi_testkit::conformance::TestedTransport;
//! # use oxmpi_testkit::fabric::{FabricRx, FabricTx, FabricConfig, fabric};
//! # use oxmpi_testkit::memory::Buffer;
//! struct Fair;
//!
//! impl TestedTransport for Fair {
//!     // ...
//! #     type Tx = FabricTx;
//! #     type Rx = FabricRx;
//! #     type Memory = Buffer;
//! #     fn ends(count: u32) -> Vec<(FabricTx, FabricRx)> {
//! #         let (_, ends) = fabric(count, FabricConfig::default());
//! #         ends
//! #     }
//! }
//!
//! oxmpi_testkit::conformance!(fair, Fair);
//! # fn main() {}
//! ```

pub mod atomics;
pub mod bulk;
pub mod engines;
pub mod frames;
pub mod loss;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use oxmpi_wire::{
    Bytes, Envelope, Fault, Flags, Header, Kind, Memory, Peer, Put, Rma, Rx, Sink, Sleeper, Take,
    Token, Tx,
};

pub use crate::memory::TestMemory;

/// Time after which a waiting test counts as hanging.
const WATCHDOG: Duration = Duration::from_secs(120);

/// The same once a test of this process hangs: the fault is known, and most tests may have it.
const WATCHDOG_AFTER_A_HANG: Duration = Duration::from_secs(10);

/// A test of this process hangs.
static HANGS: AtomicBool = AtomicBool::new(false);

/// A transport under test.
pub trait TestedTransport: Sized {
    /// The sending half.
    type Tx: Tx + Rma + Memory;
    /// The receiving half.
    type Rx: Rx<Self::Tx> + Sleeper;
    /// Owner of user memory, which the test keeps as long as necessary.
    type Memory: TestMemory<Bytes = <Self::Tx as Memory>::Bytes>;

    /// Makes `count` ends that are connected with each other, all for the calling thread. End `i` is peer `i` of
    /// the others.
    fn ends(count: u32) -> Vec<(Self::Tx, Self::Rx)>;

    /// Memory with these bytes for end `rank` of the ends that were made last: where its transport reaches memory of
    /// several kinds, of the kind under test.
    fn memory(rank: u32, bytes: Vec<u8>) -> Self::Memory {
        let _ = rank;
        Self::Memory::new(bytes)
    }

    /// Whether this machine has the transport; where it has not, there is nothing to test.
    fn is_available() -> bool {
        true
    }

    /// Makes two connected ends.
    fn join() -> [TransportEnd<Self>; 2] {
        let ends = TransportEnd::all(Self::ends(2));
        ends.try_into().ok().expect("two ends were asked for")
    }
}

/// A transport whose ends can be killed in a test.
pub trait KillableTransport: TestedTransport {
    /// Kills this end as if its process had died.
    fn kill(end: TransportEnd<Self>);
}

/// One end of a connection.
#[derive(Debug)]
pub struct TransportEnd<S: TestedTransport> {
    /// The sending half.
    pub tx: S::Tx,
    /// The receiving half.
    pub rx: S::Rx,
    /// Its number as a peer of the others.
    pub rank: u32,
    /// Another end, as a peer of this one.
    pub peer: Peer,
}

impl<S: TestedTransport> TransportEnd<S> {
    /// The ends of a transport: the peer of the first one is 1, that of all others 0.
    pub fn all(ends: impl IntoIterator<Item = (S::Tx, S::Rx)>) -> Vec<Self> {
        let end = |(rank, (tx, rx))| Self {
            tx,
            rx,
            rank,
            peer: Peer(u32::from(rank == 0)),
        };
        (0..).zip(ends).map(end).collect()
    }

    /// Rings the doorbells and polls once.
    pub fn poll(&mut self, log: &mut EventLog) -> u32 {
        self.tx.flush();
        self.rx.poll(&mut self.tx, 64, log)
    }

    /// Sends one frame: by [`Tx::short`], or by [`Tx::whole`] if its tag is even, or by a slot. False: the
    /// transport was busy.
    pub fn try_send(&mut self, head: &Header, body: &[u8], short: bool) -> bool {
        if short {
            return self.tx.short(self.peer, head, &Fixed(body)).is_ok();
        }
        if head.envelope.tag.is_multiple_of(2) {
            return self.tx.whole(self.peer, head, &Fixed(body)).is_ok();
        }
        match self.tx.frame(self.peer, head, body.len()) {
            Ok(mut slot) => {
                slot.put(body);
                oxmpi_wire::Slot::send(slot);
                true
            }
            Err(oxmpi_wire::Busy) => false,
        }
    }
}

/// A sink that records all events of a transport, in order.
#[derive(Debug, Default)]
pub struct EventLog {
    /// Frames with their bodies.
    pub frames: Vec<(Peer, Header, Vec<u8>)>,
    /// Ended bulk operations.
    pub done: Vec<(Token, Result<(), Fault>)>,
    /// Peers that have room again.
    pub room: Vec<Peer>,
    /// Lost peers.
    pub lost: Vec<(Peer, Fault)>,
    /// The most bytes to take of each body; the rest is left.
    pub at_most: Option<usize>,
}

impl<T> Sink<T> for EventLog {
    fn frame(&mut self, _tx: &mut T, from: Peer, head: &Header, body: &mut impl Take) {
        assert_eq!(
            body.left(),
            head.len as usize,
            "the body is as long as its header says"
        );
        let mut bytes = vec![0; body.left().min(self.at_most.unwrap_or(usize::MAX))];
        // In two pieces, as an engine reads an id and then a payload.
        let cut = bytes.len().min(8);
        let (first, second) = bytes.split_at_mut(cut);
        body.take(first);
        body.take(second);
        self.frames.push((from, *head, bytes));
    }

    fn done(&mut self, _tx: &mut T, token: Token, result: Result<(), Fault>) {
        self.done.push((token, result));
    }

    fn room(&mut self, _tx: &mut T, to: Peer) {
        self.room.push(to);
    }

    fn lost(&mut self, _tx: &mut T, peer: Peer, why: Fault) {
        self.lost.push((peer, why));
    }
}

/// A body to send from.
#[derive(Clone)]
struct Fixed<'a>(&'a [u8]);

impl Bytes for Fixed<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn address(&self) -> Option<u64> {
        Some(self.0.as_ptr().addr() as u64)
    }

    fn fill(&self, _at: u64, _from: &mut impl Take) {
        panic!("a transport wrote into a body to send");
    }

    fn drain(&self, at: u64, len: usize, to: &mut impl Put) {
        to.put(&self.0[at as usize..at as usize + len]);
    }
}

/// The header of an eager frame with `len` body bytes; the tag identifies the frame.
#[must_use]
pub const fn eager(tag: u32, len: usize) -> Header {
    let envelope = Envelope { context: 1, tag };
    Header::new(Kind::Eager, Flags::empty(), len as u32, envelope)
}

/// Repeats `step` until it returns true.
///
/// # Panics
/// After [`WATCHDOG`], or [`WATCHDOG_AFTER_A_HANG`].
fn until(what: &str, mut step: impl FnMut() -> bool) {
    let start = Instant::now();
    while !step() {
        let limit = match HANGS.load(Ordering::Relaxed) {
            true => WATCHDOG_AFTER_A_HANG,
            false => WATCHDOG,
        };
        if start.elapsed() >= limit {
            HANGS.store(true, Ordering::Relaxed);
            panic!("hangs: {what}");
        }
    }
}

/// Instantiates the suite for a [`TestedTransport`] as the tests of a module; with `, killable` also the
/// tests of a peer's death, for a [`KillableTransport`].
#[macro_export]
macro_rules! conformance {
    ($module:ident, $subject:ty) => {
        mod $module {
            #[allow(unused_imports, reason = "the subject may be a path of its own")]
            use super::*;
            $crate::conformance_tests!($subject, frames: short_frames_keep_order,
                frames_of_every_size, short_and_long_frames_keep_order, headers_arrive_unchanged,
                unread_bodies_are_skipped, a_dropped_slot_sends_nothing, busy_then_room,
                the_short_path_obeys_its_limit, floods_in_both_directions_arrive, a_budget_is_kept, one_peer_is_polled_alone, arm_sees_earlier_frames);
            $crate::conformance_tests!($subject, bulk: get_moves_all_bytes, put_moves_all_bytes,
                parts_of_a_region_move, every_token_is_returned_once, release_gives_memory_back,
                invalid_ranges_move_nothing, memory_is_reached_as_registered,
                memory_for_reading_and_writing, frames_pass_bulk);
            $crate::conformance_tests!($subject, atomics: atomics_do_as_the_arithmetic_says,
                additions_of_several_peers_sum_up, one_compare_and_swap_wins,
                a_flush_follows_what_was_started, wrong_words_are_refused, operations_are_bounded);
            $crate::conformance_tests!($subject, engines: messages_of_every_size_arrive,
                a_flood_of_messages_keeps_order, a_cancelled_send_is_answered, the_fast_path_receives,
                the_fast_path_takes_heads_only);
        }
    };
    ($module:ident, $subject:ty, killable) => {
        mod $module {
            #[allow(unused_imports, reason = "the subject may be a path of its own")]
            use super::*;
            $crate::conformance!(alive, $subject);
            $crate::conformance_tests!($subject, loss: a_lost_peer_is_reported,
                sends_to_a_lost_peer_do_not_hang, operations_end_with_their_peer,
                each_access_ends_once);
        }
    };
}

/// One test for each named function of a part of the suite.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    ($subject:ty, $part:ident: $($name:ident),+) => {
        $(
            #[test]
            fn $name() {
                if <$subject as $crate::conformance::TestedTransport>::is_available() {
                    $crate::conformance::$part::$name::<$subject>();
                }
            }
        )+
    };
}
