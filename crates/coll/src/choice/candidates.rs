//! The candidates for a call: algorithms with parameters.

use super::{Choice, Choosable, Tuning};
use crate::call::{Algorithm, Call, Parameters};
use crate::catalog::Unsuited;
use crate::exec::IN_FLIGHT;

/// The most candidates of a collective.
pub(super) const MAX_CANDIDATES: usize = 240;

pub(super) type Candidates = heapless::Vec<Choice, MAX_CANDIDATES>;

/// The radixes that are tried, ascending.
const RADIXES: [u32; 5] = [2, 3, 4, 5, 8];

/// The windows that are tried: the algorithm's default, and one so large that ranks hardly wait for a
/// signal or to send short messages.
const WINDOWS: [u32; 2] = [0, 64];

const BLOCKS: [u32; 12] = [1, 2, 3, 4, 6, 8, 16, 32, 64, 128, 256, 512];

/// The numbers of blocks for an algorithm that deals blocks to ranks and rounds up to equal shares:
/// denser where they are few. Others are predicted less exactly; with a single other rank nothing is
/// dealt.
const DEALT_BLOCKS: [u32; 12] = [2, 3, 4, 6, 8, 16, 24, 32, 64, 128, 256, 512];

/// The numbers of pieces for an algorithm that may leave blocks whole.
const RING_PIECES: [u32; 3] = [1, 2, 4];

/// The numbers of ranks of a node that share a message from another node, for when they are more than the
/// remaining nodes: one rank, a few, or all.
const SHARING_RANKS: [u32; 5] = [1, 2, 4, 8, 64];

/// The call that represents all calls with the same table: rank, root, neighbours and lengths, which may
/// differ between ranks or calls, are cleared. An invalid rank or root stays, so that it is refused.
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

/// Adds every algorithm that supports the call, with each of its parameters; `staged` adds those of two
/// stages.
///
/// # Errors
///
/// If no algorithm supports the call, the reason of the last one.
pub(super) fn candidates(
    call: &Call,
    tuning: &Tuning,
    all: &mut Candidates,
    staged: fn(Algorithm, &Call, &Tuning, &mut Candidates),
) -> Result<(), Unsuited> {
    let mut last_reason = Unsuited::None {
        collective: call.collective,
    };
    let leaves_out = |algorithm: Algorithm| match tuning.choosable {
        Choosable::All => false,
        Choosable::WithoutNodes => algorithm.row().on_nodes,
    };
    for algorithm in call.collective.algorithms().filter(|&one| !leaves_out(one)) {
        match algorithm.suits(call) {
            Ok(()) if algorithm.row().parameters.stages[0].is_some() => {
                staged(algorithm, call, tuning, all);
            }
            Ok(()) => variants(algorithm, call, tuning, all),
            Err(reason) => last_reason = reason,
        }
    }
    if all.is_empty() {
        Err(last_reason)
    } else {
        Ok(())
    }
}

/// The radixes for a group, none above `largest`. Of those not below the group's size one is
/// enough, as all give a single level. The smallest radix with two levels is included if the messages of
/// a level can all be under way, and its successor, which places subtrees differently on nodes.
pub(super) fn radixes(size: u32, largest: u32) -> heapless::Vec<u32, { RADIXES.len() + 4 }> {
    let below = RADIXES.iter().filter(|&&radix| radix < size).count();
    let mut all: heapless::Vec<u32, _> = RADIXES.iter().copied().take(below + 1).collect();
    let two_levels = (2..=IN_FLIGHT as u32).find(|radix| radix * radix >= size);
    let two_level_radixes = two_levels.into_iter().flat_map(|radix| [radix, radix + 1]);
    all.extend(two_level_radixes.filter(|&radix| radix > RADIXES[RADIXES.len() - 1]));
    all.retain(|&radix| radix <= largest);
    all
}

