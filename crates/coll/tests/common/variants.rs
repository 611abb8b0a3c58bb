//! The parameters that tests try with an algorithm.

use oxmpi_coll::catalog::{Algorithm, Parameters};

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
