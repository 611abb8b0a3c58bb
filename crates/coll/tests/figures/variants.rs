//! The parameters that tests try with an algorithm, and the search for the fastest.

use oxmpi_coll::catalog::{Algorithm, Call, Parameters};
use oxmpi_coll::sim::{Error, Setup, Simulation, Workload};

/// The radixes that are tried.
pub(crate) const RADIXES: [u32; 5] = [2, 3, 4, 5, 8];

/// Every combination of the radixes, these numbers of blocks and these windows that the algorithm takes.
pub(crate) fn variants(
    algorithm: Algorithm,
    blocks: &'static [u32],
    windows: &'static [u32],
) -> impl Iterator<Item = Parameters> {
    let own = algorithm.row().parameters;
    let taken = |own: u32, all: &'static [u32]| if own == 0 { &[0] } else { all };
    let (radixes, blocks) = (taken(own.radix, &RADIXES), taken(own.blocks, blocks));
    let windows = taken(own.window, windows);
    let pairs = move |radix| blocks.iter().map(move |&blocks| (radix, blocks));
    let all = radixes.iter().flat_map(move |&radix| pairs(radix));
    all.flat_map(move |(radix, blocks)| {
        windows.iter().map(move |&window| {
            Parameters::NONE
                .with_radix(radix)
                .with_blocks(blocks)
                .with_window(window)
        })
    })
}

/// The algorithms of the collective that suit the call.
pub(crate) fn suiting(call: &Call) -> impl Iterator<Item = Algorithm> {
    let all = call.collective.algorithms();
    all.filter(move |one| one.suits(call).is_ok())
}

/// The fastest of the candidates, the first one if several are, and its picoseconds.
pub(crate) fn fastest(
    setup: &Setup,
    work: &Workload,
    candidates: impl Iterator<Item = (Algorithm, Parameters)>,
) -> (u64, Algorithm, Parameters) {
    let mut best: Option<(u64, Algorithm, Parameters)> = None;
    for (algorithm, parameters) in candidates {
        let limit = best.map_or(u64::MAX, |best| best.0);
        let simulation = Simulation::new(setup).time_limit(limit);
        match simulation.work(work, algorithm, &parameters) {
            Ok(report) if best.is_none() || report.last() < limit => {
                best = Some((report.last(), algorithm, parameters));
            }
            Ok(_) | Err(Error::Time { .. }) => {}
            Err(why) => panic!("{algorithm}, {} ranks: {why}", work.ranks()),
        }
    }
    best.expect("a candidate")
}
