//! `granularity` of `KMP_AFFINITY`: the part of the machine in which a thread may migrate.

use oxmpi_topo::Machine;

use crate::openmp::affinity::{Affinity, Granularity};
use crate::openmp::layers::{self, Layer};
use crate::openmp::map::{Level, Map};
use crate::openmp::message::Message;

/// How many of the innermost levels of the map form one place, and a message if the granularity is unknown.
/// More levels than the map has mean one place for the whole map.
pub(crate) fn folded(
    machine: &Machine,
    map: &Map,
    granularity: Option<Granularity>,
) -> (usize, Option<Message>) {
    let by_cores = map.inside_cores();
    let folded = match granularity {
        Some(Granularity::Thread) => 0,
        None | Some(Granularity::Core) => by_cores,
        Some(Granularity::Package) => map.depth() - 1,
        Some(Granularity::Levels(levels)) => usize::try_from(levels).unwrap_or(usize::MAX),
        Some(Granularity::Layer(layer)) => match of_layer(machine, map, layer) {
            Some(folded) => folded,
            None => return (by_cores, Some(Message::NoSuchLevel(layer.name()))),
        },
    };
    (folded, None)
}

fn of_layer(machine: &Machine, map: &Map, layer: Layer) -> Option<usize> {
    let die = (layer == Layer::Die).then(|| map.below(Level::Die));
    die.flatten().or_else(|| {
        let layers = layers::equivalent(machine, map);
        let (_, level) = layers.into_iter().find(|(other, _)| *other == layer)?;
        map.below(level)
    })
}

/// Whether `balanced` gives each thread one processor, not a core.
pub(crate) fn is_fine(map: &Map, affinity: &Affinity) -> bool {
    match affinity.granularity {
        Some(Granularity::Thread) => true,
        Some(Granularity::Package) => map.ratio(Level::Core) <= 1,
        _ => map.ratio(Level::Thread) <= 1,
    }
}