/// Adds an algorithm with the parameters that it may be given.
fn variants(algorithm: Algorithm, call: &Call, tuning: &Tuning, all: &mut Candidates) {
    let (own, most) = (algorithm.row().parameters, algorithm.row().needs.max_radix);
    let base = tuning.choice(algorithm, call.size).parameters;
    let some = |own: u32, all: &'static [u32]| if own > 0 { all } else { &[0] };
    let is_multirail = matches!(
        algorithm,
        Algorithm::AllgatherNodeAware
            | Algorithm::AllgathervNodeAware
            | Algorithm::ReduceScatterNodeAware
            | Algorithm::ReduceScatterBlockNodeAware
            | Algorithm::BcastMultirail
            | Algorithm::ReduceMultirail
            | Algorithm::AllreduceMultirail
    );
    // In multirail algorithms the radix is that inside a node; the ranks of a node give a single level.
    let ranks = base.per_node.min(call.size);
    let group = if is_multirail { ranks } else { call.size };
    let mut radixes = radixes(group, most);
    // A plain tree sends its messages one by one, so as many as can be under way are a useful radix.
    let is_alone = own.gather_radix == 0 && own.blocks == 0 && own.window == 0;
    let is_tree = call.collective.has_root() && is_alone && group > RADIXES[RADIXES.len() - 1];
    for (is_more, radix) in [(is_multirail, ranks), (is_tree, IN_FLIGHT as u32)] {
        if is_more && (2..=most).contains(&radix) && !radixes.contains(&radix) {
            let _ = radixes.push(radix);
        }
    }
    let radixes = if own.radix > 0 { &radixes[..] } else { &[0] };
    let windows = some(own.window, &WINDOWS);
    // The tree that precedes or follows a multirail phase keeps the radix of the catalog.
    let (radixes, gather_radixes): (&[u32], &[u32]) = match algorithm {
        Algorithm::BcastMultirail => (&[0], radixes),
        _ if own.gather_radix == 0 || is_multirail => (radixes, &[0]),
        _ => (radixes, radixes),
    };
    let blocks = match (algorithm, own.blocks) {
        (Algorithm::BcastLinearLinear, _) if call.size > 2 => &DEALT_BLOCKS[..],
        _ if is_multirail => &SHARING_RANKS,
        (_, 1) => &RING_PIECES,
        // A rail chain has several messages of a node under way.
        (Algorithm::BcastRailChain, _) => &BLOCKS,
        (_, blocks) => some(blocks, &BLOCKS[1..]),
    };
    let numbers = radixes.iter().flat_map(|&radix| {
        let by_radix = Parameters { radix, ..base };
        let gathers = gather_radixes.iter();
        let gathers = gathers.map(move |&gather_radix| by_radix.with_gather_radix(gather_radix));
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
        // A test checks the capacity.
        let _ = all.push(Choice {
            algorithm,
            parameters,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidates, MAX_CANDIDATES, candidates};
    use crate::call::{Call, Collective, SharedMemory};
    use crate::choice::Tuning;
    use crate::choice::table::staged;
    use crate::placement::{Order, Placement};

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
    fn candidates_fit_into_their_capacity() {
        for (collective, size) in Collective::ALL
            .into_iter()
            .flat_map(|one| [(one, 64), (one, 128)])
        {
            let call = Call {
                collective,
                ..Call::barrier(0, size).exactly()
            };
            // Stages have as many choices as their tables have steps, in cyclic placement those of trees.
            for order in [Order::Block, Order::Cyclic] {
                for teams in [SharedMemory::None, SharedMemory::OnNodes, SharedMemory::All] {
                    let call = call.with_shared_memory(teams);
                    let tuning = Tuning::default().placed(Placement::new(order, size, 8));
                    let mut all = Candidates::new();
                    let _ = candidates(&call, &tuning, &mut all, staged);
                    assert!(all.len() < MAX_CANDIDATES, "{collective} of {size}");
                }
            }
        }
    }
}
