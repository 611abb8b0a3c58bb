//! Aims for collectives: well below the best peer on average, and never far above it.

use super::Aims;
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
        let (mean, count) = aims.mean_over_peers(&cells);
        let bound = format!(
            "geometric mean over the best peer, {count} of {} cells",
            cells.len()
        );
        let what = format!("collectives, {ranks} ranks");
        aims.ratio(8, what, mean.map(|mean| (mean, MEAN)), bound, &cells);
        for cell in cells {
            let what = format!("{} {} B, {ranks} ranks", cell.kernel, cell.bytes);
            aims.peer(8, &what, &cell, MOST);
        }
    }
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
