//! The algorithms of a collective with the parameters that are tried.

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters, Stage};
use oxmpi_coll::choice::Choice;
use oxmpi_coll::choice::cyclic::NODES;

const RADIXES: [u32; 7] = [2, 3, 4, 5, 8, 16, NODES];
const SECOND_RADIXES: [u32; 3] = [2, 4, 8];
const BLOCKS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// The numbers of ranks that share a message, for algorithms that take a radix, too.
const SHARING: [u32; 3] = [1, 4, 64];

/// The default window, and one in which ranks hardly wait.
const WINDOWS: [u32; 2] = [0, 64];

/// All candidates. The first one suits every call.
pub(crate) fn candidates(collective: Collective) -> Vec<Choice> {
    let mut all: Vec<Choice> = collective.algorithms().flat_map(variants).collect();
    let suits_all = |choice: &Choice| {
        let row = choice.algorithm.row();
        let needs = row.needs;
        !(needs.commutative || needs.power_of_two || needs.apart)
            && choice.algorithm.is_by_messages()
            && !row.on_nodes
    };
    let first = all
        .iter()
        .position(suits_all)
        .expect("one suits every call");
    all[..=first].rotate_right(1);
    all
}

/// An algorithm with the parameters that it takes.
fn variants(algorithm: Algorithm) -> Vec<Choice> {
    let (own, needs) = (algorithm.row().parameters, algorithm.row().needs);
    let choice = |parameters| Choice {
        algorithm,
        parameters,
    };
    if own.stages[0].is_some() {
        return staged().into_iter().map(choice).collect();
    }
    let some = |own: u32, all: &[u32]| if own > 0 { all.to_vec() } else { vec![0] };
    let mut all = vec![Parameters::NONE];
    let mut vary = |values: Vec<u32>, with: fn(Parameters, u32) -> Parameters| {
        all = all
            .iter()
            .flat_map(|&one| values.iter().map(move |&value| with(one, value)))
            .collect();
    };
    let taken = RADIXES
        .into_iter()
        .filter(|&radix| radix == NODES || radix <= needs.max_radix);
    vary(
        some(own.radix, &taken.collect::<Vec<_>>()),
        Parameters::with_radix,
    );
    vary(
        some(own.gather_radix, &SECOND_RADIXES),
        Parameters::with_gather_radix,
    );
    let blocks: &[u32] = if own.radix > 0 { &SHARING } else { &BLOCKS };
    vary(some(own.blocks, blocks), Parameters::with_blocks);
    vary(some(own.window, &WINDOWS), Parameters::with_window);
    all.into_iter().map(choice).collect()
}

/// Pairs of stages: a reduction and a scatter.
fn staged() -> Vec<Parameters> {
    let stage = |algorithm, radix| Stage {
        radix,
        ..Stage::of(algorithm)
    };
    let ups = [
        stage(Algorithm::ReduceKnomial, 2),
        stage(Algorithm::ReduceNodeAware, 2),
        stage(Algorithm::ReduceNodeAware, 4),
        stage(Algorithm::ReducePostal, 4),
        stage(Algorithm::ReduceCirculant, 0),
        stage(Algorithm::ReduceRabenseifner, 0),
    ];
    let downs = [
        stage(Algorithm::ScatterKnomial, 2),
        stage(Algorithm::ScatterKnomial, 8),
        stage(Algorithm::ScatterNodeAware, 4),
        stage(Algorithm::ScatterLinear, 0),
    ];
    let pairs = ups
        .into_iter()
        .flat_map(|up| downs.map(|down| [Some(up), Some(down)]));
    pairs
        .map(|stages| Parameters {
            stages,
            ..Parameters::NONE
        })
        .collect()
}
