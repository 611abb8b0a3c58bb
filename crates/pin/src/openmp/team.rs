//! From settings to the processors of each thread of a team.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind, Machine};

use crate::openmp::affinity::{Affinity, Granularity, Type, parse};
use crate::openmp::map::{Level, Map, Row};
use crate::openmp::message::Message;
use crate::openmp::places::{Part, Places, Policy};
use crate::openmp::proclist::{self, Item};
use crate::openmp::{Dialect, Levels, Rules, balanced, report, subset};
use crate::placement::{Warning, WarningCode};

/// What is asked of the placement of one team: the variables as a user wrote them, `None` where one is not set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// `KMP_AFFINITY`.
    pub kmp_affinity: Option<&'a str>,
    /// `GOMP_CPU_AFFINITY`: a list of processors, as libgomp takes it.
    pub gomp_cpu_affinity: Option<&'a str>,
    /// `OMP_PLACES`.
    pub omp_places: Option<&'a str>,
    /// `OMP_PROC_BIND`.
    pub omp_proc_bind: Option<&'a str>,
    /// `KMP_HW_SUBSET`.
    pub kmp_hw_subset: Option<&'a str>,
    /// The processors of the process; `None` stands for all.
    pub mask: Option<&'a CpuSet>,
    /// The threads of the team; 0 stands for as many as the runtime starts by itself.
    pub threads: u32,
}

/// Where the threads of one team run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    /// The processors of each thread, in the order of OpenMP's thread numbers; never empty.
    pub threads: Vec<CpuSet>,
    /// What a runtime would warn of.
    pub warnings: Vec<Warning>,
    /// What a runtime would print under `verbose`, a line each but for the set of processors, which the documented form
    /// puts on a line of its own; empty if nothing is asked.
    pub report: Vec<String>,
}

const KMP_AFFINITY: &str = "KMP_AFFINITY";
const GOMP_CPU_AFFINITY: &str = "GOMP_CPU_AFFINITY";
const OMP_PLACES: &str = "OMP_PLACES";
const OMP_PROC_BIND: &str = "OMP_PROC_BIND";
const KMP_HW_SUBSET: &str = "KMP_HW_SUBSET";

/// Places the threads of a team on `machine`. Nothing makes it fail: what is wrong in a setting is warned of and left out,
/// as runtimes do. `KMP_AFFINITY` with a type goes before `GOMP_CPU_AFFINITY`, and that before `OMP_PLACES` and
/// `OMP_PROC_BIND`.
///
/// # Cost
/// About threads times processors; allocates. For set-up only.
pub fn bind(machine: &Machine, request: &Request<'_>, dialect: Dialect) -> Team {
    let mut warnings = Vec::new();
    let (affinity, messages) = parse(request.kmp_affinity.unwrap_or_default(), dialect);
    warnings.extend(messages.iter().map(|message| message.about(KMP_AFFINITY)));
    let all = machine.online();
    let mask = request.mask.map_or_else(|| all.clone(), |mask| mask & all);
    let usable = if affinity.respect && !mask.is_empty() {
        &mask
    } else {
        all
    };
    let map = Map::new(machine, usable, dialect.levels);
    let map = match request.kmp_hw_subset.map(subset::parse) {
        Some(Ok(cuts)) => Map::new(machine, &subset::left(&map, &cuts), dialect.levels),
        Some(Err(error)) => {
            warnings.push(unreadable(KMP_HW_SUBSET, request.kmp_hw_subset, error));
            map
        }
        None => map,
    };
    let standard = match dialect.rules {
        Rules::Documented => all.len(),
        Rules::Runtime => map.rows.len(),
    };
    let threads = match request.threads {
        0 => standard,
        threads => threads as usize,
    };
    let team = Placing {
        machine,
        map: &map,
        dialect,
        threads,
    };
    let method = method(request, &affinity, &mut warnings);
    let mut messages = Vec::new();
    let folded = team.folded(&affinity, &mut messages);
    let bound = match &method {
        Method::Nothing => None,
        Method::Untouched => Some(vec![mask.clone(); threads]),
        Method::Affinity(affinity) => team.by_affinity(affinity, folded, &mut messages),
        Method::Places(places, policy) => team.by_places(places, *policy, &affinity, &mut messages),
    };
    if affinity.tells() {
        let name = if request.gomp_cpu_affinity.is_some() {
            GOMP_CPU_AFFINITY
        } else {
            KMP_AFFINITY
        };
        warnings.extend(messages.iter().map(|message| message.about(name)));
    }
    let threads = bound.clone().unwrap_or_else(|| vec![map.cpus(); threads]);
    let shown = match (&bound, method) {
        (Some(bound), Method::Affinity(_) | Method::Places(..)) => bound.as_slice(),
        _ if dialect.levels == Levels::Current => &threads,
        _ => &[],
    };
    let facts = report::Facts {
        source: machine.source(),
        map: &map,
        mask: if affinity.respect { usable } else { &mask },
        respected: affinity.respect,
        folded,
        bound: shown,
    };
    let report = match affinity.verbose {
        true => report::lines(&facts, dialect.levels),
        false => Vec::new(),
    };
    Team {
        threads,
        warnings,
        report,
    }
}

