//! Forms groups of ranks by the options `-npmin`, `-multi` and `-map`: the guide's section "Command-line
//! Control".

use super::{Benchmark, Map, Plan, SampleTable};
use crate::kernels::{Active, Aggregation, AnyKernel};
use alloc::vec::Vec;
use core::iter::successors;

/// How the ranks of a job form groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    /// The size of the smallest group (`-npmin`), limited to the job's size. `None` is the guide's 2.
    pub fewest: Option<usize>,
    /// A grid that renumbers the ranks.
    pub map: Option<Map>,
}

impl Layout {
    /// The job's ranks in the order in which groups take them; rank 0 is the first.
    fn order(&self, ranks: usize) -> Vec<usize> {
        match self.map {
            Some(map) => map.order(ranks),
            None => (0..ranks).collect(),
        }
    }

    /// Group sizes: `fewest` * 2^x below `ranks`, then `ranks`; only 2 for kernels of two ranks, and none
    /// if there are not two.
    fn sizes(&self, kernel: AnyKernel, ranks: usize) -> impl Iterator<Item = usize> + use<> {
        let fewest = self.fewest.unwrap_or(2).max(1);
        let (first, below, last) = match kernel.info().active {
            Active::Two => (2, 0, (ranks >= 2).then_some(2)),
            Active::All => (fewest, ranks, Some(ranks)),
        };
        successors(Some(first), |size| size.checked_mul(2))
            .take_while(move |&size| size < below)
            .chain(last)
    }
}

/// The tables of a plan on a job of `ranks`, in order. A kernel for two ranks has none on one.
pub fn tables(plan: &Plan, ranks: usize) -> impl Iterator<Item = SampleTable> + '_ {
    let order = plan.layout.order(ranks);
    plan.benchmarks.iter().flat_map(move |benchmark| {
        let sizes = plan.layout.sizes(benchmark.kernel, ranks);
        let tables = sizes.flat_map(|processes| {
            let table = table(plan, benchmark, &order, processes);
            modes(plan, benchmark).map(move |aggregation| SampleTable {
                aggregation,
                ..table.clone()
            })
        });
        tables.collect::<Vec<_>>()
    })
}

/// The benchmarks of a plan that need more than `ranks` ranks and so have no table.
pub fn idle(plan: &Plan, ranks: usize) -> impl Iterator<Item = &Benchmark> {
    plan.benchmarks
        .iter()
        .filter(move |benchmark| plan.layout.sizes(benchmark.kernel, ranks).next().is_none())
}

/// The modes in which a benchmark runs, in their order; a single `None` where it has none.
fn modes(plan: &Plan, benchmark: &Benchmark) -> impl Iterator<Item = Option<Aggregation>> {
    let modes = match benchmark.kernel {
        AnyKernel::Messages(_) | AnyKernel::Nonblocking(_) => &[None],
        AnyKernel::Windows(kernel) => kernel.modes,
    };
    let only = plan.aggregation;
    let runs = move |mode: &Option<Aggregation>| mode.is_none() || only.is_none() || *mode == only;
    modes.iter().copied().filter(runs)
}

/// The table of groups of `processes` ranks: as many groups as possible in multiple mode, else one.
fn table(plan: &Plan, benchmark: &Benchmark, order: &[usize], processes: usize) -> SampleTable {
    let most = match benchmark.multiple {
        Some(_) => usize::MAX,
        None => 1,
    };
    let groups = order.chunks_exact(processes).take(most);
    let mut groups: Vec<Vec<usize>> = groups.map(<[usize]>::to_vec).collect();
    groups.sort_by_key(|group| group[0]);
    SampleTable {
        kernel: benchmark.kernel,
        aggregation: None,
        multiple: benchmark.multiple,
        map: plan.layout.map,
        waiting: order.len() - groups.len() * processes,
        groups,
        is_checked: plan.method.check,
        overlap_base: plan.overlap_base,
    }
}

#[cfg(test)]
mod tests;
