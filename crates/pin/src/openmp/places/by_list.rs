//! Places by list: processors by the operating system's numbers, in intervals.

use alloc::vec::Vec;

use oxmpi_topo::CpuSet;

use crate::openmp::Rules;
use crate::openmp::map::{Map, Parts};
use crate::openmp::message::Message;

/// A place, and the same again some numbers further on: `{0,1}:4:2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    /// Whether these places are taken out of the list instead.
    pub(crate) is_excluded: bool,
    pub(crate) place: Vec<Range>,
    /// How many places, and how far apart.
    pub(crate) count: u64,
    pub(crate) stride: i64,
}

/// Processors of a place: `0`, `0:4`, `0:4:2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// Whether these are taken out of the place instead.
    pub(crate) is_excluded: bool,
    pub(crate) from: i64,
    pub(crate) count: u64,
    pub(crate) stride: i64,
}

/// The places of a list, when a processor stands for its part of `parts`.
///
/// A processor that is not there is left out and told of. By the standard that is all; runtimes leave out what is behind
/// it in its range too, and move on what is left of a place to make the next one.
pub(crate) fn places(
    map: &Map,
    parts: &Parts,
    list: &[Interval],
    rules: Rules,
    messages: &mut Vec<Message>,
) -> Vec<CpuSet> {
    let mut places: Vec<CpuSet> = Vec::new();
    for interval in list {
        let mut maker = Maker {
            map,
            parts,
            rules,
            messages,
        };
        let made = maker.interval(interval);
        match interval.is_excluded {
            true => places.retain(|place| !made.contains(place)),
            false => places.extend(made.into_iter().filter(|place| !place.is_empty())),
        }
    }
    places
}

/// What making places goes by.
struct Maker<'a> {
    map: &'a Map,
    parts: &'a Parts,
    rules: Rules,
    messages: &'a mut Vec<Message>,
}

impl Maker<'_> {
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

    /// The place whose numbers are moved on by `by`.
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

    /// The processors that follow those of a place.
    fn moved(&mut self, place: &CpuSet, by: i64) -> CpuSet {
        let numbers = place.iter().map(|cpu| cpu as i64 + by);
        let there = numbers.filter(|number| self.row_of(*number).is_some());
        there.map(|number| number as usize).collect()
    }

    /// The row of a processor; tells if it is not there.
    fn row_of(&mut self, number: i64) -> Option<usize> {
        let cpu = usize::try_from(number).ok();
        let row = cpu.and_then(|cpu| self.map.row_of(cpu));
        if row.is_none() {
            self.messages.push(Message::NoSuchProcessor(number));
        }
        row
    }
}
