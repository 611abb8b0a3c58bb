//! Builds the machine of a parsed synthetic string.

use super::indexes::{LevelObjects, numbers};
use super::parse::{Attributes, Description, Level, Numa};
use crate::cpuset::CpuSet;
use crate::facts::Facts;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::source::Source;
use crate::tree::Tree;
use alloc::vec::Vec;
use core::ops::Range;
use oxmpi_text::{Error, Span};

/// The memory of a NUMA node without `memory=`, and of a machine's only node if the string has none.
const DEFAULT_MEMORY: u64 = 1 << 30;

pub(super) fn machine(description: &Description) -> Result<Machine, Error> {
    let rows = rows(&description.levels)?;
    let Some(last) = rows.last() else {
        return Err(Error::new(Span { start: 0, end: 0 }, "levels"));
    };
    let pus = numbers(last, &rows)?;
    let cpus = |places: Range<usize>| {
        pus[places]
            .iter()
            .map(|pu| *pu as usize)
            .collect::<CpuSet>()
    };

    let mut facts = Vec::new();
    for row in &rows {
        let share = pus.len() / row.width;
        for (at, os) in numbers(row, &rows)?.into_iter().enumerate() {
            facts.push(object(row, os, cpus(at * share..(at + 1) * share)));
        }
    }

    let nodes = attached(description, pus.len())?;
    let none = Attributes::default();
    let numbered = description
        .brackets()
        .find(|numa| numa.attributes.indexes.is_some());
    let row = LevelObjects {
        kind: Kind::Numa,
        width: nodes.len(),
        is_data: false,
        attributes: numbered.map_or(&none, |numa| &numa.attributes),
    };
    for ((numa, places), os) in nodes.iter().zip(numbers(&row, &rows)?) {
        let mut node = Facts::new(Kind::Numa, Some(os), cpus(places.clone()));
        node.local_memory = numa.attributes.memory;
        facts.push(node);
    }
    if !facts.iter().any(|object| object.kind == Kind::Numa) {
        let mut node = Facts::new(Kind::Numa, Some(0), cpus(0..pus.len()));
        node.local_memory = Some(DEFAULT_MEMORY);
        facts.push(node);
    }
    Ok(Tree::nest(facts, &mut Vec::new()).flatten(Source::Synthetic))
}

/// The levels, each with its number of objects in the whole machine.
fn rows(levels: &[Level]) -> Result<Vec<LevelObjects<'_>>, Error> {
    let (mut width, mut total) = (1, 0);
    let mut rows = Vec::new();
    for level in levels {
        width *= level.arity;
        total += width;
        let limit = match level.kind {
            _ if width > Machine::LARGEST_CPU + 1 => "a machine of at most 8192 processors",
            _ if total > Machine::MOST_OBJECTS => "a machine of at most 131072 objects",
            Kind::Numa if width > Machine::LARGEST_NUMA + 1 => {
                "a machine of at most 1024 NUMA nodes"
            }
            kind => {
                let attributes = &level.attributes;
                rows.push(LevelObjects {
                    kind,
                    width,
                    is_data: level.is_data,
                    attributes,
                });
                continue;
            }
        };
        return Err(Error::new(level.span, limit));
    }
    Ok(rows)
}

fn object(row: &LevelObjects<'_>, os: u32, cpus: CpuSet) -> Facts {
    let numbered = !row.kind.is_cache() && row.kind != Kind::Group;
    let mut object = Facts::new(row.kind, numbered.then_some(os), cpus);
    if let Some(cache) = &mut object.cache {
        cache.size = row.attributes.size.unwrap_or(default_size(row.kind));
        cache.unified = !row.is_data && !row.kind.holds_instructions_only();
    }
    if row.kind == Kind::Numa {
        object.local_memory = row.attributes.memory.or(Some(DEFAULT_MEMORY));
    }
    object
}

/// The NUMA nodes in brackets with the ranges of their PUs, in hwloc's order of numbering: nodes of an object
/// after those of the objects inside it.
fn attached(description: &Description, pus: usize) -> Result<Vec<(&Numa, Range<usize>)>, Error> {
    let mut width = 1;
    let mut count = description.attached.len();
    for level in &description.levels {
        width *= level.arity;
        count += width * level.attached.len();
        if let Some(numa) = level
            .attached
            .last()
            .filter(|_| count > Machine::LARGEST_NUMA + 1)
        {
            return Err(Error::new(
                numa.span,
                "a machine of at most 1024 NUMA nodes",
            ));
        }
    }
    let mut nodes = Vec::new();
    if count > 0 {
        attached_to(
            &description.attached,
            &description.levels,
            0..pus,
            &mut nodes,
        );
    }
    Ok(nodes)
}

fn attached_to<'a>(
    own: &'a [Numa],
    inside: &'a [Level],
    places: Range<usize>,
    nodes: &mut Vec<(&'a Numa, Range<usize>)>,
) {
    if let Some((level, inside)) = inside.split_first() {
        let share = places.len() / level.arity;
        for from in places.clone().step_by(share) {
            attached_to(&level.attached, inside, from..from + share, nodes);
        }
    }
    nodes.extend(own.iter().map(|numa| (numa, places.clone())));
}

/// hwloc's sizes of caches: 32 KiB next to the core, then 4 MiB, and four times as much at each further
/// level.
fn default_size(kind: Kind) -> u64 {
    match kind.cache_level() {
        None => 0,
        Some(1) => 32 << 10,
        Some(level) => (256 << 10) << (2 * level),
    }
}
