//! Layers: caches, NUMA domains, dies and other parts of a machine that coincide with a level of the topology
//! map.
//!
//! All layers that the machine's source reports count. LLVM's runtimes, unless built with hwloc, know fewer.

use alloc::vec::Vec;

use oxmpi_topo::{Kind, Machine, Object, Source};

use crate::openmp::map::{Level, Map};

/// A part of the machine that processors share besides the levels of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    Numa,
    Die,
    LastCache,
    L3,
    Tile,
    Module,
    L2,
    L1,
}

/// The layers in the order in which runtimes print them, with the kind of their objects.
const LAYERS: [(Layer, Option<Kind>); 8] = [
    (Layer::Numa, Some(Kind::Numa)),
    (Layer::Die, Some(Kind::Die)),
    (Layer::LastCache, None),
    (Layer::L3, Some(Kind::L3)),
    (Layer::Tile, None),
    (Layer::Module, None),
    (Layer::L2, Some(Kind::L2)),
    (Layer::L1, Some(Kind::L1)),
];

impl Layer {
    /// The name that runtimes print.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Numa => "NUMA domain",
            Self::Die => "die",
            Self::LastCache => "LL cache",
            Self::L3 => "L3 cache",
            Self::Tile => "tile",
            Self::Module => "module",
            Self::L2 => "L2 cache",
            Self::L1 => "L1 cache",
        }
    }
}

/// Whether the machine's source knows NUMA nodes. CPUID and `/proc/cpuinfo` do not: their one NUMA node means
/// nothing.
pub(crate) fn knows_memory(machine: &Machine) -> bool {
    !matches!(
        machine.source(),
        Source::CpuidGlobal | Source::CpuidLocal | Source::Cpuinfo | Source::Flat
    )
}

/// The layers that coincide with a level of the map, in the order in which runtimes print them. The
/// last-level cache always does: without caches it is the package.
///
/// # Cost
/// A walk up from each processor for each layer.
pub(crate) fn equivalent(machine: &Machine, map: &Map) -> Vec<(Layer, Level)> {
    let of_kind = |kind: Option<Kind>| kind.and_then(|kind| level_of(machine, map, kind));
    let last = of_kind(Some(Kind::L3))
        .or_else(|| of_kind(Some(Kind::L2)))
        .or_else(|| of_kind(Some(Kind::L1)))
        .unwrap_or(Level::Package);
    let level = |layer, kind| match layer {
        Layer::LastCache => Some(last),
        Layer::Numa if !knows_memory(machine) => None,
        _ => of_kind(kind),
    };
    let found = |(layer, kind)| level(layer, kind).map(|level| (layer, level));
    LAYERS.into_iter().filter_map(found).collect()
}

/// The level whose parts are the objects of a kind; of several levels, cores before threads, dies and
/// packages.
fn level_of(machine: &Machine, map: &Map, kind: Kind) -> Option<Level> {
    if machine.objects(kind).len() == 0 {
        return None;
    }
    let mut before = None;
    let mut starts = Vec::with_capacity(map.rows.len());
    for row in &map.rows {
        let object = around(machine, row.cpu, kind)?.logical();
        starts.push(before != Some(object));
        before = Some(object);
    }
    // A die layer does not coincide with the die level.
    let others = [Level::Core, Level::Thread, Level::Die, Level::Package];
    others.into_iter().find(|level| {
        let below = map.below(*level);
        let is_equal = |below| map.starts(below).eq(starts.iter().copied());
        (kind, *level) != (Kind::Die, Level::Die) && below.is_some_and(is_equal)
    })
}

/// The object of a kind that contains a processor. NUMA nodes are not ancestors in the tree.
fn around(machine: &Machine, cpu: usize, kind: Kind) -> Option<Object<'_>> {
    let pu = machine.pu(cpu)?;
    match kind {
        Kind::Numa => pu.nearest_numa(),
        _ => pu.ancestor(kind),
    }
}
