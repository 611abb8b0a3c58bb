//! Assigns a place to each thread of a team by the method that the settings chose.

use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Machine};

use crate::openmp::affinity::{Affinity, Type};
use crate::openmp::granularity::{folded, is_fine};
use crate::openmp::map::{Map, Parts};
use crate::openmp::message::Message;
use crate::openmp::method::Method;
use crate::openmp::places::{Places, by_list, by_name};
use crate::openmp::policy::Policy;
use crate::openmp::proclist::Item;
use crate::openmp::variables::{KMP_AFFINITY, OMP_PLACES};
use crate::openmp::{Dialect, Levels, Rules, balanced, sorted};

/// The inputs of placing threads, and its messages with the setting that each is about.
pub(crate) struct Placing<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) map: &'a Map,
    pub(crate) dialect: Dialect,
    /// The number of threads asked; 0 for the default team.
    pub(crate) asked: usize,
    /// How many of the innermost levels of the map form one place.
    pub(crate) folded: usize,
    /// The processors of the places that are used, if `OMP_PLACES` limits their number.
    pub(crate) taken: Option<CpuSet>,
    pub(crate) messages: Vec<(&'static str, Message)>,
}

impl Placing<'_> {
    /// The number of threads of the team, whose places have `processors` processors.
    pub(crate) fn threads(&self, processors: usize) -> usize {
        match (self.asked, self.dialect.rules) {
            (0, Rules::Documented) => self.machine.online().len(),
            (0, Rules::Runtime) => processors,
            (asked, _) => asked,
        }
    }

    /// The place of each thread by a method; `None` if threads are not bound.
    pub(crate) fn by(&mut self, method: &Method, affinity: &Affinity) -> Option<Vec<CpuSet>> {
        let (_, unknown) = folded(self.machine, self.map, affinity.granularity);
        let unknown = unknown.map(|message| (KMP_AFFINITY, message));
        self.messages.extend(unknown);
        match method {
            Method::Nothing | Method::Untouched => None,
            Method::Affinity(name, affinity) => self.by_affinity(name, affinity),
            Method::Places(places, policy) => self.by_places(places, *policy, affinity),
        }
    }

    /// The place of each thread by `KMP_AFFINITY` or `GOMP_CPU_AFFINITY`; `None` if that fails.
    fn by_affinity(&mut self, name: &'static str, affinity: &Affinity) -> Option<Vec<CpuSet>> {
        let (map, depth) = (self.map, self.map.depth());
        let old = self.dialect.levels == Levels::Documented;
        let threads = self.threads(map.rows.len());
        if affinity.kind == Type::Balanced && old && depth <= 1 {
            self.messages.push((name, Message::NoBalanced));
            return None;
        }
        let (folded, _) = folded(self.machine, map, affinity.granularity);
        self.folded = folded;
        self.tell_too_coarse(name);
        match affinity.kind {
            Type::Explicit => {
                let places = self.listed(name, &affinity.proclist, &map.parts(folded));
                self.or_nothing(name, places, |places| {
                    places.iter().cycle().take(threads).cloned().collect()
                })
            }
            Type::Balanced => {
                let bound = balanced::bind(map, threads, is_fine(map, affinity));
                if bound.is_none() {
                    self.messages.push((name, Message::NoBalanced));
                }
                bound
            }
            _ => {
                let rules = self.dialect.rules;
                Some(sorted::bind(map, affinity, folded, rules, threads))
            }
        }
    }

    /// The place of each thread by `OMP_PLACES` and `OMP_PROC_BIND`; `None` if that fails.
    fn by_places(
        &mut self,
        places: &Places,
        policy: Policy,
        affinity: &Affinity,
    ) -> Option<Vec<CpuSet>> {
        let map = self.map;
        let asked = affinity.granularity;
        let folded = asked.map(|asked| folded(self.machine, map, Some(asked)).0);
        let mut messages = Vec::new();
        self.folded = folded.unwrap_or(0);
        let places: Vec<CpuSet> = match places {
            Places::List(list) => {
                let parts = map.parts(self.folded);
                by_list::places(map, &parts, list, self.dialect.rules, &mut messages)
            }
            Places::Parts(part, count) => {
                let grain = match folded {
                    Some(folded) => by_name::Grain::Levels(folded),
                    None => by_name::grain(self.machine, map, *part, &mut messages),
                };
                if let by_name::Grain::Levels(folded) = grain {
                    self.folded = folded;
                }
                let mut places = by_name::places(self.machine, map, grain);
                if *count < places.len() {
                    places.truncate(*count);
                    self.taken = places.iter().cloned().reduce(|all, place| &all | &place);
                }
                places
            }
        };
        let messages = messages.into_iter();
        self.messages
            .extend(messages.map(|message| (OMP_PLACES, message)));
        self.tell_too_coarse(OMP_PLACES);
        let processors = self.taken.as_ref().map_or(map.rows.len(), CpuSet::len);
        let threads = self.threads(processors);
        let levels = self.dialect.levels;
        self.or_nothing(OMP_PLACES, places, |places| {
            let dealt = policy.deal(threads, places.len(), levels).into_iter();
            dealt.map(|place| places[place].clone()).collect()
        })
    }

    fn tell_too_coarse(&mut self, name: &'static str) {
        if self.folded >= self.map.depth() {
            self.messages.push((name, Message::TooCoarse));
        }
    }

    /// Assigns threads to `places` with `share`; `None` and a message if there are none.
    fn or_nothing(
        &mut self,
        name: &'static str,
        places: Vec<CpuSet>,
        share: impl Fn(&[CpuSet]) -> Vec<CpuSet>,
    ) -> Option<Vec<CpuSet>> {
        if places.is_empty() {
            self.messages.push((name, Message::NoProcessorLeft));
            return None;
        }
        Some(share(&places))
    }

    /// One place for each item of a list: the union of its processors' parts.
    fn listed(&mut self, name: &'static str, list: &[Item], parts: &Parts) -> Vec<CpuSet> {
        let mut places = Vec::new();
        for item in list {
            let mut place = CpuSet::new();
            for number in item {
                let cpu = usize::try_from(*number).unwrap_or(usize::MAX);
                match self.map.row_of(cpu) {
                    Some(row) => place = &place | &parts.sets[parts.of_row[row]],
                    None => self
                        .messages
                        .push((name, Message::NoSuchProcessor(*number as i64))),
                }
            }
            if !place.is_empty() {
                places.push(place);
            }
        }
        places
    }
}
