//! Cuts lists of processors into domains.

use alloc::vec;
use alloc::vec::Vec;

use oxmpi_topo::CpuSet;

use crate::processors::Processors;

/// Domains of `size` consecutive processors; an incomplete last domain is kept only if `kept`.
pub(crate) fn chunks(list: &[usize], size: usize, kept: bool) -> Vec<CpuSet> {
    let chunks = list
        .chunks(size)
        .filter(|chunk| kept || chunk.len() == size);
    chunks
        .map(|chunk| chunk.iter().copied().collect())
        .collect()
}

/// Domains that begin where parts of the machine begin, as far as sizes allow; processors between them stay
/// unused.
pub(crate) fn aligned(list: &[usize], size: usize, processors: &Processors) -> Vec<CpuSet> {
    let all = processors.compact.len();
    if size >= all {
        return vec![list.iter().copied().collect()];
    }
    let mut sizes = processors.sizes.to_vec();
    sizes.push(1);
    let unit = sizes
        .iter()
        .copied()
        .filter(|part| *part <= size)
        .max()
        .unwrap_or(1);
    let mut stride = size.next_multiple_of(unit);
    sizes.push(all);
    let period = sizes
        .iter()
        .copied()
        .filter(|part| *part >= stride)
        .min()
        .unwrap_or(all);
    // A restricted machine may have fewer processors left than one stride.
    stride = stride.min(period);
    if period / stride <= 1 && 2 * size <= period {
        stride = size;
    }
    let blocks = list.chunks(period).flat_map(|run| {
        let starts = (0..run.len() / stride).map(|block| block * stride);
        starts.map(|start| run[start..start + size].iter().copied().collect())
    });
    blocks.collect()
}
