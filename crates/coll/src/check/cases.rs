//! The cases that prove an algorithm: counts, roots and parameters vary with the number of ranks.

use alloc::vec::Vec;

use super::case::{Case, draw};
use crate::call::{Algorithm, Collective, Parameters, Stage};
use crate::placement::Order;

/// The cases of an algorithm on `size` ranks; empty if the algorithm does not support that number.
///
/// Up to 8 ranks: all roots, counts, and combinations of order and in place. Up to 64 ranks: all roots,
/// with the rest drawn for each. Above: a few roots. Parameters are drawn. A node-aware algorithm gets
/// each case in block and in cyclic placement. The last case is the plainest one ([`plain`]).
pub fn cases(algorithm: Algorithm, size: u32) -> Vec<Case> {
    let collective = algorithm.collective();
    if !fits(algorithm, size) {
        return Vec::new();
    }
    let mut cases = Vec::new();
    for root in roots(collective, size) {
        let wide = match size {
            ..=8 => 2 * counts(collective, size).len(),
            ..=64 if !collective.has_root() => 4,
            _ => 1,
        };
        for index in 0..wide as u64 {
            for (commutative, in_place) in mixtures(algorithm, size, root, index) {
                let seed = draw(u64::from(size) << 32 | u64::from(root), index);
                let drawn = parameters(algorithm, size, seed);
                cases.extend(orders(algorithm).iter().map(|&order| Case {
                    collective,
                    size,
                    root,
                    count: pick(&counts(collective, size), seed, index, size <= 8),
                    commutative,
                    in_place,
                    seed: seed >> 40,
                    exact: algorithm.row().needs.exact,
                    parameters: Parameters { order, ..drawn },
                }));
            }
        }
    }
    cases.push(plain(algorithm, size));
    cases
}

/// The plainest case of an algorithm: not in place, no messages cut into segments, equal blocks, a count
/// that `size` divides. All ranks' parts are equivalent if the algorithm treats ranks alike.
pub fn plain(algorithm: Algorithm, size: u32) -> Case {
    let collective = algorithm.collective();
    let per_rank = !matches!(collective, Collective::Allreduce);
    Case {
        exact: algorithm.row().needs.exact,
        parameters: Parameters::NONE
            .with_segment(u64::MAX)
            .with_cutoff(u64::MAX),
        ..Case::new(
            collective,
            size,
            if per_rank { 2 } else { 2 * u64::from(size) },
        )
    }
}

/// Whether the algorithm supports this number of ranks.
fn fits(algorithm: Algorithm, size: u32) -> bool {
    algorithm
        .suits(&plain(algorithm, size).call(0, &[]))
        .is_ok()
}

/// Whether the stated rounds hold for the case: no message is cut into segments, no block is long enough
/// to go straight, nodes are the default or make no difference, blocks are equal, and ranks have equally
/// many neighbours.
pub fn promises_rounds(algorithm: Algorithm, case: &Case) -> bool {
    let free = |taken: u64, value: u64| taken == 0 || value == u64::MAX;
    let takes = algorithm.row().parameters;
    let given = case.parameters;
    let varies = case.collective.has_unequal_blocks() || case.collective.is_neighborhood();
    let on_any_nodes = matches!(
        algorithm,
        Algorithm::AlltoallLinear | Algorithm::AlltoallvLinear
    );
    (given.per_node == 0 || on_any_nodes)
        && free(takes.segment, given.segment)
        && free(takes.cutoff, given.cutoff)
        && !(varies && case.seed > 0)
}

/// The least volume of the rank that sends most, in elements, if the algorithm states that it sends no
/// more. That is the blocks of all other ranks, or twice as much in an allreduce. `None` if it states
/// nothing, or blocks are unequal.
pub fn least_volume(algorithm: Algorithm, case: &Case) -> Option<u64> {
    let (size, others) = (u64::from(case.size), u64::from(case.size) - 1);
    let is_equal = match case.collective {
        Collective::Allgatherv | Collective::Alltoallv | Collective::ReduceScatter => {
            case.seed == 0
        }
        Collective::Allreduce => case.count.is_multiple_of(size),
        _ => true,
    };
    let volume = match algorithm {
        Algorithm::AllgatherRing
        | Algorithm::AllgatherBruck
        | Algorithm::AllgatherCirculant
        | Algorithm::AllgatherLinear
        | Algorithm::AllgathervRing
        | Algorithm::AllgathervBruck
        | Algorithm::AllgathervCirculant
        | Algorithm::AllgathervLinear
        | Algorithm::AlltoallPairwise
        | Algorithm::AlltoallLinear
        | Algorithm::AlltoallvPairwise
        | Algorithm::AlltoallvLinear
        | Algorithm::ReduceScatterCirculant
        | Algorithm::ReduceScatterPairwise
        | Algorithm::ReduceScatterBlockCirculant
        | Algorithm::ReduceScatterBlockPairwise => others * case.count,
        Algorithm::AllreduceCirculant | Algorithm::AllreduceRing => {
            2 * others * (case.count / size)
        }
        _ => return None,
    };
    is_equal.then_some(volume)
}

