//! How long the schedules' rounds wait for one another.

use super::Skips;
use super::pipeline::skipped;
use super::schedule::{ROUNDS, receive_schedule};
use crate::circle::Circle;

/// The distances of the rounds in which the rank that is latest sits idle. Who has a block hands it on
/// whenever it may, until two phases after the first one each rank receives in every round: where the number
/// of ranks is no power of two, not every round waits for the one before.
///
/// # Cost
///
/// At most two schedules for each distance.
pub(crate) fn idle(size: u32, blocks: u32) -> impl Iterator<Item = u32> {
    let skips = Skips::new(size);
    let rounds = skips.rounds();
    let skipped = skipped(rounds.max(1), blocks);
    let end = (2 * rounds).min((blocks - 1).saturating_add(skipped + rounds));
    let (mut latest, mut received) = (0, None);
    (skipped..end).filter_map(move |at| {
        let k = at % rounds;
        let shift = i64::from(at - k) - i64::from(skipped);
        let comes = |list: &[i8; ROUNDS]| i64::from(list[k as usize]) + shift >= 0;
        let distance = skips.skip(k);
        let above = Circle::new(latest, size).above(distance);
        let theirs = Some(receive_schedule(above, size)).filter(|list| above != 0 && comes(list));
        if theirs.is_some() {
            (latest, received) = (above, theirs);
            return None;
        }
        let receives = received.as_ref().is_some_and(comes);
        (!receives).then_some(distance)
    })
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;
    use std::vec::Vec;

    use super::idle;
    use crate::catalog::{Call, Parameters};
    use crate::circulant::Pipeline;

    /// Messages that the last rank waits for, one after another, where sending takes no time.
    fn waited_for(size: u32, blocks: u32) -> u32 {
        let parameters = Parameters {
            blocks,
            ..Parameters::NONE
        };
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
        let mut off = 0;
        for size in 2..=130_u32 {
            for blocks in [1, 2, 4, 8, 16] {
                let rounds = blocks - 1 + size.next_power_of_two().ilog2();
                let expected = rounds - idle(size, blocks).count() as u32;
                let waited = waited_for(size, blocks);
                assert!(
                    waited == expected || waited == expected + 1,
                    "{size} {blocks}"
                );
                off += u32::from(waited != expected);
            }
        }
        assert!(off <= 20, "{off} of 645");
    }
}
