//! A machine from the text of Linux's /proc/cpuinfo.
//!
//! The text has a record for each online processor, with lines `key : value`. Four keys give its position:
//!
//! - `processor`, the operating system's number; `cpu number` in records without it, as on IBM Z;
//! - `physical id`, the package, which has to be there;
//! - `core id`, the core in the package, 0 if it is missing;
//! - `thread id`, the thread in the core. Threads without one get the smallest numbers that are free in their core, in
//!   the order of their processors.
//!
//! A record ends at an empty line, or where the next processor begins, so that the output of `grep` parses,
//! too. All other lines are ignored, also those that only hint at the topology (`siblings`, `cpu cores`,
//! `apicid`). The file has no dies, caches and memory, so the machine has one NUMA node of unknown size.
//! Kernels for ARM, POWER and RISC-V write no `physical id`; some kernels restart core ids in each die of a
//! package, so that two cores look like one with two threads.
//!
//! Source: the Intel C++ Compiler's documentation of `KMP_AFFINITY`, "Determining machine topology"; the functions
//! `show_cpuinfo` of the kernel, for x86, IA-64 and s390.

mod records;

#[cfg(test)]
mod tests;

use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use crate::facts::Facts;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::source::Source;
use crate::tree::Tree;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use records::Record;

/// The name of the file in errors.
const PATH: &str = "/proc/cpuinfo";

/// The position of one processor, in the numbers of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Processor {
    cpu: usize,
    package: u32,
    core: u32,
    thread: u32,
}

/// Parses the processors, in ascending order.
fn processors(text: &str) -> Result<Vec<Processor>, SyntaxError> {
    records::read(text)
        .and_then(number_threads)
        .map_err(|cause| SyntaxError::in_lines(text, cause).in_file(PATH))
}

/// Numbers the threads that have no `thread id`.
fn number_threads(records: Vec<Record>) -> Result<Vec<Processor>, oxmpi_text::Error> {
    let mut taken: BTreeSet<(u32, u32, u32)> = BTreeSet::new();
    for record in &records {
        if let Some((thread, span)) = record.thread
            && !taken.insert((record.package, record.core, thread))
        {
            let expected = "a thread that no other processor of the core is";
            return Err(oxmpi_text::Error::new(span, expected));
        }
    }
    let mut free: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut numbered = |record: Record| {
        let (cpu, package, core) = (record.cpu, record.package, record.core);
        let thread = record.thread.map(|(thread, _)| thread);
        let thread = thread.unwrap_or_else(|| {
            let free = free.entry((package, core)).or_default();
            while !taken.insert((package, core, *free)) {
                *free += 1;
            }
            *free
        });
        Processor {
            cpu,
            package,
            core,
            thread,
        }
    };
    Ok(records.into_iter().map(&mut numbered).collect())
}

impl Machine {
    /// The machine that the text of [/proc/cpuinfo](crate::cpuinfo) describes: packages, cores and PUs with their
    /// numbers as [threads](crate::Object::thread), and one NUMA node of unknown size.
    ///
    /// # Errors
    ///
    /// Names the line of a number with a syntax error or given twice, of a processor above
    /// [`LARGEST_CPU`](Self::LARGEST_CPU), or of a processor without `physical id`.
    ///
    /// # Cost
    ///
    /// One pass over the text; memory for at most `LARGEST_CPU` + 1 processors.
    pub fn from_cpuinfo(text: &str) -> Result<Self, SyntaxError> {
        let mut packages: BTreeMap<u32, CpuSet> = BTreeMap::new();
        let mut cores: BTreeMap<(u32, u32), CpuSet> = BTreeMap::new();
        let mut facts = Vec::new();
        for Processor {
            cpu,
            package,
            core,
            thread,
        } in processors(text)?
        {
            packages.entry(package).or_default().insert(cpu);
            cores.entry((package, core)).or_default().insert(cpu);
            let mut pu = Facts::pu(cpu);
            pu.thread = Some(thread);
            facts.push(pu);
        }
        let all = packages.values().flatten().collect();
        facts.push(Facts::new(Kind::Numa, Some(0), all));
        let package = |(os, cpus)| Facts::new(Kind::Package, Some(os), cpus);
        let core = |((_, os), cpus)| Facts::new(Kind::Core, Some(os), cpus);
        facts.extend(packages.into_iter().map(package));
        facts.extend(cores.into_iter().map(core));
        Ok(Tree::nest(facts, &mut Vec::new()).flatten(Source::Cpuinfo))
    }
}
