//! What making a window takes: the figures of `oxmpi explain window` beside what is really kept.

use std::time::Instant;

use super::super::target::{RankSize, Sizes};
use super::{PATHS, me_and_size, windows};
use crate::WindowFootprint;

const RANKS: u32 = 100_000;

/// Bytes that sizes take beside themselves.
const fn bytes_of(sizes: &Sizes) -> u64 {
    match sizes {
        Sizes::Equal(..) => 0,
        Sizes::Each(sizes) => size_of_val::<[RankSize]>(sizes) as u64,
    }
}

#[test]
fn a_window_of_many_ranks_keeps_what_is_foretold() {
    let foretold = WindowFootprint {
        ranks: RANKS,
        on_node: 64,
    };
    for equal in [true, false] {
        let words = (0..u64::from(RANKS)).map(|rank| (4096 + if equal { 0 } else { rank }, 8));
        let words: Vec<RankSize> = words.collect();
        let start = Instant::now();
        let sizes = Sizes::new(words.iter().copied());
        let took = start.elapsed();
        assert_eq!(bytes_of(&sizes), foretold.bytes_kept(equal));
        println!(
            "{RANKS} ranks of {} sizes: {} B kept, after {took:?}",
            if equal { "equal" } else { "different" },
            bytes_of(&sizes)
        );
    }
    assert_eq!(foretold.bytes_kept(false), 1_600_000);
    assert_eq!(foretold.bytes_meanwhile(), 4_000_000);
}

/// What is kept for the ranks of a node, and for all of them.
#[test]
fn a_window_keeps_what_is_foretold() {
    for paths in PATHS {
        windows(3, paths, 100, |window| {
            let (_, size) = me_and_size(window.comm());
            let ranks = size as u32;
            let on_node = ranks;
            let foretold = WindowFootprint { ranks, on_node };
            assert_eq!(bytes_of(&window.sizes), foretold.bytes_kept(true));
            let near = size_of_val(&*window.near) as u64;
            assert!(near < foretold.bytes_kept_for_node() && window.near.len() == size);
            let [_, places, _] = foretold.calls();
            assert_eq!(
                places.bytes() * u64::from(ranks),
                foretold.bytes_meanwhile()
            );
        });
    }
}
