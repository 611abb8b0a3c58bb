//! Tests of the cost of matching, counted in slots and chains that are read: exact, unlike a time.
//!
//! The count includes the rewriting of a table that grows or is swept, so constant means amortized over the
//! operations of a test.

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

/// A set of receives or messages that wait together.
#[derive(Clone, Copy, Debug)]
enum WaitingSet {
    /// Every tag once.
    Tags,
    /// Every source once.
    Sources,
    /// Every tag once, and never again.
    FreshTags,
    /// All with the same source and tag.
    Same,
    /// Every tag once, with wildcards in turn.
    Wildcards,
}

const WAITING_SETS: [WaitingSet; 5] = [
    WaitingSet::Tags,
    WaitingSet::Sources,
    WaitingSet::FreshTags,
    WaitingSet::Same,
    WaitingSet::Wildcards,
];

impl WaitingSet {
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

    /// Number of the message of operation `operation`, and of the message that replaces it, among `waiting`.
    fn numbers(self, operation: u32, waiting: u32) -> (u32, u32) {
        match self {
            Self::FreshTags => (operation, operation + waiting),
            _ => (operation % waiting, operation % waiting),
        }
    }

    /// The smallest number of messages that has every kind of this set.
    fn few(self) -> u32 {
        match self {
            Self::Wildcards => 4,
            _ => 1,
        }
    }
}

/// Steps of an arrival while `waiting` receives are posted: each receive is found by its message, removed,
/// and posted again.
fn posted(set: WaitingSet, waiting: u32, stride: u32) -> f64 {
    let (mut posted, mut requests) = (Posted::new(), Slab::new());
    let post = |posted: &mut Posted, requests: &mut Slab<Record<(), ()>>, number| {
        let pattern = set.receive(number, stride);
        posted.push(requests, (), &pattern, NONE);
    };
    for number in 0..waiting {
        post(&mut posted, &mut requests, number);
    }
    let before = posted.chains.looked.get();
    for operation in 0..MANY {
        let (number, next) = set.numbers(operation, waiting);
        let (source, envelope) = set.message(number, stride);
        let found = posted.find(&requests, source, envelope);
        assert_ne!(found, NONE, "message {number} has a receive");
        posted.remove(&mut requests, found);
        requests.remove(found);
        post(&mut posted, &mut requests, next);
    }
    per_operation(posted.chains.looked.get() - before)
}

/// Steps of a receive while `waiting` messages are kept: each message is found by its receive, removed, and
/// arrives again.
fn unexpected(set: WaitingSet, waiting: u32, stride: u32) -> f64 {
    let mut kept = Unexpected::new();
    let come = |kept: &mut Unexpected, number| {
        let (source, envelope) = set.message(number, stride);
        let (bytes, sync) = (Vec::new(), None);
        kept.push(source, envelope, Content::Whole { bytes, sync });
    };
    for number in 0..waiting {
        come(&mut kept, number);
    }
    let before = kept.chains.looked.get();
    for operation in 0..MANY {
        let (number, next) = set.numbers(operation, waiting);
        let found = kept.find(&set.receive(number, stride));
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
    for set in WAITING_SETS {
        let (one, many) = (posted(set, set.few(), 1), posted(set, MANY, 1));
        println!("{set:?}: {many} steps, {one} with {}", set.few());
        assert!(many <= 2.0 * one, "{set:?}: {many} steps, {one} with one");
    }
}

#[test]
fn ten_thousand_unexpected_messages_cost_at_most_twice_one() {
    for set in WAITING_SETS {
        let (one, many) = (unexpected(set, set.few(), 1), unexpected(set, MANY, 1));
        println!("{set:?}: {many} steps, {one} with {}", set.few());
        assert!(many <= 2.0 * one, "{set:?}: {many} steps, {one} with one");
    }
}

/// Programs choose tags and ranks in steps of powers of two.
#[test]
fn no_power_of_two_is_an_expensive_stride() {
    for set in &WAITING_SETS[..3] {
        for stride in (0..20).map(|power| 1 << power) {
            let (found, kept) = (posted(*set, 1000, stride), unexpected(*set, 1000, stride));
            assert!(found <= 2.0 * posted(*set, 1, 1), "{set:?} {stride}");
            assert!(kept <= 2.0 * unexpected(*set, 1, 1), "{set:?} {stride}");
        }
    }
}

/// Distances at which a weaker hash, or a fuller table, puts many keys into neighbouring slots.
#[test]
fn distances_that_have_been_expensive_are_not() {
    for (set, waiting, stride) in [
        (WaitingSet::Sources, 64, 73_728),
        (WaitingSet::Sources, 64, 72_512),
        (WaitingSet::Sources, 31, 16_520),
        (WaitingSet::Tags, 31, 8_072),
        (WaitingSet::Tags, 31, 44_876),
    ] {
        check_stride(set, waiting, stride);
    }
}

/// Checks that operations among `waiting` cost about as much as with one.
fn check_stride(set: WaitingSet, waiting: u32, stride: u32) {
    let (found, kept) = (
        posted(set, waiting, stride),
        unexpected(set, waiting, stride),
    );
    assert!(found <= 2.0 * posted(set, 1, 1) + 1.0, "{set:?} {stride}");
    assert!(
        kept <= 2.0 * unexpected(set, 1, 1) + 1.0,
        "{set:?} {stride}"
    );
}

proptest! {
    /// Programs choose tags in steps of all kinds: powers of two, sizes of grids.
    #[test]
    fn no_stride_of_tags_or_sources_is_expensive(
        stride in prop_oneof![(0..20u32).prop_map(|power| 1 << power), 1..100_000u32],
        set in 0..3usize,
        waiting in 1..5_000u32,
    ) {
        check_stride(WAITING_SETS[set], waiting, stride);
    }
}
