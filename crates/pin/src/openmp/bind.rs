//! Turns the settings of threads into the processors of each thread of a team.

use alloc::vec;
use alloc::vec::Vec;

use oxmpi_topo::Machine;

use crate::openmp::affinity::{self, Affinity, Type};
use crate::openmp::diagnostics::Diagnostics;
use crate::openmp::map::Map;
use crate::openmp::message::Message;
use crate::openmp::method::Method;
use crate::openmp::placing::Placing;
use crate::openmp::report::{self, BindingSource};
use crate::openmp::team::{Request, Team};
use crate::openmp::variables::{KMP_AFFINITY, KMP_HW_SUBSET, KMP_PLACE_THREADS, OMP_NUM_THREADS};
use crate::openmp::{Dialect, Levels, subset};

/// Places the threads of a team on `machine`. It never fails: like runtimes, it warns of a mistake in a
/// setting and ignores the mistake. `KMP_AFFINITY` with a type has precedence over `GOMP_CPU_AFFINITY`, and
/// that over `OMP_PLACES` and `OMP_PROC_BIND`.
///
/// # Cost
/// A sort of the processors, and a set for each thread; allocates. For set-up only.
pub fn bind(machine: &Machine, request: &Request<'_>, dialect: Dialect) -> Team {
    let mut diagnostics = Diagnostics::default();
    let affinity = read(request, dialect, &mut diagnostics);
    let items = items(request, &mut diagnostics);
    let method = Method::choose(request, &affinity, &mut diagnostics);
    let asked = team_size(request, &mut diagnostics);

    let all = machine.online();
    let mask = request.mask.map_or_else(|| all.clone(), |mask| mask & all);
    let is_masked = affinity.respect && !mask.is_empty();
    let usable = if is_masked { &mask } else { all };
    let whole = Map::new(machine, usable, dialect.levels);
    let left = items.map(|items| subset::left(machine, &whole, &items));
    let (part, refused) = match left.transpose() {
        Ok(left) => (
            left.map(|left| Map::new(machine, &left, dialect.levels)),
            None,
        ),
        Err(message) => (None, Some((KMP_HW_SUBSET, message))),
    };
    let map = part.as_ref().unwrap_or(&whole);

    let mut placing = Placing {
        machine,
        map,
        dialect,
        asked,
        folded: 0,
        taken: None,
        messages: Vec::from_iter(refused),
    };
    let bound = placing.by(&method, &affinity);
    if affinity.verbose || (affinity.warnings && !matches!(method, Method::Nothing)) {
        for (name, message) in &placing.messages {
            diagnostics.say(name, message);
        }
    }
    let binding_source = binding_source(&method, bound.is_some(), request);
    let unbound = || match binding_source {
        BindingSource::Disabled if !mask.is_empty() => mask.clone(),
        _ => map.cpus(),
    };
    let threads = bound.unwrap_or_else(|| vec![unbound(); placing.threads(map.rows.len())]);

    let taken = placing.taken.as_ref();
    let taken = taken.map(|cpus| Map::new(machine, cpus, dialect.levels));
    let facts = report::Facts {
        machine,
        map,
        whole: part.as_ref().map(|_| &whole),
        taken: taken.as_ref(),
        mask: if affinity.respect { usable } else { &mask },
        respected: affinity.respect,
        binding_source,
        folded: placing.folded,
        bound: match (binding_source, dialect.levels) {
            (BindingSource::Disabled, _) | (BindingSource::None, Levels::Documented) => &[],
            _ => &threads,
        },
    };
    let report = match affinity.verbose {
        true => report::lines(&facts, dialect.levels),
        false => Vec::new(),
    };
    Team {
        threads,
        warnings: diagnostics.warnings,
        hints: diagnostics.hints,
        report,
    }
}

/// Parses `KMP_AFFINITY`, whose modifiers apply to all settings.
fn read(request: &Request<'_>, dialect: Dialect, diagnostics: &mut Diagnostics) -> Affinity {
    let text = request.kmp_affinity.unwrap_or_default();
    let read = affinity::parse(text, dialect);
    for (message, error) in read.wrong {
        diagnostics.wrong(KMP_AFFINITY, text, &message, error);
    }
    read.affinity
}

/// The part of the machine that `KMP_HW_SUBSET` asks for; `None` if it is not set or has a syntax error.
fn items(request: &Request<'_>, diagnostics: &mut Diagnostics) -> Option<Vec<subset::SubsetItem>> {
    let new = request.kmp_hw_subset.map(|text| (KMP_HW_SUBSET, text));
    let old = request
        .kmp_place_threads
        .map(|text| (KMP_PLACE_THREADS, text));
    let (name, text) = new.or(old)?;
    let read = subset::parse(text);
    let bad = |error| diagnostics.wrong(name, text, &Message::SubsetSyntax(text.into()), error);
    read.map_err(bad).ok()
}

/// The number of threads to place, at most [`Team::LARGEST`]; 0 for the default team.
fn team_size(request: &Request<'_>, diagnostics: &mut Diagnostics) -> usize {
    let placed = request.threads.min(Team::LARGEST);
    if placed < request.threads {
        let message = Message::TeamTooLarge(request.threads, placed);
        diagnostics.say(OMP_NUM_THREADS, &message);
    }
    placed as usize
}

/// What binds the threads in the end, for the report.
fn binding_source(method: &Method, is_bound: bool, request: &Request<'_>) -> BindingSource {
    match method {
        Method::Untouched => BindingSource::Disabled,
        _ if !is_bound => BindingSource::None,
        Method::Nothing => BindingSource::None,
        Method::Places(..) if request.omp_places.is_some() => BindingSource::Places,
        Method::Places(..) => BindingSource::Policy,
        Method::Affinity(_, affinity) if affinity.kind == Type::Balanced => BindingSource::Balanced,
        Method::Affinity(..) => BindingSource::Affinity,
    }
}
