//! From settings to the processors of each thread of a team.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Machine};

use crate::openmp::affinity::{self, Type};
use crate::openmp::granularity::folded;
use crate::openmp::map::Map;
use crate::openmp::message::Message;
use crate::openmp::method::Method;
use crate::openmp::placing::Placing;
use crate::openmp::report::{self, Manner};
use crate::openmp::told::Told;
use crate::openmp::variables::{
    GOMP_CPU_AFFINITY, KMP_AFFINITY, KMP_HW_SUBSET, KMP_PLACE_THREADS, OMP_NUM_THREADS, OMP_PLACES,
    OMP_PROC_BIND,
};
use crate::openmp::{Dialect, Levels, subset};
use crate::placement::Warning;

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
    /// `KMP_PLACE_THREADS`, the old name of `KMP_HW_SUBSET`, which goes before it.
    pub kmp_place_threads: Option<&'a str>,
    /// The processors of the process; `None` stands for all.
    pub mask: Option<&'a CpuSet>,
    /// The threads of the team; 0 stands for as many as the runtime starts by itself.
    pub threads: u32,
}

impl<'a> Request<'a> {
    /// The names of the variables.
    pub const VARIABLES: [&'static str; 6] = [
        KMP_AFFINITY,
        GOMP_CPU_AFFINITY,
        OMP_PLACES,
        OMP_PROC_BIND,
        KMP_HW_SUBSET,
        KMP_PLACE_THREADS,
    ];

    /// What an environment asks: `variable` gives the text of a variable, if it is set. No mask, and the default team.
    pub fn of(variable: impl Fn(&str) -> Option<&'a str>) -> Self {
        Self {
            kmp_affinity: variable(KMP_AFFINITY),
            gomp_cpu_affinity: variable(GOMP_CPU_AFFINITY),
            omp_places: variable(OMP_PLACES),
            omp_proc_bind: variable(OMP_PROC_BIND),
            kmp_hw_subset: variable(KMP_HW_SUBSET),
            kmp_place_threads: variable(KMP_PLACE_THREADS),
            mask: None,
            threads: 0,
        }
    }
}

/// Where the threads of one team run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    /// The processors of each thread, in the order of OpenMP's thread numbers; never empty.
    pub threads: Vec<CpuSet>,
    /// What a runtime would warn of, in its words.
    pub warnings: Vec<Warning>,
    /// Where a setting does not read, and what would have been right: its name and three lines, the last with a caret. In
    /// the order of the warnings that say so.
    pub hints: Vec<String>,
    /// The lines that a runtime would print under `verbose`, without the prefix `OMP: Info #N: `; empty if nothing is
    /// asked. The document puts the process's set of processors on a line of its own.
    pub report: Vec<String>,
}

impl Team {
    /// The most threads that are placed; of a larger team the first, with a warning.
    pub const LARGEST: u32 = 1 << 16;
}

/// Places the threads of a team on `machine`. Nothing makes it fail: what is wrong in a setting is warned of and left out,
/// as runtimes do. `KMP_AFFINITY` with a type goes before `GOMP_CPU_AFFINITY`, and that before `OMP_PLACES` and
/// `OMP_PROC_BIND`.
///
/// # Cost
/// A sort of the processors, and a set for each thread; allocates. For set-up only.
pub fn bind(machine: &Machine, request: &Request<'_>, dialect: Dialect) -> Team {
    let mut told = Told::default();
    let text = request.kmp_affinity.unwrap_or_default();
    let affinity::Read { affinity, wrong } = affinity::parse(text, dialect);
    for (message, error) in wrong {
        told.wrong(KMP_AFFINITY, text, &message, error);
    }
    let all = machine.online();
    let mask = request.mask.map_or_else(|| all.clone(), |mask| mask & all);
    let is_masked = affinity.respect && !mask.is_empty();
    let usable = if is_masked { &mask } else { all };

    let cuts = cuts(request, &mut told);
    let method = Method::choose(request, &affinity, &mut told);
    let mut messages = Vec::new();
    let whole = Map::new(machine, usable, dialect.levels);
    let part = cuts.map(|cuts| subset::left(machine, &whole, &cuts));
    let part = match part {
        Some(Ok(left)) => Some(Map::new(machine, &left, dialect.levels)),
        Some(Err(message)) => {
            messages.push((KMP_HW_SUBSET, message));
            None
        }
        None => None,
    };
    let map = part.as_ref().unwrap_or(&whole);

    let asked = request.threads.min(Team::LARGEST);
    if asked < request.threads {
        told.say(
            OMP_NUM_THREADS,
            &Message::TeamTooLarge(request.threads, asked),
        );
    }
    let mut placing = Placing {
        machine,
        map,
        dialect,
        asked: asked as usize,
        folded: 0,
        messages,
    };
    let (_, unknown) = folded(machine, map, affinity.granularity);
    placing
        .messages
        .extend(unknown.map(|message| (KMP_AFFINITY, message)));
    let bound = match &method {
        Method::Nothing | Method::Untouched => None,
        Method::Affinity(name, affinity) => placing.by_affinity(name, affinity),
        Method::Places(places, policy) => placing.by_places(places, *policy, &affinity),
    };
    let is_for_eyes = affinity.warnings && !matches!(method, Method::Nothing);
    if affinity.verbose || is_for_eyes {
        for (name, message) in &placing.messages {
            told.say(name, message);
        }
    }
    let everywhere = || match method {
        Method::Untouched if !mask.is_empty() => mask.clone(),
        _ => map.cpus(),
    };
    let is_bound = bound.is_some();
    let standard = placing.threads(map.rows.len());
    let threads = bound.unwrap_or_else(|| vec![everywhere(); standard]);

    let manner = match (&method, is_bound) {
        (Method::Untouched, _) => Manner::Disabled,
        (Method::Nothing, _) | (_, false) => Manner::None,
        (Method::Places(..), _) if request.omp_places.is_some() => Manner::Places,
        (Method::Places(..), _) => Manner::Policy,
        (Method::Affinity(_, affinity), _) if affinity.kind == Type::Balanced => Manner::Balanced,
        (Method::Affinity(..), _) => Manner::Affinity,
    };
    let shown = match (manner, dialect.levels) {
        (Manner::Disabled, _) | (Manner::None, Levels::Documented) => &[],
        _ => threads.as_slice(),
    };
    let facts = report::Facts {
        machine,
        map,
        whole: part.as_ref().map(|_| &whole),
        mask: if affinity.respect { usable } else { &mask },
        respected: affinity.respect,
        manner,
        folded: placing.folded,
        bound: shown,
    };
    let report = match affinity.verbose {
        true => report::lines(&facts, dialect.levels),
        false => Vec::new(),
    };
    Team {
        threads,
        warnings: told.warnings,
        hints: told.hints,
        report,
    }
}

/// The part of the machine that is asked for, if that reads.
fn cuts(request: &Request<'_>, told: &mut Told) -> Option<Vec<subset::Cut>> {
    let new = request.kmp_hw_subset.map(|text| (KMP_HW_SUBSET, text));
    let old = request
        .kmp_place_threads
        .map(|text| (KMP_PLACE_THREADS, text));
    let (name, text) = new.or(old)?;
    let read = subset::parse(text);
    let bad = |error| told.wrong(name, text, &Message::SubsetSyntax(text.into()), error);
    read.map_err(bad).ok()
}
