//! Orders processors for `I_MPI_PIN_PROCESSOR_LIST` by the rules of Intel MPI 2021, one processor for each
//! rank.

use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind};

use super::share::{share, spread};
use crate::intel::{Amount, Cells, Map, Members, Order, Part, Shape};
use crate::processors::Processors;

/// One processor for each rank, in the order of ranks. `cores` are the processors that `allcores` means.
pub(crate) fn domains(
    members: &Members,
    processors: &Processors,
    cores: &Processors,
    order: Order,
    ranks: usize,
) -> Vec<CpuSet> {
    let single_cpus = |cpus: &[usize]| cpus.iter().map(|cpu| CpuSet::one(*cpu)).collect::<Vec<_>>();
    let cells = match members.cells {
        Cells::Units => processors.clone(),
        Cells::Cores => cores.clone(),
        Cells::Sockets => processors.first_of_sockets(),
    };
    let oversubscribed = ranks > cells.compact.len();
    match members.map {
        Some(Map::Scatter) => single_cpus(&cells.scatter),
        Some(_) if oversubscribed => single_cpus(&cells.compact),
        Some(Map::Spread) => {
            spread(&cells, 1, ranks).unwrap_or_else(|| single_cpus(&cells.compact))
        }
        Some(Map::Bunch) => single_cpus(&bunch(&cells, ranks)),
        // A list of cores without options follows the operating system's numbers, unless `I_MPI_PIN_ORDER`
        // says otherwise.
        None if members.is_plain() && members.cells == Cells::Cores => single_cpus(match order {
            _ if oversubscribed => &cells.compact,
            Order::Scatter => &cells.scatter,
            Order::Compact => &cells.compact,
            _ => &cells.platform,
        }),
        None => single_cpus(&rearranged(&cells, members)),
    }
}

/// Divides ranks among the NUMA nodes of each socket, and takes the processors of a socket side by side.
fn bunch(cells: &Processors, ranks: usize) -> Vec<usize> {
    let sockets = cells.groups(Kind::Package);
    let nodes = cells.groups(Kind::Numa);
    let parts = |socket: &Vec<usize>| {
        let here = |node: &&Vec<usize>| node.iter().any(|cpu| socket.contains(cpu));
        nodes.iter().filter(here).count()
    };
    let parts: Vec<usize> = sockets.iter().map(parts).collect();
    let shares = share(ranks, parts.iter().sum());
    let mut shares = shares.iter();
    let chosen = sockets.iter().zip(parts).flat_map(|(socket, parts)| {
        let count = shares.by_ref().take(parts).sum();
        socket.iter().copied().take(count).collect::<Vec<_>>()
    });
    chosen.collect()
}

/// The cells after `preoffset` (rotation), `grain` and `shift` (reordering), and `postoffset` (rotation).
fn rearranged(cells: &Processors, members: &Members) -> Vec<usize> {
    let count = |amount: Option<Amount>| amount.and_then(|amount| Count::new(cells, amount));
    let grain = count(members.grain).map_or(1, Count::plain);
    let shift = count(members.shift).map_or(1, |shift| shift.grains(grain).max(1));
    let offset = |given| count(given).map_or(0, |offset| offset.cells(grain));
    let mut list = cells.compact.clone();
    let length = list.len().max(1);
    list.rotate_left(offset(members.preoffset) % length);
    let grains: Vec<&[usize]> = list.chunks(grain).collect();
    let starts = 0..shift.min(grains.len());
    let shifted = starts.flat_map(|start| grains[start..].iter().step_by(shift).copied());
    let mut list: Vec<usize> = shifted.flatten().copied().collect();
    list.rotate_left(offset(members.postoffset) % length);
    list
}

/// A distance or a number, never 0.
#[derive(Clone, Copy)]
enum Count {
    /// A number of grains.
    Grains(usize),
    /// A number of cells.
    Cells(usize),
}

impl Count {
    /// `None` for a part that is smaller than a cell.
    fn new(cells: &Processors, amount: Amount) -> Option<Self> {
        let largest = |shape| cells.parts(shape, true).iter().map(CpuSet::len).max();
        let part = match amount {
            Amount::Number(number) => return Some(Self::Grains(number as usize)),
            Amount::Part(part) => part,
        };
        let of_part = match part {
            Part::Fine => 1,
            Part::Core => largest(Shape::Core)?,
            Part::Cache(level) => largest(Shape::Cache(level))?,
            Part::Socket => largest(Shape::Socket)?,
            Part::Fraction(fraction) => largest(Shape::Socket)? / fraction as usize,
        };
        (of_part > 0).then_some(Self::Cells(of_part))
    }

    fn plain(self) -> usize {
        match self {
            Self::Grains(number) | Self::Cells(number) => number,
        }
    }

    fn grains(self, grain: usize) -> usize {
        match self {
            Self::Grains(number) => number,
            Self::Cells(cells) => cells / grain,
        }
    }

    fn cells(self, grain: usize) -> usize {
        match self {
            Self::Grains(number) => number.saturating_mul(grain),
            Self::Cells(cells) => cells,
        }
    }
}
