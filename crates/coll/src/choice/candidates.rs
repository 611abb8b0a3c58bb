//! What may serve a call: algorithms with parameters.

use super::{Choice, Tuning};
use crate::call::{Algorithm, Call, Parameters};
use crate::catalog::Unsuited;
use crate::exec::IN_FLIGHT;

/// The most candidates of a collective.
pub(super) const MOST: usize = 240;

pub(super) type Candidates = heapless::Vec<Choice, MOST>;

/// In rising order.
const RADIXES: [u32; 5] = [2, 3, 4, 5, 8];

/// The algorithm's own, and one with which hardly a rank waits for another one's signal, or to send
/// what is short.
const WINDOWS: [u32; 2] = [0, 64];

const BLOCKS: [u32; 12] = [1, 2, 3, 4, 6, 8, 16, 32, 64, 128, 256, 512];

/// Of one that deals them out in turn, and rounds up until all ranks have as many: closer where these are few. Others are
/// told from one another less well by what they are expected to cost; to a single other rank nothing is dealt.
const DEALT: [u32; 12] = [2, 3, 4, 6, 8, 16, 24, 32, 64, 128, 256, 512];

/// Of an algorithm that cuts what it need not: whole blocks first.
const PIECES: [u32; 3] = [1, 2, 4];

/// Of one in which the ranks of a node may share what comes from another one, where they are more than the nodes left: one
/// message, one from a few of them, or from each.
const SHARED: [u32; 5] = [1, 2, 4, 8, 64];

/// What stands for all calls that have one table: every rank makes it from its own call, in which
/// rank, root and neighbours may differ, or that need not be the first one on every rank. What is
/// wrong stays, so that it is refused.
pub(super) fn pattern(call: &Call) -> Call {
    let or_wrong = |rank: u32| if rank < call.size { 0 } else { rank };
    let in_place = call.collective.is_in_place_everywhere() && call.in_place;
    Call {
        collective: call.collective,
        remote: call.remote,
        root: or_wrong(call.root),
        commutative: call.commutative,
        exact: call.exact && call.commutative,
        in_place,
        shared_memory: call.shared_memory,
        ..Call::barrier(or_wrong(call.rank), call.size)
    }
}

/// Adds every algorithm that suits the call, with each of its parameters; `staged` adds one of two stages.
///
/// # Errors
///
/// Why the last one does not suit, where none does.
pub(super) fn candidates(
    call: &Call,
    tuning: &Tuning,
    all: &mut Candidates,
    staged: fn(Algorithm, &Call, &Tuning, &mut Candidates),
) -> Result<(), Unsuited> {
    let mut why = Unsuited::None {
        collective: call.collective,
    };
    for algorithm in call.collective.algorithms() {
        match algorithm.suits(call) {
            Ok(()) if algorithm.row().parameters.stages[0].is_some() => {
                staged(algorithm, call, tuning, all);
            }
            Ok(()) => variants(algorithm, call, tuning, all),
            Err(reason) => why = reason,
        }
    }
    if all.is_empty() { Err(why) } else { Ok(()) }
}

/// The radixes for a group, none above the largest: of those that are not below its size one is enough, as all make a
/// single level of it. One that makes two levels is among them, if the messages of a level have room, of large ones the
/// least; and the one above it, with which subtrees end elsewhere on nodes.
pub(super) fn radixes(size: u32, largest: u32) -> heapless::Vec<u32, { RADIXES.len() + 4 }> {
    let below = RADIXES.iter().filter(|&&radix| radix < size).count();
    let mut all: heapless::Vec<u32, _> = RADIXES.iter().copied().take(below + 1).collect();
    let two_levels = (2..=IN_FLIGHT as u32).find(|radix| radix * radix >= size);
    let those = two_levels.into_iter().flat_map(|radix| [radix, radix + 1]);
    all.extend(those.filter(|&radix| radix > RADIXES[RADIXES.len() - 1]));
    all.retain(|&radix| radix <= largest);
    all
}

