//! Turns the list of `OMP_PLACES` into places: sets of processors.

use alloc::vec::Vec;

use oxmpi_topo::CpuSet;

use crate::openmp::Rules;
use crate::openmp::map::{Map, Parts};
use crate::openmp::message::Message;

/// A place, repeated at a distance: `{0,1}:4:2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    /// Whether these places are removed from the list instead.
    pub(crate) is_excluded: bool,
    pub(crate) place: Vec<Range>,
    /// The number of places, and the distance between them in processor numbers.
    pub(crate) count: u64,
    pub(crate) stride: i64,
}

/// A range of processors of a place: `0`, `0:4`, `0:4:2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// Whether these processors are removed from the place instead.
    pub(crate) is_excluded: bool,
    pub(crate) from: i64,
    pub(crate) count: u64,
    pub(crate) stride: i64,
}

/// The places of a list, in which each processor stands for its part of `parts`.
///
/// A missing processor is left out with a message. The standard stops there; runtimes also leave out the rest
/// of its range, and make the next place of an interval from what is left of the place before.
pub(crate) fn places(
    map: &Map,
    parts: &Parts,
    list: &[Interval],
    rules: Rules,
    messages: &mut Vec<Message>,
) -> Vec<CpuSet> {
    let mut places: Vec<CpuSet> = Vec::new();
    for interval in list {
        let mut builder = PlaceBuilder {
            map,
            parts,
            rules,
            messages,
        };
        let made = builder.interval(interval);
        match interval.is_excluded {
            true => places.retain(|place| !made.contains(place)),
            false => places.extend(made.into_iter().filter(|place| !place.is_empty())),
        }
    }
    places
}

/// The inputs for making places.
struct PlaceBuilder<'a> {
    map: &'a Map,
    parts: &'a Parts,
    rules: Rules,
    messages: &'a mut Vec<Message>,
}

impl PlaceBuilder<'_> {
    fn interval(&mut self, interval: &Interval) -> Vec<CpuSet> {
        let mut places: Vec<CpuSet> = Vec::new();
        for step in 0..interval.count as i64 {
            let place = match (self.rules, places.last()) {
                (Rules::Runtime, Some(last)) => self.moved(last, interval.stride),
                _ => self.place(&interval.place, step * interval.stride),
            };
            places.push(place);
        }
        places
    }

    /// The place of `ranges` with all numbers increased by `by`.
    fn place(&mut self, ranges: &[Range], by: i64) -> CpuSet {
        let mut place = CpuSet::new();
        for range in ranges {
            for step in 0..range.count as i64 {
                let number = range.from + by + step * range.stride;
                match self.row_of(number) {
                    Some(row) if range.is_excluded => place.remove(self.map.rows[row].cpu),
                    Some(row) => place = &place | &self.parts.sets[self.parts.of_row[row]],
                    None if self.rules == Rules::Runtime => break,
                    None => {}
                }
            }
        }
        place
    }

    /// The place of the processors of `place` with all numbers increased by `by`.
    fn moved(&mut self, place: &CpuSet, by: i64) -> CpuSet {
        let numbers = place.iter().map(|cpu| cpu as i64 + by);
        let there = numbers.filter(|number| self.row_of(*number).is_some());
        there.map(|number| number as usize).collect()
    }

    /// The index of a processor's row; adds a message if the map does not have the processor.
    fn row_of(&mut self, number: i64) -> Option<usize> {
        let cpu = usize::try_from(number).ok();
        let row = cpu.and_then(|cpu| self.map.row_of(cpu));
        if row.is_none() {
            self.messages.push(Message::NoSuchProcessor(number));
        }
        row
    }
}
