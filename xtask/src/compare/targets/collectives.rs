//! What collectives are to reach: well below the best peer on the whole, and nowhere far above it.

use super::{Aims, Target};
use crate::compare::figures::Cell;
use crate::compare::works::COLLECTIVES;

/// The most that the geometric mean over the best peers may be.
const MEAN: f64 = 0.75;

/// The most that one collective of one length may be, over the best peer.
const MOST: f64 = 1.1;

/// Lengths that count.
const LENGTHS: [u64; 4] = [8, 1024, 65536, 1048576];

/// Numbers of ranks.
const RANKS: [u64; 3] = [2, 4, 8];

/// 8: each number of ranks.
pub(super) fn aims(aims: &mut Aims<'_>) {
    for ranks in RANKS {
        let cells: Vec<Cell> = cells(ranks).collect();
        mean(aims, ranks, &cells);
        for cell in cells {
            let what = format!("{} {} B, {ranks} ranks", cell.kernel, cell.bytes);
            aims.peer(8, &what, &cell, MOST);
        }
    }
}

/// The geometric mean over those cells that were measured.
fn mean(aims: &mut Aims<'_>, ranks: u64, cells: &[Cell]) {
    let figures = aims.figures;
    let ratio = |cell: &Cell| {
        let (ours, best) = (figures.ours(cell)?, figures.best_peer(cell)?);
        Some(ours / best.1)
    };
    let ratios: Vec<f64> = cells.iter().filter_map(ratio).collect();
    let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    let mean = (!ratios.is_empty()).then(|| (logarithms / ratios.len() as f64).exp());
    let runs = cells.iter().map(|cell| figures.fewest_runs(cell));
    aims.list.push(Target {
        number: 8,
        what: format!("collectives, {ranks} ranks"),
        reached: mean.map(|mean| (mean, MEAN)),
        unit: "x",
        bound: format!(
            "geometric mean over the best peer, {} of {} cells",
            ratios.len(),
            cells.len()
        ),
        noisy: false,
        runs: runs.filter(|&runs| runs > 0).min().unwrap_or(0),
        asked: cells.iter().any(|cell| figures.asked(cell)),
    });
}

/// The cells of so many ranks: a barrier has no length.
fn cells(ranks: u64) -> impl Iterator<Item = Cell> {
    COLLECTIVES.split(',').flat_map(move |kernel| {
        let lengths: &[u64] = match kernel {
            "barrier" => &[0],
            _ => &LENGTHS,
        };
        lengths
            .iter()
            .map(move |&bytes| Cell::new(kernel, ranks, bytes))
    })
}
