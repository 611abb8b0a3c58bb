//! Reads caches from `/sys/devices/system/cpu/cpuN/cache/indexM`.

use super::Files;
use super::cpus::CPUS;
use super::read::Reader;
use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use crate::facts::{Cache, Facts};
use crate::kind::Kind;
use alloc::format;
use alloc::vec::Vec;

/// The most caches of one processor: five levels, for data and for instructions.
const MOST: usize = 10;

/// Reads each cache at the first of its processors. Without information on sharing, a cache has one
/// processor.
pub(super) fn read(
    files: &Reader<'_, impl Files>,
    online: &CpuSet,
) -> Result<Vec<Facts>, SyntaxError> {
    let mut caches = Vec::new();
    for cpu in online {
        let all = format!("{CPUS}/cpu{cpu}/cache");
        for index in files.numbered(&all, "index").into_iter().take(MOST) {
            let directory = format!("{all}/index{index}");
            let set = files.mask(&format!("{directory}/shared_cpu_map"))?;
            // Old Itanium kernels give an empty set for a cache of one processor.
            let set = set.map(|set| &set & online).filter(|set| !set.is_empty());
            let set = set.unwrap_or_else(|| CpuSet::one(cpu));
            if set.first() == Some(cpu) {
                caches.extend(cache(files, &directory, set)?);
            }
        }
    }
    Ok(caches)
}

/// The cache with processors `cpus` that a directory describes; `None` for an unknown type.
fn cache(
    files: &Reader<'_, impl Files>,
    directory: &str,
    cpus: CpuSet,
) -> Result<Option<Facts>, SyntaxError> {
    let number = |name| files.number(&format!("{directory}/{name}"));
    let (instructions, unified) = match files.text(&format!("{directory}/type")).as_deref() {
        Some("Data") => (false, false),
        Some("Instruction") => (true, false),
        Some("Unified") => (false, true),
        _ => return Ok(None),
    };
    let kind = number("level")?.and_then(|level| Kind::cache(level, instructions));
    let Some(kind) = kind else {
        return Ok(None);
    };
    let mut facts = Facts::new(kind, number("id")?, cpus);
    facts.cache = Some(Cache {
        size: files.size(&format!("{directory}/size"))?.unwrap_or(0),
        line: number("coherency_line_size")?.filter(|bytes| *bytes > 0),
        ways: number("ways_of_associativity")?.filter(|ways| *ways > 0),
        unified,
        inclusive: None,
    });
    Ok(Some(facts))
}