/// Adds an algorithm with the parameters that it may be given.
fn variants(algorithm: Algorithm, call: &Call, tuning: &Tuning, all: &mut Candidates) {
    let (own, most) = (algorithm.row().parameters, algorithm.row().needs.max_radix);
    let base = tuning.choice(algorithm, call.size).parameters;
    let some = |own: u32, all: &'static [u32]| if own > 0 { all } else { &[0] };
    let is_between_ports = matches!(
        algorithm,
        Algorithm::AllgatherNodeAware
            | Algorithm::AllgathervNodeAware
            | Algorithm::ReduceScatterNodeAware
            | Algorithm::ReduceScatterBlockNodeAware
            | Algorithm::BcastMultirail
            | Algorithm::ReduceMultirail
            | Algorithm::AllreduceMultirail
    );
    // Through ports the radix is that inside a node, and may make a single level of it.
    let ranks = base.per_node.min(call.size);
    let group = if is_between_ports { ranks } else { call.size };
    let mut radixes = radixes(group, most);
    // A tree alone sends its messages one by one, as many as there is room for.
    let is_alone = own.gather_radix == 0 && own.blocks == 0 && own.window == 0;
    let is_tree = call.collective.has_root() && is_alone && group > RADIXES[RADIXES.len() - 1];
    for (is_more, radix) in [(is_between_ports, ranks), (is_tree, IN_FLIGHT as u32)] {
        if is_more && (2..=most).contains(&radix) && !radixes.contains(&radix) {
            let _ = radixes.push(radix);
        }
    }
    let radixes = if own.radix > 0 { &radixes[..] } else { &[0] };
    let windows = some(own.window, &WINDOWS);
    // The tree before or after what goes through ports is that of the row.
    let (radixes, gather_radixes): (&[u32], &[u32]) = match algorithm {
        Algorithm::BcastMultirail => (&[0], radixes),
        _ if own.gather_radix == 0 || is_between_ports => (radixes, &[0]),
        _ => (radixes, radixes),
    };
    let blocks = match (algorithm, own.blocks) {
        (Algorithm::BcastLinearLinear, _) if call.size > 2 => &DEALT[..],
        _ if is_between_ports => &SHARED,
        (_, 1) => &PIECES,
        // In rails a node has several under way.
        (Algorithm::BcastRailChain, _) => &BLOCKS,
        (_, blocks) => some(blocks, &BLOCKS[1..]),
    };
    let numbers = radixes.iter().flat_map(|&radix| {
        let by_radix = Parameters { radix, ..base };
        let gathers = gather_radixes.iter();
        let gathers = gathers.map(move |&gather_radix| Parameters {
            gather_radix,
            ..by_radix
        });
        let windows = move |by| {
            windows
                .iter()
                .map(move |&window| Parameters { window, ..by })
        };
        let blocks = move |by| {
            blocks
                .iter()
                .map(move |&blocks| Parameters { blocks, ..by })
        };
        gathers.flat_map(windows).flat_map(blocks)
    });
    for parameters in numbers {
        // A test sees that there is room for all.
        let _ = all.push(Choice {
            algorithm,
            parameters,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidates, MOST, candidates};
    use crate::call::{Call, Collective, SharedMemory};
    use crate::choice::Tuning;
    use crate::choice::table::staged;

    #[test]
    fn candidates_run_with_the_parameters_that_they_name() {
        for collective in Collective::ALL {
            let call = Call {
                collective,
                ..Call::barrier(0, 1000).exactly()
            };
            let mut all = Candidates::new();
            let _ = candidates(&call, &Tuning::default(), &mut all, staged);
            for candidate in all {
                let row = candidate.algorithm.row();
                let (named, runs) = (candidate.parameters, candidate.parameters.over(row));
                assert!([0, runs.radix].contains(&named.radix), "{candidate:?}");
                assert!([0, runs.blocks].contains(&named.blocks), "{candidate:?}");
                assert!([0, runs.window].contains(&named.window), "{candidate:?}");
            }
        }
    }

    #[test]
    fn there_is_room_for_all_candidates() {
        for (collective, size) in Collective::ALL
            .into_iter()
            .flat_map(|one| [(one, 64), (one, 128)])
        {
            let call = Call {
                collective,
                ..Call::barrier(0, size).exactly()
            };
            for teams in [SharedMemory::None, SharedMemory::OnNodes, SharedMemory::All] {
                let call = call.with_shared_memory(teams);
                let mut all = Candidates::new();
                let _ = candidates(&call, &Tuning::default(), &mut all, staged);
                assert!(all.len() < MOST, "{collective} of {size}");
            }
        }
    }
}
