//! What matching costs, in slots and chains looked at: no clock says it as surely.
//!
//! The counter also sees the rewriting of a table that grows or is swept, so constant means constant
//! on average over the operations of a test.

use alloc::vec::Vec;
use std::println;

use proptest::prelude::*;

use super::pattern::Pattern;
use super::pattern::{Source, Tag};
use super::posted::Posted;
use super::request::Record;
use super::unexpected::{Content, Unexpected};
use crate::header::Envelope;
use crate::slab::{NONE, Slab};
use crate::transport::Peer;

const MANY: u32 = 10_000;

/// Which receives, or messages, wait together.
#[derive(Clone, Copy, Debug)]
enum Crowd {
    /// Every tag once.
    Tags,
    /// Every source once.
    Sources,
    /// Every tag once, and never again.
    FreshTags,
    /// All alike.
    Same,
    /// Every tag once, each time with another wildcard.
    Wildcards,
}

const CROWDS: [Crowd; 5] = [
    Crowd::Tags,
    Crowd::Sources,
    Crowd::FreshTags,
    Crowd::Same,
    Crowd::Wildcards,
];

impl Crowd {
    /// Source and envelope of message `number`, whose numbers are `stride` apart.
    fn message(self, number: u32, stride: u32) -> (u32, Envelope) {
        let spread = number.wrapping_mul(stride);
        let (source, tag) = match self {
            Self::Tags | Self::FreshTags | Self::Wildcards => (3, spread),
            Self::Sources => (spread, 7),
            Self::Same => (3, 7),
        };
        (source, Envelope { context: 2, tag })
    }

    /// A receive that takes message `number`.
    fn receive(self, number: u32, stride: u32) -> Pattern {
        let (source, Envelope { context, tag }) = self.message(number, stride);
        let exact = (Source::Peer(Peer(source)), Tag::Exact(tag));
        let (source, tag) = match (self, number % 4) {
            (Self::Wildcards, 1) => (Source::Any, exact.1),
            (Self::Wildcards, 2) => (exact.0, Tag::Any),
            (Self::Wildcards, 3) => (Source::Any, Tag::Any),
            _ => exact,
        };
        Pattern::new(source, context, tag)
    }

    /// Number of operation `turn`'s message, and of the one that takes its place, among `waiting`.
    fn turn(self, turn: u32, waiting: u32) -> (u32, u32) {
        match self {
            Self::FreshTags => (turn, turn + waiting),
            _ => (turn % waiting, turn % waiting),
        }
    }

    /// The fewest that show every kind of this crowd.
    fn few(self) -> u32 {
        match self {
            Self::Wildcards => 4,
            _ => 1,
        }
    }
}

/// Steps that an arrival takes while `waiting` receives are posted: each is found by its message,
/// taken out, and posted anew.
fn posted(crowd: Crowd, waiting: u32, stride: u32) -> f64 {
    let (mut posted, mut requests) = (Posted::new(), Slab::new());
    let post = |posted: &mut Posted, requests: &mut Slab<Record<(), ()>>, number| {
        let pattern = crowd.receive(number, stride);
        posted.push(requests, (), &pattern, NONE);
    };
    for number in 0..waiting {
        post(&mut posted, &mut requests, number);
    }
    let before = posted.chains.looked.get();
    for turn in 0..MANY {
        let (number, next) = crowd.turn(turn, waiting);
        let (source, envelope) = crowd.message(number, stride);
        let found = posted.find(&requests, source, envelope);
        assert_ne!(found, NONE, "message {number} has a receive");
        posted.remove(&mut requests, found);
        requests.remove(found);
        post(&mut posted, &mut requests, next);
    }
    per_operation(posted.chains.looked.get() - before)
}

/// Steps that a receive takes while `waiting` messages are kept: each is found by its receive, taken
/// out, and comes anew.
fn unexpected(crowd: Crowd, waiting: u32, stride: u32) -> f64 {
    let mut kept = Unexpected::new();
    let come = |kept: &mut Unexpected, number| {
        let (source, envelope) = crowd.message(number, stride);
        let (bytes, sync) = (Vec::new(), None);
        kept.push(source, envelope, Content::Whole { bytes, sync });
    };
    for number in 0..waiting {
        come(&mut kept, number);
    }
    let before = kept.chains.looked.get();
    for turn in 0..MANY {
        let (number, next) = crowd.turn(turn, waiting);
        let found = kept.find(&crowd.receive(number, stride));
        assert_ne!(found, NONE, "receive {number} has a message");
        kept.remove(found);
        come(&mut kept, next);
    }
    per_operation(kept.chains.looked.get() - before)
}

fn per_operation(steps: u64) -> f64 {
    steps as f64 / f64::from(MANY)
}

#[test]
fn ten_thousand_posted_receives_cost_at_most_twice_one() {
    for crowd in CROWDS {
        let (one, many) = (posted(crowd, crowd.few(), 1), posted(crowd, MANY, 1));
        println!("{crowd:?}: {many} steps, {one} with {}", crowd.few());
        assert!(many <= 2.0 * one, "{crowd:?}: {many} steps, {one} with one");
    }
}

#[test]
fn ten_thousand_unexpected_messages_cost_at_most_twice_one() {
    for crowd in CROWDS {
        let (one, many) = (
            unexpected(crowd, crowd.few(), 1),
            unexpected(crowd, MANY, 1),
        );
        println!("{crowd:?}: {many} steps, {one} with {}", crowd.few());
        assert!(many <= 2.0 * one, "{crowd:?}: {many} steps, {one} with one");
    }
}

proptest! {
    /// Programs choose tags in steps of all kinds: powers of two, sizes of grids.
    #[test]
    fn no_stride_of_tags_or_sources_is_dear(
        stride in prop_oneof![(0..20u32).prop_map(|power| 1 << power), 1..100_000u32],
        crowd in 0..3usize,
        waiting in 1..5_000u32,
    ) {
        let crowd = CROWDS[crowd];
        prop_assert!(posted(crowd, waiting, stride) <= 2.0 * posted(crowd, 1, 1) + 1.0);
        prop_assert!(unexpected(crowd, waiting, stride) <= 2.0 * unexpected(crowd, 1, 1) + 1.0);
    }
}
