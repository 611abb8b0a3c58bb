//! Tests of flushes, compared with the set of operations that each waits for.

use std::collections::BTreeSet;

use oxmpi_wire::Token;
use oxmpi_wire::flushes::Flushes;
use proptest::prelude::*;
use proptest::sample::Index;

const PEERS: u32 = 3;

#[derive(Clone, Debug)]
enum Step {
    Start(u32),
    End(Index),
    Flush(u32),
    Lose(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..PEERS).prop_map(Step::Start),
        4 => any::<Index>().prop_map(Step::End),
        2 => (0..PEERS).prop_map(Step::Flush),
        1 => (0..PEERS).prop_map(Step::Lose),
    ]
}

proptest! {
    #[test]
    fn a_flush_waits_for_what_started_before_it(steps in prop::collection::vec(step(), 0..100)) {
        let mut flushes = Flushes::new();
        // Operations in flight, and flushes with what they wait for.
        let mut open: Vec<(u32, u64)> = Vec::new();
        let mut waiting: Vec<(u32, Token, BTreeSet<u64>)> = Vec::new();
        for (token, step) in (0..).map(Token).zip(steps) {
            let of = |open: &[(u32, u64)], peer| -> BTreeSet<u64> {
                open.iter().filter(|one| one.0 == peer).map(|one| one.1).collect()
            };
            match step {
                Step::Start(peer) => open.push((peer, flushes.number())),
                Step::End(which) if !open.is_empty() => {
                    let (peer, number) = open.swap_remove(which.index(open.len()));
                    flushes.ended(peer, number);
                    for flush in &mut waiting {
                        flush.2.remove(&number);
                    }
                }
                Step::End(_) => {}
                Step::Flush(peer) => {
                    let before = of(&open, peer);
                    flushes.begin(peer, before.len(), token);
                    waiting.push((peer, token, before));
                }
                Step::Lose(peer) => {
                    open.retain(|one| one.0 != peer);
                    let lost: Vec<_> = std::iter::from_fn(|| flushes.lose(peer)).collect();
                    let known = waiting.extract_if(.., |flush| flush.0 == peer);
                    prop_assert_eq!(lost, known.map(|flush| flush.1).collect::<Vec<_>>());
                }
            }
            prop_assert_eq!(flushes.has_complete(), waiting.iter().any(|flush| flush.2.is_empty()));
            let complete: Vec<_> = std::iter::from_fn(|| flushes.complete()).collect();
            let known = waiting.extract_if(.., |flush| flush.2.is_empty());
            prop_assert_eq!(complete, known.map(|flush| flush.1).collect::<Vec<_>>());
            prop_assert_eq!(flushes.len(), waiting.len());
        }
    }
}
