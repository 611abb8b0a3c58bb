//! Aims for the C face: as fast as the Rust face, by the same kernels in C.

use super::{Aims, Target};
use crate::compare::figures::FigureKey;
use crate::compare::programs::OURS_IN_C;

/// Kernels, lengths, and the upper bound of the C face's time over the Rust face's.
const OVER_RUST: [(&str, u64, f64); 6] = [
    ("pingpong", 8, 1.15),
    ("rate", 8, 1.15),
    ("pingpong", 8192, 1.03),
    ("pingpong", 65536, 1.03),
    ("pingpong", 1048576, 1.03),
    ("pingpong", 4194304, 1.03),
];

/// 10: over the Rust face, and a vector over the best peer.
pub(super) fn aims(aims: &mut Aims<'_>) {
    for (kernel, bytes, factor) in OVER_RUST {
        let cell = FigureKey::new(kernel, 2, bytes);
        let rust = aims.figures.ours(&cell);
        let bound = format!("{factor:.2} x the Rust face");
        aim(aims, &cell, rust.map(|rust| rust * factor), bound);
    }
    let cell = FigureKey::new("vector", 2, 8388608);
    let best = aims.figures.best_peer(&cell).map(|(_, best)| best / 0.9);
    aim(aims, &cell, best, "the best peer / 0.9".into());
}

/// The C face's figure is at most `most` nanoseconds.
fn aim(aims: &mut Aims<'_>, cell: &FigureKey, most: Option<f64>, bound: String) {
    let reached = aims.figures.of(OURS_IN_C, cell).zip(most);
    aims.list.push(Target {
        number: 10,
        what: format!("C face, {} {} B", cell.kernel, cell.bytes),
        reached: reached.map(|(ours, most)| (ours / 1e3, most / 1e3)),
        unit: "us",
        bound,
        noisy: false,
        runs: aims.figures.fewest_runs(cell),
        asked: aims.figures.asked(cell),
    });
}