/// How threads are bound.
enum Method {
    /// To all processors of the map.
    Nothing,
    /// To what they have.
    Untouched,
    Affinity(Affinity),
    Places(Places, Policy),
}

/// Which of the settings counts.
fn method(request: &Request<'_>, affinity: &Affinity, warnings: &mut Vec<Warning>) -> Method {
    let places = [
        (OMP_PLACES, request.omp_places),
        (OMP_PROC_BIND, request.omp_proc_bind),
    ];
    let mut ignore = |names: &[(&'static str, Option<&str>)], by| {
        let given = names.iter().filter(|(_, text)| text.is_some());
        warnings.extend(given.map(|(name, _)| Message::Overridden(name, by).about(name)));
    };
    if affinity.kind != Type::Default {
        ignore(
            &[(GOMP_CPU_AFFINITY, request.gomp_cpu_affinity)],
            KMP_AFFINITY,
        );
        ignore(&places, KMP_AFFINITY);
        return match affinity.kind {
            Type::None => Method::Nothing,
            Type::Disabled => Method::Untouched,
            _ => Method::Affinity(affinity.clone()),
        };
    }
    if let Some(text) = request.gomp_cpu_affinity {
        ignore(&places, GOMP_CPU_AFFINITY);
        return match proclist::parse(text) {
            Ok((proclist, length)) if text[length..].trim().is_empty() => {
                Method::Affinity(Affinity {
                    kind: Type::Explicit,
                    granularity: affinity.granularity.or(Some(Granularity::Thread)),
                    proclist,
                    ..affinity.clone()
                })
            }
            Ok(_) => {
                warnings.push(Message::ListSyntax.about(GOMP_CPU_AFFINITY));
                Method::Nothing
            }
            Err(message) => {
                warnings.push(message.about(GOMP_CPU_AFFINITY));
                Method::Nothing
            }
        };
    }
    let policy = match request.omp_proc_bind.map(Policy::parse) {
        Some(Ok(policy)) => Some(policy),
        Some(Err(error)) => {
            warnings.push(unreadable(OMP_PROC_BIND, request.omp_proc_bind, error));
            None
        }
        None => None,
    };
    let places = match request.omp_places.map(Places::parse) {
        Some(Ok(places)) => Some(places),
        Some(Err(error)) => {
            warnings.push(unreadable(OMP_PLACES, request.omp_places, error));
            Some(Places::Parts(Part::Cores, None))
        }
        None => None,
    };
    match (places, policy) {
        (_, Some(Policy::False)) | (None, None) => Method::Nothing,
        (Some(places), policy) => Method::Places(places, policy.unwrap_or(Policy::Spread)),
        (None, Some(policy)) => Method::Places(Places::Parts(Part::Cores, None), policy),
    }
}

/// A setting that does not read: what, where, and what would have been right.
fn unreadable(name: &'static str, text: Option<&str>, error: oxmpi_text::Error) -> Warning {
    let shown = error.show(text.unwrap_or_default());
    Warning {
        code: WarningCode::SettingUnreadable,
        args: [name.into()].into(),
        text: alloc::format!("{name}: {shown}"),
    }
}

/// What placing threads goes by.
struct Placing<'a> {
    machine: &'a Machine,
    map: &'a Map,
    dialect: Dialect,
    threads: usize,
}

