//! Caches: `/sys/devices/system/cpu/cpuN/cache/indexM`.

use super::Files;
use super::cpus::CPUS;
use super::read::Reader;
use crate::cpuset::CpuSet;
use crate::error::Error;
use crate::kind::Kind;
use crate::object::{Cache, Facts};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

/// Each cache is read at the first of its processors.
pub(super) fn read(files: &Reader<'_, impl Files>, online: &CpuSet) -> Result<Vec<Facts>, Error> {
    let mut caches = Vec::new();
    let mut known: BTreeMap<Kind, CpuSet> = BTreeMap::new();
    for cpu in online {
        let all = format!("{CPUS}/cpu{cpu}/cache");
        for index in files.numbered(&all, "index") {
            let directory = format!("{all}/index{index}");
            let Some((kind, unified)) = kind(files, &directory)? else {
                continue;
            };
            let known = known.entry(kind).or_default();
            if known.contains(cpu) {
                continue;
            }
            let set = files.mask(&format!("{directory}/shared_cpu_map"))?;
            // Old Itanium kernels give an empty set for a cache of one processor.
            let set = set.map(|set| &set & online).filter(|set| !set.is_empty());
            let set = set.unwrap_or_else(|| CpuSet::one(cpu));
            *known = &*known | &set;
            let number = |name| files.number(&format!("{directory}/{name}"));
            let mut facts = Facts::new(kind, None, set);
            facts.cache = Some(Cache {
                size: files.size(&format!("{directory}/size"))?.unwrap_or(0),
                line: number("coherency_line_size")?.filter(|bytes| *bytes > 0),
                ways: number("ways_of_associativity")?.filter(|ways| *ways > 0),
                unified,
                inclusive: None,
            });
            caches.push(facts);
        }
    }
    Ok(caches)
}

/// The kind of cache, and whether it is unified; `None` if there is none here, or one of unknown sort.
fn kind(files: &Reader<'_, impl Files>, directory: &str) -> Result<Option<(Kind, bool)>, Error> {
    let Some(level) = files.number(&format!("{directory}/level"))? else {
        return Ok(None);
    };
    let (instructions, unified) = match files.text(&format!("{directory}/type")).as_deref() {
        Some("Data") => (false, false),
        Some("Instruction") => (true, false),
        Some("Unified") => (false, true),
        _ => return Ok(None),
    };
    Ok(Kind::cache(level, instructions).map(|kind| (kind, unified)))
}
