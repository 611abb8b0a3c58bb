//! Makes the objects of a machine from the cpuid answers of its processors: packages, their parts, caches,
//! kinds of cores.

use super::fields::{Layout, Part, Sharing, upper};
use super::hybrid::CoreType;
use super::processor::Identity;
use super::wrong;
use crate::core_kind::CoreKind;
use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use crate::facts::{Cache, Facts};
use crate::kind::Kind;
use crate::machine::Machine;
use crate::source::Source;
use crate::tree::Tree;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

/// A processor with its decoded cpuid answers.
pub(super) struct Member {
    pub(super) cpu: usize,
    pub(super) apic: u32,
    pub(super) layout: Layout,
    pub(super) identity: Identity,
    pub(super) core_type: Option<CoreType>,
}

/// Checks that no two processors have the same APIC id.
pub(super) fn unique(members: &[Member]) -> Result<(), SyntaxError> {
    let mut known = BTreeMap::new();
    for member in members {
        if let Some(other) = known.insert(member.apic, member.cpu) {
            let text = format!(
                "APIC id {} of processors {other} and {}",
                member.apic, member.cpu
            );
            return Err(wrong(&text, "an APIC id of its own for each processor"));
        }
    }
    Ok(())
}

/// The machine of these processors. Each is in at most 15 objects, so the limit of objects is never exceeded.
pub(super) fn machine(members: &[Member], source: Source) -> Machine {
    let mut facts: Vec<Facts> = members.iter().map(pu).collect();
    let all: CpuSet = members.iter().map(|member| member.cpu).collect();
    let mut memory = Facts::new(Kind::Numa, Some(0), all);
    memory.local_memory = Some(0);
    facts.push(memory);
    let packages = packages(members);
    facts.extend(parts(members, &packages));
    facts.extend(packages);
    facts.extend(caches(members));

    let mut notes = Vec::new();
    let mut machine = Tree::nest(facts, &mut notes).flatten(source);
    machine.notes = notes;
    machine.core_kinds = core_kinds(members);
    machine
}

fn pu(member: &Member) -> Facts {
    let mut facts = Facts::pu(member.cpu);
    facts.thread = member.layout.thread_of(member.apic);
    facts
}

fn packages(members: &[Member]) -> Vec<Facts> {
    let mut packages: BTreeMap<u32, Facts> = BTreeMap::new();
    for member in members {
        let os = member.layout.package_of(member.apic);
        let package = packages.entry(os).or_insert_with(|| {
            let mut facts = Facts::new(Kind::Package, Some(os), CpuSet::new());
            facts.infos = member.identity.infos();
            facts
        });
        package.cpus.insert(member.cpu);
    }
    packages.into_values().collect()
}

/// The objects between packages and processors. A die that is its whole package is left out, as from /sys.
fn parts(members: &[Member], packages: &[Facts]) -> Vec<Facts> {
    let mut parts: BTreeMap<(Part, u32, u32), Facts> = BTreeMap::new();
    for Member {
        cpu, apic, layout, ..
    } in members
    {
        for level in &layout.levels {
            let id = upper(layout.inside(*apic), level.shift);
            let key = (level.part, layout.package_of(*apic), id);
            let part = parts.entry(key).or_insert_with(|| {
                let os = (level.part.kind != Kind::Group).then_some(id);
                let mut facts = Facts::new(level.part.kind, os, CpuSet::new());
                facts.subtype = level.part.subtype.map(Into::into);
                facts
            });
            part.cpus.insert(*cpu);
        }
    }
    let packages: BTreeSet<&CpuSet> = packages.iter().map(|package| &package.cpus).collect();
    let is_new = |facts: &Facts| facts.kind != Kind::Die || !packages.contains(&facts.cpus);
    parts.into_values().filter(is_new).collect()
}

fn caches(members: &[Member]) -> Vec<Facts> {
    let mut caches: BTreeMap<(Kind, u32, u32), (Cache, CpuSet)> = BTreeMap::new();
    for Member {
        cpu, apic, layout, ..
    } in members
    {
        for shared in &layout.caches {
            // The first id that may share the cache, since cores of another type may have other counts.
            let id = match shared.sharing {
                Sharing::Aligned(shift) => upper(*apic, shift) << shift,
                Sharing::Packed(processors) => layout.inside(*apic) / processors,
            };
            let key = (shared.kind, layout.package_of(*apic), id);
            let (_, cpus) = caches
                .entry(key)
                .or_insert_with(|| (shared.cache, CpuSet::new()));
            cpus.insert(*cpu);
        }
    }
    let facts = |((kind, _, _), (cache, cpus))| {
        let mut facts = Facts::new(kind, None, cpus);
        facts.cache = Some(cache);
        facts
    };
    caches.into_iter().map(facts).collect()
}

/// The kinds of cores, slower ones first; none if processors report no types.
fn core_kinds(members: &[Member]) -> Vec<CoreKind> {
    let mut kinds: BTreeMap<CoreType, CpuSet> = BTreeMap::new();
    for member in members {
        if let Some(core_type) = member.core_type {
            kinds.entry(core_type).or_default().insert(member.cpu);
        }
    }
    let kind = |(core_type, cpus): (CoreType, _)| CoreKind {
        cpus,
        name: Some(core_type.name().into()),
        ..CoreKind::default()
    };
    kinds.into_iter().map(kind).collect()
}
