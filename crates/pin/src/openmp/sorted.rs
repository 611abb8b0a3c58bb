//! `compact`, `scatter`, `logical` and `physical` of `KMP_AFFINITY`: sorts the hardware threads and makes one
//! place of each.

use alloc::vec::Vec;

use oxmpi_topo::CpuSet;

use crate::openmp::Rules;
use crate::openmp::affinity::{Affinity, Type};
use crate::openmp::map::{Level, Map, Row};

/// The processors of each of `threads` threads, when the `folded` innermost levels of the map form one place.
///
/// # Cost
/// A sort of the processors, and the places of the threads.
pub(crate) fn bind(
    map: &Map,
    affinity: &Affinity,
    folded: usize,
    rules: Rules,
    threads: usize,
) -> Vec<CpuSet> {
    let depth = map.depth();
    let permute = usize::try_from(affinity.permute).unwrap_or(usize::MAX);
    let per_core = map.ratio(Level::Thread);
    let inner = match affinity.kind {
        Type::Scatter if permute >= depth => 0,
        Type::Scatter => depth - 1 - permute,
        Type::Physical => usize::from(per_core > 1 && depth > 1),
        Type::Logical => 0,
        _ => permute.min(depth - 1),
    };
    let scale = match (affinity.kind, rules) {
        (Type::Logical | Type::Physical, Rules::Runtime) => per_core as u64,
        _ => 1,
    };
    let mut rows: Vec<(&Row, bool, usize)> = Vec::with_capacity(map.rows.len());
    let parts = map.parts(folded);
    for ((row, starts), part) in map.rows.iter().zip(map.starts(folded)).zip(&parts.of_row) {
        rows.push((row, starts, *part));
    }
    if !affinity.duplicates {
        rows.retain(|(_, starts, _)| *starts);
    }
    // Compares the innermost levels first.
    rows.sort_by_cached_key(|(row, ..)| {
        let mut key = row.ordinals;
        key[..depth].rotate_right(inner);
        key[..inner].reverse();
        key
    });
    let offset = (affinity.offset.saturating_mul(scale) % rows.len() as u64) as usize;
    let places = rows.iter().cycle().skip(offset).take(threads);
    places.map(|(.., part)| parts.sets[*part].clone()).collect()
}
