//! Turns a name of `OMP_PLACES` into places: one for each part of the machine, in the order of the map.

use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind, Machine};

use crate::openmp::layers::{Layer, knows_memory};
use crate::openmp::map::Map;
use crate::openmp::message::Message;

/// The part of the machine that a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Threads,
    Cores,
    Sockets,
    LastCaches,
    NumaDomains,
}

/// How the places of a name are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    /// Each place is this number of innermost levels of the map.
    Levels(usize),
    /// Each place is an object of this kind.
    Objects(Kind),
}

/// How to find the places of `part`. Without NUMA nodes in the machine's source, cores replace them (with a
/// message); without caches, sockets replace them.
pub(crate) fn grain(
    machine: &Machine,
    map: &Map,
    part: Part,
    messages: &mut Vec<Message>,
) -> Grain {
    let sockets = Grain::Levels(map.depth() - 1);
    match part {
        Part::Threads => Grain::Levels(0),
        Part::Cores => Grain::Levels(map.inside_cores()),
        Part::Sockets => sockets,
        Part::LastCaches => {
            let caches = [Kind::L5, Kind::L4, Kind::L3, Kind::L2, Kind::L1];
            let is_there = |kind: &Kind| machine.objects(*kind).len() > 0;
            let last = caches.into_iter().find(is_there);
            last.map_or(sockets, Grain::Objects)
        }
        Part::NumaDomains if knows_memory(machine) => Grain::Objects(Kind::Numa),
        Part::NumaDomains => {
            messages.push(Message::NoSuchLevel(Layer::Numa.name()));
            Grain::Levels(map.inside_cores())
        }
    }
}

/// The places that `grain` makes.
pub(crate) fn places(machine: &Machine, map: &Map, grain: Grain) -> Vec<CpuSet> {
    match grain {
        Grain::Levels(folded) => map.parts(folded).sets,
        Grain::Objects(kind) => objects(machine, map, kind),
    }
}

/// The processors of the map in each object of a kind; a processor outside all of them is a place of its own.
fn objects(machine: &Machine, map: &Map, kind: Kind) -> Vec<CpuSet> {
    let mut left = map.cpus();
    let mut places = Vec::new();
    for object in machine.objects(kind) {
        let place = object.cpus() & &left;
        left = &left - &place;
        places.push(place);
    }
    places.extend(left.iter().map(CpuSet::one));
    let first_row = |place: &CpuSet| place.iter().filter_map(|cpu| map.row_of(cpu)).min();
    places.retain(|place| !place.is_empty());
    places.sort_by_cached_key(first_row);
    places
}
