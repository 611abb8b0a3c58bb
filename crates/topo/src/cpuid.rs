//! What the instruction cpuid says of a machine.
//!
//! The registers come through [`Cpuid`]: from the processors themselves, each asked in its turn, or
//! from a [`Dump`] of what they said once. One module for each matter, in the order of the data:
//! one processor and which manual it follows (`processor`), the fields of its APIC id (`layout` reads them into `fields`,
//! which takes the first that holds of `levels`, `amd` and `apic`), its `caches`, the type of its
//! core (`hybrid`), and what all of them make up (`objects`).
//!
//! Everything follows from two things: an APIC id, which is unique in the machine, and where its
//! fields begin. Processors with the same upper bits share what those bits name: with all but the
//! thread's field the core, with all but the thread's and the core's the next level, and so on.
//!
//! No processor knows its memory, so there is one NUMA node, of 0 bytes.
//!
//! hwloc 2.9 sees the same, with two differences: it asks fewer processors for leaves 1Fh and 80000026h
//! and so knows fewer dies; and it takes the core numbers of AMD's leaf 8000001Eh, which on Hygon's
//! processors are not unique in a package, where we take those in APIC ids.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A (CPUID) and
//! volume 3A (chapter "Multiple-Processor Management"); AMD64 Architecture Programmer's Manual,
//! volume 3, appendix E.5, and AMD's Processor Programming References; and what hwloc 2.9 makes of
//! its recorded processors.

mod amd;
mod apic;
mod caches;
mod dump;
mod fields;
mod hybrid;
mod layout;
mod levels;
mod objects;
mod processor;
mod record;
mod uniform;

pub use dump::Dump;

use crate::cpuset::CpuSet;
use crate::error::Error;
use crate::machine::Machine;
use crate::source::Source;
use alloc::format;
use alloc::vec::Vec;
use objects::Member;
use oxmpi_text::Span;
use processor::{Highest, Processor};

/// The registers that cpuid leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Registers {
    /// Register eax; before the instruction it held the leaf.
    pub eax: u32,
    /// Register ebx.
    pub ebx: u32,
    /// Register ecx; before the instruction it held the subleaf.
    pub ecx: u32,
    /// Register edx.
    pub edx: u32,
}

/// The registers in the order eax, ebx, ecx, edx.
impl From<[u32; 4]> for Registers {
    fn from([eax, ebx, ecx, edx]: [u32; 4]) -> Self {
        Self { eax, ebx, ecx, edx }
    }
}

/// Processors that answer cpuid.
pub trait Cpuid {
    /// The processors that answer, by the operating system's numbers.
    fn processors(&self) -> CpuSet;

    /// What `cpu` answers to a leaf (eax) and a subleaf (ecx); `None` if that is not known. Only leaves
    /// 0, 1 and 80000000h are asked for before the first processor has named the highest.
    fn leaf(&self, cpu: usize, leaf: u32, subleaf: u32) -> Option<Registers>;
}

impl Machine {
    /// The machine of all processors that answer, each as it says itself: "global cpuid info".
    ///
    /// # Errors
    ///
    /// If no processor answers, if one has a number above [`LARGEST_CPU`](Self::LARGEST_CPU), does
    /// not know leaves 0 and 1, or has the APIC id of another (as on a machine that pretends, or
    /// when the thread that asked was moved).
    ///
    /// # Cost
    ///
    /// About 20 questions to each processor.
    pub fn from_cpuid(cpuid: &impl Cpuid) -> Result<Self, Error> {
        let cpus = cpuid.processors();
        let first = check(&cpus)?;
        let highest = Highest::read(cpuid, first);
        let member = |cpu| {
            let processor = Processor::read(cpuid, cpu, highest)?;
            Ok(Member {
                cpu,
                layout: layout::read(&processor),
                apic: layout::apic_id(&processor),
                identity: processor.identity,
                core_type: hybrid::core_type(&processor),
            })
        };
        let members = cpus.iter().map(member).collect::<Result<Vec<_>, Error>>()?;
        objects::unique(&members)?;
        Ok(objects::machine(&members, Source::CpuidGlobal))
    }

    /// The machine of the operating system's processors `cpus` if all are as the first that
    /// answers, and numbered without gaps from thread to core to package: "local cpuid info".
    ///
    /// It says how many threads and cores there are at most, and the newer leaves how many are on.
    /// Leaf 1 alone, of older processors, cannot tell a second thread in each core that is switched
    /// off from one that is not there, and not from one that is on: all are taken for not there.
    ///
    /// # Errors
    ///
    /// If no processor answers or `cpus` is empty, or has a number above
    /// [`LARGEST_CPU`](Self::LARGEST_CPU); or if the processor does not know leaves 0 and 1, or tells of
    /// more processors in a part than numbers of that part have room for.
    pub fn from_local_cpuid(cpuid: &impl Cpuid, cpus: &CpuSet) -> Result<Self, Error> {
        let answering = cpuid.processors();
        let asked = check(&answering)?;
        check(cpus)?;
        let processor = Processor::read(cpuid, asked, Highest::read(cpuid, asked))?;
        let layout = layout::read(&processor);
        let members = uniform::apic_ids(&layout, cpus.len());
        let members = cpus.iter().zip(members).map(|(cpu, apic)| Member {
            cpu,
            layout: layout.clone(),
            apic,
            identity: processor.identity,
            core_type: None,
        });
        let members: Vec<_> = members.collect();
        objects::unique(&members)?;
        Ok(objects::machine(&members, Source::CpuidLocal))
    }
}

/// Refuses no processors and too large numbers; gives the first.
fn check(cpus: &CpuSet) -> Result<usize, Error> {
    let first = cpus.first();
    let first = first.filter(|_| cpus.last() <= Some(Machine::LARGEST_CPU));
    let expected = "processors up to 8191, and at least one";
    first.ok_or_else(|| wrong(&format!("{cpus}"), expected))
}

/// An error about the whole of what was found.
fn wrong(found: &str, expected: &'static str) -> Error {
    Error::new(found, oxmpi_text::Error::new(Span::whole(found), expected))
}
