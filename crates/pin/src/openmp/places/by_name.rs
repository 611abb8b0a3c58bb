//! Places by name: each such part of the machine is one, in the order of the map.

use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind, Machine};

use crate::openmp::layers::{Layer, knows_memory};
use crate::openmp::map::Map;
use crate::openmp::message::Message;

/// A part of the machine that is a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Threads,
    Cores,
    Sockets,
    LastCaches,
    NumaDomains,
}

/// The places of a name. Cores stand in for memory that the machine's source does not tell of, sockets for caches.
pub(crate) fn places(
    machine: &Machine,
    map: &Map,
    part: Part,
    messages: &mut Vec<Message>,
) -> Vec<CpuSet> {
    let sockets = map.depth() - 1;
    let folded = match part {
        Part::Threads => 0,
        Part::Cores => map.inside_cores(),
        Part::Sockets => sockets,
        Part::LastCaches => {
            let caches = [Kind::L5, Kind::L4, Kind::L3, Kind::L2, Kind::L1];
            let is_there = |kind: &Kind| machine.objects(*kind).len() > 0;
            match caches.into_iter().find(is_there) {
                Some(kind) => return objects(machine, map, kind),
                None => sockets,
            }
        }
        Part::NumaDomains if knows_memory(machine) => return objects(machine, map, Kind::Numa),
        Part::NumaDomains => {
            messages.push(Message::NoSuchLevel(Layer::Numa.name()));
            map.inside_cores()
        }
    };
    map.parts(folded).sets
}

/// What the map has of each object of a kind; a processor in none of them is a place of its own.
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
