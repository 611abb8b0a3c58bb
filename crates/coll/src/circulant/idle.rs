//! Cost of circulant schedules: in which rounds the latest rank is idle.

use super::Skips;
use super::pipeline::skipped;
use super::schedule::{ROUNDS, receive_schedule};
use crate::rank_ring::RankRing;

/// A rank that may be the latest: its receives of a phase, and a bit for each round in which it was idle.
#[derive(Clone, Copy)]
struct Late {
    rank: u32,
    received: [i8; ROUNDS],
    idle: u64,
}

/// The distances of the rounds in which the latest rank is idle. Ranks forward blocks as soon as they can,
/// until two phases after the first one each rank receives in every round; if the number of ranks is no power
/// of two, not every round waits for the one before.
///
/// # Cost
///
/// At most four schedules for each distance; none where one more rank would make a power of two.
pub(crate) fn idle(size: u32, blocks: u32) -> impl Iterator<Item = u32> {
    let skips = Skips::new(size);
    let rounds = skips.rounds();
    let skipped = skipped(rounds.max(1), blocks);
    let end = (2 * rounds).min((blocks - 1).saturating_add(skipped + rounds));
    let idle = match size & size.wrapping_add(1) {
        // Only the missing rank would get the first block over all distances: in the last of these rounds.
        0 => 1 << (skipped + rounds).saturating_sub(1),
        _ => latest(size, skipped, end),
    };
    let idle = (skipped..end).filter(move |at| idle >> at & 1 == 1);
    idle.map(move |at| skips.skip(at % rounds))
}

/// The rounds in which the latest rank was idle, a bit for each. The latest may be the receiver, or the
/// sender that waits for another rank: the two latest are followed.
fn latest(size: u32, skipped: u32, end: u32) -> u64 {
    let skips = Skips::new(size);
    let rounds = skips.rounds();
    let mut latest = heapless::Vec::<Late, 4>::new();
    let root = Late {
        rank: 0,
        received: [i8::MIN; ROUNDS],
        idle: 0,
    };
    let _ = latest.push(root);
    for at in skipped..end {
        let k = at % rounds;
        let shift = i64::from(at - k) - i64::from(skipped);
        let comes = |late: &Late| i64::from(late.received[k as usize]) + shift >= 0;
        let mut next = heapless::Vec::<Late, 4>::new();
        for late in latest {
            let above = RankRing::new(late.rank, size).above(skips.skip(k));
            let passed = Late {
                rank: above,
                received: receive_schedule(above, size),
                ..late
            };
            let idle = late.idle | u64::from(!comes(&late)) << at;
            let both = [
                Some(passed).filter(|to| above != 0 && comes(to)),
                Some(Late { idle, ..late }),
            ];
            let _ = both
                .into_iter()
                .flatten()
                .try_for_each(|late| next.push(late));
        }
        next.sort_unstable_by_key(|late| late.idle.count_ones());
        next.truncate(2);
        latest = next;
    }
    latest.first().map_or(0, |late| late.idle)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;
    use std::vec::Vec;

    use super::idle;
    use crate::call::{Call, Parameters};
    use crate::circulant::Pipeline;

    /// Messages that the last rank waits for, one after another, where sending takes no time.
    fn waited_for(size: u32, blocks: u32) -> u32 {
        let parameters = Parameters::NONE.with_blocks(blocks);
        let of = |rank| Pipeline::of(&Call::bcast(rank, size, 0, 1000), &parameters);
        let all: Vec<_> = (0..size).map(of).collect();
        let mut waited = vec![0; size as usize];
        for round in 0..all[0].rounds() {
            let before = waited.clone();
            for (rank, one) in all.iter().enumerate() {
                if let Some(hop) = one.received(round) {
                    waited[rank] = 1 + before[rank].max(before[hop.peer as usize]);
                }
            }
        }
        waited.into_iter().max().expect("a rank")
    }

    #[test]
    fn a_round_in_which_the_latest_is_idle_is_not_waited_for() {
        for size in 2..=130_u32 {
            for blocks in [1, 2, 3, 4, 6, 8, 12, 16] {
                let rounds = blocks - 1 + size.next_power_of_two().ilog2();
                let expected = rounds - idle(size, blocks).count() as u32;
                let waited = waited_for(size, blocks);
                assert_eq!(waited, expected, "{size} {blocks}");
            }
        }
    }
}
