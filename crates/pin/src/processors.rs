//! The processors that a job may use, in the orders and groups that pinning settings refer to.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind, Machine, Object};

use crate::intel::{Layout, Shape};

/// The levels that define the distance of two processors, from the outermost; the hardware thread is one more
/// digit.
const LEVELS: [Kind; 5] = [Kind::Package, Kind::Numa, Kind::L3, Kind::L2, Kind::Core];

const DIGITS: usize = LEVELS.len() + 1;

/// The position of one processor in the machine.
#[derive(Clone, Debug)]
struct ProcessorPosition {
    cpu: usize,
    /// The logical numbers of the objects that contain it, on each level; `None` where the machine has none.
    inside: [Option<u32>; LEVELS.len()],
    /// The logical number of its first-level cache.
    l1: Option<u32>,
    /// On each level its index among the siblings of its parent, the hardware thread last.
    digits: [usize; DIGITS],
}

/// The processors that a job may use, in several orders.
#[derive(Clone, Debug)]
pub(crate) struct Processors {
    places: Vec<ProcessorPosition>,
    /// In the order of the machine: neighbours side by side.
    pub(crate) compact: Vec<usize>,
    /// In the order of the operating system's numbers.
    pub(crate) platform: Vec<usize>,
    /// Neighbours far from each other: the package changes fastest.
    pub(crate) scatter: Vec<usize>,
    /// The number of processors in the largest core, L2 cache, L3 cache, NUMA node and package.
    pub(crate) sizes: Vec<usize>,
}

impl Processors {
    /// The processors of the machine that are in `allowed`.
    pub(crate) fn new(machine: &Machine, allowed: &CpuSet) -> Self {
        let pus = machine
            .objects(Kind::Pu)
            .filter_map(|pu| Some((pu, pu.cpus().first()?)));
        let has_nodes = machine.objects(Kind::Numa).len() > 0;
        let places = pus
            .filter(|(_, cpu)| allowed.contains(*cpu))
            .map(|(pu, cpu)| ProcessorPosition::new(pu, cpu, has_nodes));
        Self::of(places.collect())
    }

    /// The processors of `allowed` at the positions of the machine's first ones, in the order of their
    /// numbers. Intel MPI's launcher sees a restricted machine like this.
    pub(crate) fn in_places_of_first(machine: &Machine, allowed: &CpuSet) -> Self {
        let everything = Self::new(machine, machine.online());
        let mut places = everything.places;
        places.sort_by_key(|place| place.cpu);
        let taken = places.into_iter().zip(allowed);
        Self::of(
            taken
                .map(|(place, cpu)| ProcessorPosition { cpu, ..place })
                .collect(),
        )
    }

    /// Only the first hardware thread of each core.
    pub(crate) fn first_of_cores(&self) -> Self {
        let first = |place: &&ProcessorPosition| place.digits[DIGITS - 1] == 0;
        Self::of(self.places.iter().filter(first).cloned().collect())
    }

    /// Only the first processor of each package.
    pub(crate) fn first_of_sockets(&self) -> Self {
        let first: Vec<usize> = self
            .groups(Kind::Package)
            .iter()
            .map(|socket| socket[0])
            .collect();
        let kept = |place: &&ProcessorPosition| first.contains(&place.cpu);
        Self::of(self.places.iter().filter(kept).cloned().collect())
    }

    /// These processors without `cpus`.
    pub(crate) fn without(&self, cpus: &CpuSet) -> Self {
        let kept = |place: &&ProcessorPosition| !cpus.contains(place.cpu);
        Self::of(self.places.iter().filter(kept).cloned().collect())
    }

    fn of(mut places: Vec<ProcessorPosition>) -> Self {
        places.sort_by_key(|place| place.cpu);
        number_in_parents(&mut places);
        let platform = places.iter().map(|place| place.cpu).collect();
        places.sort_by_key(|place| place.digits);
        let compact: Vec<usize> = places.iter().map(|place| place.cpu).collect();
        let mut scattered: Vec<&ProcessorPosition> = places.iter().collect();
        scattered.sort_by_key(|place| {
            let mut digits = place.digits;
            digits.reverse();
            digits
        });
        let scatter = scattered.iter().map(|place| place.cpu).collect();
        let mut processors = Self {
            places,
            compact,
            platform,
            scatter,
            sizes: Vec::new(),
        };
        let largest = |level: usize| {
            processors
                .grouped(|place| place.inside[level])
                .iter()
                .map(Vec::len)
                .max()
        };
        processors.sizes = (0..LEVELS.len()).rev().filter_map(largest).collect();
        processors
    }

