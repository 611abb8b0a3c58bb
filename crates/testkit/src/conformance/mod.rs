//! What every transport must do: a suite that is generic over the transport.
//!
//! An implementor says in [`TestedTransport`] how to make two joined ends, and instantiates the suite with
//! one line in its own `tests/`:
//!
//! ```
//! use oxmpi_testkit::conformance::{TransportEnd, TestedTransport};
//! # use oxmpi_testkit::fabric::{FabricRx, FabricTx, FabricConfig, fabric};
//! # use oxmpi_testkit::memory::SharedBytes;
//! struct Fair;
//!
//! impl TestedTransport for Fair {
//!     // ...
//! #     type Tx = FabricTx;
//! #     type Rx = FabricRx;
//! #     type Memory = SharedBytes;
//! #     fn join() -> [TransportEnd<Self>; 2] {
//! #         let (_, ends) = fabric(2, FabricConfig::default());
//! #         TransportEnd::two(ends)
//! #     }
//! #     fn memory(bytes: Vec<u8>) -> SharedBytes { SharedBytes::new(bytes) }
//! #     fn bytes(memory: &SharedBytes) -> SharedBytes { memory.clone() }
//! #     fn read(memory: &SharedBytes) -> Vec<u8> { memory.to_vec() }
//! }
//!
//! oxmpi_testkit::conformance!(fair, Fair);
//! # fn main() {}
//! ```

pub mod bulk;
pub mod engines;
pub mod frames;
pub mod loss;

use std::time::{Duration, Instant};

use oxmpi_wire::{
    Bytes, Envelope, Fault, Flags, Header, Kind, Memory, Peer, Put, Rma, Rx, Sink, Sleeper, Take,
    Token, Tx,
};

/// Time after which a test that waits counts as hanging.
const WATCHDOG: Duration = Duration::from_secs(120);

/// A transport under test.
pub trait TestedTransport: Sized {
    /// The sending half.
    type Tx: Tx + Rma + Memory;
    /// The receiving half.
    type Rx: Rx<Self::Tx> + Sleeper;
    /// Owner of user memory: it lives as long as a test needs it.
    type Memory;

    /// Makes two ends that are joined. Both are driven by the calling thread.
    fn join() -> [TransportEnd<Self>; 2];

    /// User memory with these bytes.
    fn memory(bytes: Vec<u8>) -> Self::Memory;

    /// All of `memory` as a transport takes it. The suite keeps `memory` until the transport has
    /// given the bytes back.
    fn bytes(memory: &Self::Memory) -> <Self::Tx as Memory>::Bytes;

    /// What is in `memory` now.
    fn read(memory: &Self::Memory) -> Vec<u8>;
}

/// A transport whose ends can die in a test.
pub trait KillableTransport: TestedTransport {
    /// Ends this end as if its process had died.
    fn kill(end: TransportEnd<Self>);
}

/// One end.
#[derive(Debug)]
pub struct TransportEnd<S: TestedTransport> {
    /// The sending half.
    pub tx: S::Tx,
    /// The receiving half.
    pub rx: S::Rx,
    /// What this end calls the other one.
    pub peer: Peer,
}

impl<S: TestedTransport> TransportEnd<S> {
    /// The two ends of a pair that call each other 1 and 0, in the order of what they are called.
    ///
    /// # Panics
    /// If there are not two.
    pub fn two(ends: impl IntoIterator<Item = (S::Tx, S::Rx)>) -> [Self; 2] {
        let ends = ends.into_iter().zip([1, 0]);
        let ends: Vec<_> = ends
            .map(|((tx, rx), peer)| Self {
                tx,
                rx,
                peer: Peer(peer),
            })
            .collect();
        ends.try_into().ok().expect("two ends were asked for")
    }

    /// Rings the doorbells and polls once.
    pub fn poll(&mut self, log: &mut EventLog) -> u32 {
        self.tx.flush();
        self.rx.poll(&mut self.tx, 64, log)
    }

    /// Sends one frame by the short path, or whole if its tag is even, or by a slot; false if the transport
    /// was busy.
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

/// Everything a transport told, in order.
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
    /// Takes at most so many bytes of each body, and leaves the rest.
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
        // In two pieces, as an engine takes an id and then a payload.
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

/// An eager header whose tag tells frames apart.
fn eager(tag: u32, len: usize) -> Header {
    Header {
        kind: Kind::Eager,
        flags: Flags::empty(),
        len: len as u32,
        envelope: Envelope { context: 1, tag },
    }
}

/// Repeats `step` until it says true.
///
/// # Panics
/// After [`WATCHDOG`].
fn until(what: &str, mut step: impl FnMut() -> bool) {
    let start = Instant::now();
    while !step() {
        assert!(start.elapsed() < WATCHDOG, "hangs: {what}");
    }
}

/// Instantiates the suite for a [`TestedTransport`] as the tests of a module; with `, killable`, for a
/// [`KillableTransport`] also the tests of death.
#[macro_export]
macro_rules! conformance {
    ($module:ident, $subject:ty) => {
        mod $module {
            #[allow(unused_imports, reason = "the subject may be a path of its own")]
            use super::*;
            $crate::conformance_tests!($subject, frames: short_frames_keep_order,
                frames_of_every_size, short_and_long_frames_keep_order, headers_travel_whole,
                unread_bodies_are_skipped, a_dropped_slot_sends_nothing, busy_then_room,
                the_short_path_obeys_its_limit, floods_cross, a_budget_is_kept, one_peer_is_polled_alone, arm_sees_what_came);
            $crate::conformance_tests!($subject, bulk: get_moves_all_bytes, put_moves_all_bytes,
                parts_of_a_region_move, every_token_comes_back_once, release_gives_memory_back,
                frames_pass_bulk);
            $crate::conformance_tests!($subject, engines: messages_of_every_size_arrive,
                a_flood_of_messages_keeps_order, a_cancelled_send_is_answered, the_fast_path_receives);
        }
    };
    ($module:ident, $subject:ty, killable) => {
        mod $module {
            #[allow(unused_imports, reason = "the subject may be a path of its own")]
            use super::*;
            $crate::conformance!(alive, $subject);
            $crate::conformance_tests!($subject, loss: a_lost_peer_is_told,
                sends_to_a_lost_peer_do_not_hang, operations_end_with_their_peer);
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
                $crate::conformance::$part::$name::<$subject>();
            }
        )+
    };
}