/// The orders of placement that the algorithm distinguishes.
fn orders(algorithm: Algorithm) -> &'static [Order] {
    match algorithm.row().parameters.per_node {
        0 => &[Order::Block],
        _ => &[Order::Block, Order::Cyclic],
    }
}

fn roots(collective: Collective, size: u32) -> Vec<u32> {
    match size {
        _ if !collective.has_root() => Vec::from([0]),
        ..=64 => (0..size).collect(),
        _ => {
            let drawn = (draw(size.into(), 3) % u64::from(size)) as u32;
            Vec::from([0, size / 2, size - 1, drawn])
        }
    }
}

/// Pairs of whether the operation commutes and whether ranks call in place: all that the algorithm
/// supports on few ranks, else a drawn one.
fn mixtures(algorithm: Algorithm, size: u32, root: u32, index: u64) -> Vec<(bool, bool)> {
    let needs = &algorithm.row().needs;
    let collective = algorithm.collective();
    let commuting = [true, false].into_iter();
    let commuting =
        commuting.filter(|&commutes| commutes || collective.reduces() && !needs.commutative);
    let places = [false, true].into_iter();
    let places =
        places.filter(|&in_place| !in_place || !needs.apart && can_be_in_place(collective));
    let all =
        commuting.flat_map(|commutes| places.clone().map(move |in_place| (commutes, in_place)));
    let all: Vec<_> = all.collect();
    if size <= 8 {
        return all;
    }
    let drawn = draw(u64::from(size), u64::from(root) ^ index << 32) as usize;
    Vec::from([all[drawn % all.len()]])
}

const fn can_be_in_place(collective: Collective) -> bool {
    !collective.is_neighborhood() && !matches!(collective, Collective::Barrier | Collective::Bcast)
}

/// The counts that cases choose from: elements of the vector, or of one block where the collective has
/// blocks.
fn counts(collective: Collective, size: u32) -> Vec<u64> {
    let size = u64::from(size);
    match collective {
        Collective::Barrier => Vec::from([0]),
        Collective::Bcast
        | Collective::Reduce
        | Collective::Allreduce
        | Collective::Scan
        | Collective::Exscan => {
            let near = [size.saturating_sub(1), size, size + 1, 3 * size + 2];
            [&[0, 1, 2][..], &near, &[40, 1 << 40]].concat()
        }
        _ => Vec::from([0, 1, 3, 7, 1 << 30]),
    }
}

/// The count number `index`, or the one that `seed` draws.
fn pick(counts: &[u64], seed: u64, index: u64, in_sequence: bool) -> u64 {
    let at = if in_sequence { index } else { seed };
    counts[(at % counts.len() as u64) as usize]
}

/// Drawn parameters, possibly the defaults, for those that the algorithm takes.
fn parameters(algorithm: Algorithm, size: u32, seed: u64) -> Parameters {
    let takes = algorithm.row().parameters;
    let drawn = |values: &[u64], salt| values[(draw(seed, salt) % values.len() as u64) as usize];
    let radixes = [0, 2, 3, 4, 5, 8, u64::from(size.max(2))];
    let only = |taken: bool, value: u64| if taken { value } else { 0 };
    Parameters {
        radix: only(takes.radix > 0, drawn(&radixes, 1)) as u32,
        gather_radix: only(takes.gather_radix > 0, drawn(&radixes, 9)) as u32,
        blocks: only(takes.blocks > 0, drawn(&[0, 1, 2, 3, 5, 8, 13], 2)) as u32,
        window: only(takes.window > 0, drawn(&[0, 1, 2, 5, 8], 3)) as u32,
        segment: only(takes.segment > 0, drawn(&[0, 1, 2, 3, 7, u64::MAX], 4)),
        cutoff: only(takes.cutoff > 0, drawn(&[0, 1, 2, 5, u64::MAX], 5)),
        per_node: only(takes.per_node > 0, drawn(&[0, 1, 2, 3, 4, 5, 16], 6)) as u32,
        stages: takes
            .stages
            .map(|stage| stage.map(|own| drawn_stage(own, size, seed))),
        ..Parameters::NONE
    }
}

/// A drawn algorithm of the stage's collective, with drawn parameters.
fn drawn_stage(own: Stage, size: u32, seed: u64) -> Stage {
    let collective = own.algorithm.collective();
    let all = collective.algorithms();
    let all: Vec<_> = all.filter(|one| one.is_by_messages()).collect();
    let algorithm = all[(draw(seed, collective as u64 + 7) % all.len() as u64) as usize];
    Stage::with(algorithm, &parameters(algorithm, size, draw(seed, 8)))
}