    /// Groups of processors with equal keys, in compact order, sorted by their first processor.
    fn grouped<K: PartialEq>(&self, key: impl Fn(&ProcessorPosition) -> K) -> Vec<Vec<usize>> {
        let mut groups: Vec<(K, Vec<usize>)> = Vec::new();
        for place in &self.places {
            let key = key(place);
            match groups.iter_mut().rev().find(|(other, _)| *other == key) {
                Some((_, group)) => group.push(place.cpu),
                None => groups.push((key, vec![place.cpu])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// The processors in the order of a layout.
    pub(crate) fn listed(&self, layout: Layout) -> &[usize] {
        match layout {
            Layout::Platform => &self.platform,
            Layout::Compact => &self.compact,
            Layout::Scatter => &self.scatter,
        }
    }

    /// The processors of each package or NUMA node, in compact order.
    pub(crate) fn groups(&self, kind: Kind) -> Vec<Vec<usize>> {
        let level = LEVELS.iter().position(|level| *level == kind).unwrap_or(0);
        self.grouped(|place| place.inside[level])
    }

    /// The processors of each part of a shape, in compact order. If `cut`, caches end at the borders of NUMA
    /// nodes.
    pub(crate) fn parts(&self, shape: Shape, cut: bool) -> Vec<CpuSet> {
        let [package, numa, l3, l2, core] = [0, 1, 2, 3, 4];
        let of_cache = |level: usize| {
            self.grouped(|place| {
                let cache = match level {
                    1 => place.l1,
                    2 => place.inside[l2],
                    _ => place.inside[l3],
                };
                let alone = cache.is_none().then_some(place.cpu);
                (cut.then_some(place.inside[numa]), cache, alone)
            })
        };
        let groups = match shape {
            Shape::Node => vec![self.compact.clone()],
            Shape::Socket => self.grouped(|place| place.inside[package]),
            Shape::Numa => self.grouped(|place| place.inside[numa]),
            Shape::Core => self.grouped(|place| {
                let alone = place.inside[core].is_none().then_some(place.cpu);
                (place.inside[package], place.inside[core], alone)
            }),
            Shape::Cache(level) => of_cache(level as usize),
            Shape::LargestCache => {
                let caches = (1..=3).map(of_cache);
                caches
                    .max_by_key(|groups| groups.iter().map(Vec::len).max())
                    .unwrap_or_default()
            }
        };
        groups
            .into_iter()
            .map(|group| group.into_iter().collect())
            .collect()
    }

    /// Sorts domains by the position in `list` of their leading processor, which `lead` chooses.
    pub(crate) fn sort(&self, domains: &mut [CpuSet], list: &[usize], lead: Lead) {
        let mut places = vec![usize::MAX; self.platform.last().map_or(0, |last| last + 1)];
        for (place, cpu) in list.iter().enumerate() {
            places[*cpu] = place;
        }
        domains.sort_by_cached_key(|domain| match lead {
            Lead::Smallest => domain.first().map(|cpu| places[cpu]),
            Lead::First => domain.iter().map(|cpu| places[cpu]).min(),
        });
    }
}

/// Sets the digits of each processor: its index among its siblings on each level.
fn number_in_parents(places: &mut [ProcessorPosition]) {
    // Objects met before: (number of the parent, logical number) to (own number, digit).
    let mut met: BTreeMap<(usize, Option<u32>), (usize, usize)> = BTreeMap::new();
    // For each object, by number, how many children were met; the first object is the machine.
    let mut children = vec![0];
    for place in places {
        let mut parent = 0;
        for (level, id) in place.inside.iter().enumerate() {
            let (child, digit) = *met.entry((parent, *id)).or_insert_with(|| {
                let digit = children[parent];
                children[parent] += 1;
                children.push(0);
                (children.len() - 1, digit)
            });
            place.digits[level] = digit;
            parent = child;
        }
        place.digits[DIGITS - 1] = children[parent];
        children[parent] += 1;
    }
}

/// The processor of a domain that decides its position.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lead {
    /// The processor with the smallest number.
    Smallest,
    /// The processor that is first in the list.
    First,
}

impl ProcessorPosition {
    fn new(pu: Object<'_>, cpu: usize, has_nodes: bool) -> Self {
        let around = |kind| match kind {
            Kind::Numa => match pu.nearest_numa() {
                Some(numa) => Some(numa.logical()),
                // Each processor without a node is alone: two of them may be of different nodes that were left out.
                None => has_nodes.then_some(u32::MAX - cpu as u32),
            },
            kind => pu.ancestor(kind).map(|object| object.logical()),
        };
        Self {
            cpu,
            inside: LEVELS.map(around),
            l1: around(Kind::L1),
            digits: [0; DIGITS],
        }
    }
}
