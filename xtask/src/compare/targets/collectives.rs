//! Aims for collectives: well below the best peer on average, and never far above it.

use super::{Aims, Target};
use crate::compare::figures::FigureKey;
use crate::compare::works::COLLECTIVES;

/// The upper bound of the geometric mean of ours over the best peer.
const MEAN: f64 = 0.75;

/// The upper bound of ours over the best peer for one collective and length.
const MOST: f64 = 1.1;

/// The lengths in the mean.
const LENGTHS: [u64; 4] = [8, 1024, 65536, 1048576];

/// The numbers of ranks.
const RANKS: [u64; 3] = [2, 4, 8];

/// 8: the aims for each number of ranks.
pub(super) fn aims(aims: &mut Aims<'_>) {
    for ranks in RANKS {
        let cells: Vec<FigureKey> = cells(ranks).collect();
        mean(aims, ranks, &cells);
        for cell in cells {
            let what = format!("{} {} B, {ranks} ranks", cell.kernel, cell.bytes);
            aims.peer(8, &what, &cell, MOST);
        }
    }
}

/// The geometric mean over the measured cells.
fn mean(aims: &mut Aims<'_>, ranks: u64, cells: &[FigureKey]) {
    let figures = aims.figures;
    let ratio = |cell: &FigureKey| {
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

/// The cells for one number of ranks; a barrier has no length.
fn cells(ranks: u64) -> impl Iterator<Item = FigureKey> {
    COLLECTIVES.into_iter().flat_map(move |kernel| {
        let lengths: &[u64] = match kernel {
            "barrier" => &[0],
            _ => &LENGTHS,
        };
        lengths
            .iter()
            .map(move |&bytes| FigureKey::new(kernel, ranks, bytes))
    })
}