impl Placing<'_> {
    /// The places of threads by `KMP_AFFINITY` or a list; `None` where they are not bound after all.
    fn by_affinity(
        &self,
        affinity: &Affinity,
        folded: usize,
        messages: &mut Vec<Message>,
    ) -> Option<Vec<CpuSet>> {
        let (map, depth) = (self.map, self.map.depth());
        let old = self.dialect.levels == Levels::Documented;
        if affinity.kind == Type::Balanced && old && depth <= 1 {
            messages.push(Message::NoBalanced);
            return None;
        }
        if folded >= depth {
            messages.push(Message::TooCoarse);
        }
        match affinity.kind {
            Type::Explicit => {
                // Lists of other products come with a granularity of their own.
                let folded = self.folded(affinity, &mut Vec::new());
                let places = listed(map, &affinity.proclist, folded, messages);
                self.in_turn(&places, messages)
            }
            Type::Balanced => {
                let bound = balanced::bind(map, self.threads, self.is_fine(affinity));
                if bound.is_none() {
                    messages.push(Message::NoBalanced);
                }
                bound
            }
            _ => Some(self.sorted(affinity, folded)),
        }
    }

    /// The places of threads by `OMP_PLACES` and `OMP_PROC_BIND`.
    fn by_places(
        &self,
        places: &Places,
        policy: Policy,
        affinity: &Affinity,
        messages: &mut Vec<Message>,
    ) -> Option<Vec<CpuSet>> {
        let places = match places {
            Places::List(list) => listed(self.map, list, 0, messages),
            Places::Parts(part, count) => {
                let mut places = match affinity.granularity {
                    Some(_) => self.distinct(self.folded(affinity, messages)),
                    None => self.parts(*part),
                };
                places.truncate(count.unwrap_or(usize::MAX));
                places
            }
        };
        if places.is_empty() {
            messages.push(Message::NoProcessorLeft);
            return None;
        }
        let dealt = policy.deal(self.threads, places.len(), self.dialect.levels);
        Some(
            dealt
                .into_iter()
                .map(|place| places[place].clone())
                .collect(),
        )
    }

    /// One thread after the other at the places, from the first again behind the last.
    fn in_turn(&self, places: &[CpuSet], messages: &mut Vec<Message>) -> Option<Vec<CpuSet>> {
        if places.is_empty() {
            messages.push(Message::NoProcessorLeft);
            return None;
        }
        Some(places.iter().cycle().take(self.threads).cloned().collect())
    }

    /// How many levels lie below one.
    fn below(&self, level: Level) -> Option<usize> {
        let place = self.map.levels.iter().position(|other| *other == level);
        place.map(|place| self.map.depth() - 1 - place)
    }

    /// How many of the innermost levels are threads inside a core.
    fn threads_level(&self) -> usize {
        match self.dialect.levels {
            Levels::Current => 1,
            Levels::Documented => usize::from(self.map.levels.last() == Some(&Level::Thread)),
        }
    }

    /// How many of the innermost levels one place takes in.
    fn folded(&self, affinity: &Affinity, messages: &mut Vec<Message>) -> usize {
        match affinity.granularity {
            Some(Granularity::Thread) => 0,
            None | Some(Granularity::Core) => self.threads_level(),
            Some(Granularity::Package) => self.map.depth() - 1,
            Some(Granularity::Levels(levels)) => levels as usize,
            Some(Granularity::Level(word)) => {
                let known = (word == "die").then(|| self.below(Level::Die)).flatten();
                known.unwrap_or_else(|| {
                    messages.push(Message::NoSuchLevel(word));
                    self.threads_level()
                })
            }
        }
    }

    /// Whether `balanced` gives each thread one processor.
    fn is_fine(&self, affinity: &Affinity) -> bool {
        match affinity.granularity {
            Some(Granularity::Thread) => true,
            Some(Granularity::Package) => self.map.ratio(Level::Core) <= 1,
            _ => self.map.ratio(Level::Thread) <= 1,
        }
    }

    /// The places that folding makes, each once.
    fn distinct(&self, folded: usize) -> Vec<CpuSet> {
        let kept = self.map.depth().saturating_sub(folded);
        let mut rows: Vec<&Row> = self.map.rows.iter().collect();
        rows.dedup_by(|next, row| next.ordinals[..kept] == row.ordinals[..kept]);
        rows.iter().map(|row| self.map.place(row, folded)).collect()
    }

    /// The places of a name: each such part of the machine, in the order of the map.
    fn parts(&self, part: Part) -> Vec<CpuSet> {
        let kind = match part {
            Part::Threads => return self.distinct(0),
            Part::Cores => return self.distinct(self.threads_level()),
            Part::Sockets => return self.distinct(self.map.depth() - 1),
            Part::NumaDomains => Kind::Numa,
            Part::LastCaches => {
                let caches = [Kind::L5, Kind::L4, Kind::L3, Kind::L2, Kind::L1];
                let largest = caches
                    .into_iter()
                    .find(|kind| self.machine.objects(*kind).len() > 0);
                largest.unwrap_or(Kind::Core)
            }
        };
        let mut places: Vec<CpuSet> = Vec::new();
        let mut left = self.map.cpus();
        for row in &self.map.rows {
            if !left.contains(row.cpu) {
                continue;
            }
            let object = self
                .machine
                .objects(kind)
                .find(|object| object.cpus().contains(row.cpu));
            let place = object.map_or(CpuSet::one(row.cpu), |object| object.cpus() & &left);
            left = &left - &place;
            places.push(place);
        }
        places
    }

    /// `compact`, `scatter`, `logical` and `physical`: the hardware threads sorted, one place for each.
    fn sorted(&self, affinity: &Affinity, folded: usize) -> Vec<CpuSet> {
        let (map, depth) = (self.map, self.map.depth());
        let permute = affinity.permute as usize;
        let per_core = map.ratio(Level::Thread);
        let inner = match affinity.kind {
            Type::Scatter if permute >= depth => 0,
            Type::Scatter => depth - 1 - permute,
            Type::Physical => usize::from(per_core > 1 && depth > 1),
            Type::Logical => 0,
            _ => permute.min(depth - 1),
        };
        let scale = match (affinity.kind, self.dialect.rules) {
            (Type::Logical | Type::Physical, Rules::Runtime) => per_core as u64,
            _ => 1,
        };
        let mut rows: Vec<&Row> = map.rows.iter().collect();
        if !affinity.duplicates {
            let kept = depth.saturating_sub(folded);
            rows.dedup_by(|next, row| next.ordinals[..kept] == row.ordinals[..kept]);
        }
        // The innermost levels first, the innermost of them the most significant.
        rows.sort_by_cached_key(|row| {
            let (outer, inner) = row.ordinals.split_at(depth - inner);
            let inner = inner.iter().rev();
            inner.chain(outer).copied().collect::<Vec<_>>()
        });
        let places: Vec<CpuSet> = rows.iter().map(|row| map.place(row, folded)).collect();
        let offset = (affinity.offset.saturating_mul(scale) % places.len() as u64) as usize;
        places
            .iter()
            .cycle()
            .skip(offset)
            .take(self.threads)
            .cloned()
            .collect()
    }
}

/// One place for each item: the places of its processors together.
fn listed(map: &Map, list: &[Item], folded: usize, messages: &mut Vec<Message>) -> Vec<CpuSet> {
    let mut places = Vec::new();
    for item in list {
        let mut place = CpuSet::new();
        for number in item {
            match map.row_of(*number) {
                Some(row) => place = &place | &map.place(row, folded),
                None => messages.push(Message::NoSuchProcessor(*number)),
            }
        }
        if !place.is_empty() {
            places.push(place);
        }
    }
    places
}
