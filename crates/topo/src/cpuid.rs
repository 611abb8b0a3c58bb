//! Reads a machine's topology from the instruction cpuid.
//!
//! The registers come through [`Cpuid`]: from the running processors, each asked on itself, or from a
//! recorded [`Dump`]. The modules in the order of the data: `processor` (one processor, and whose manual it
//! follows), `layout` (reads the fields of its APIC id into `fields`, from the first source that applies of
//! `levels`, `amd` and `apic`), `caches`, `hybrid` (the type of its core), and `objects` (makes the machine
//! of all processors).
//!
//! Everything follows from two facts: an APIC id, which is unique in the machine, and the bit positions of
//! its fields. Processors with the same upper bits share an object: all but the thread's field name the core,
//! all but the thread's and the core's field name the next level, and so on.
//!
//! Cpuid has no information on memory, so there is one NUMA node of 0 bytes.
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
use crate::error::SyntaxError;
use crate::machine::Machine;
use crate::source::Source;
use alloc::format;
use alloc::vec::Vec;
use objects::Member;
use oxmpi_text::Span;
use processor::{Highest, Processor};

/// The registers after the instruction cpuid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Registers {
    /// Register eax; before the instruction it holds the leaf.
    pub eax: u32,
    /// Register ebx.
    pub ebx: u32,
    /// Register ecx; before the instruction it holds the subleaf.
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

/// Processors that execute cpuid, or a record of their answers.
pub trait Cpuid {
    /// The processors with answers, by the operating system's numbers.
    fn processors(&self) -> CpuSet;

    /// The answer of `cpu` to a leaf (eax) and a subleaf (ecx); `None` if it is not known. Only leaves 0, 1
    /// and 80000000h are asked for before the first processor has named its highest leaves.
    fn leaf(&self, cpu: usize, leaf: u32, subleaf: u32) -> Option<Registers>;
}

impl Machine {
    /// The machine of all processors, each described by its own answers: "global cpuid info".
    ///
    /// # Errors
    ///
    /// If no processor answers; if one has a number above [`LARGEST_CPU`](Self::LARGEST_CPU), does not know
    /// leaves 0 and 1, or has the same APIC id as another (on emulated machines, or when the asking thread
    /// migrated).
    ///
    /// # Cost
    ///
    /// About 20 leaves of each processor.
    pub fn from_cpuid(cpuid: &impl Cpuid) -> Result<Self, SyntaxError> {
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
        let members = cpus
            .iter()
            .map(member)
            .collect::<Result<Vec<_>, SyntaxError>>()?;
        objects::unique(&members)?;
        Ok(objects::machine(&members, Source::CpuidGlobal))
    }

    /// The machine of the operating system's processors `cpus`, if all are like the first that answers and
    /// numbered without gaps from thread to core to package: "local cpuid info".
    ///
    /// Cpuid reports the maximum of threads and cores, and newer leaves the number that is enabled. Leaf 1
    /// alone, of older processors, cannot tell whether each core's second thread is enabled, disabled or
    /// missing: it is taken as missing.
    ///
    /// # Errors
    ///
    /// If no processor answers or `cpus` is empty, or has a number above [`LARGEST_CPU`](Self::LARGEST_CPU);
    /// or if the processor does not know leaves 0 and 1, or reports more processors in a part than that
    /// part's field can number.
    pub fn from_local_cpuid(cpuid: &impl Cpuid, cpus: &CpuSet) -> Result<Self, SyntaxError> {
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

/// Checks that there are processors and that their numbers are not too large; returns the first.
fn check(cpus: &CpuSet) -> Result<usize, SyntaxError> {
    let first = cpus.first();
    let first = first.filter(|_| cpus.last() <= Some(Machine::LARGEST_CPU));
    let expected = "processors up to 8191, and at least one";
    first.ok_or_else(|| wrong(&format!("{cpus}"), expected))
}

/// An error about the whole text `found`.
fn wrong(found: &str, expected: &'static str) -> SyntaxError {
    SyntaxError::new(found, oxmpi_text::Error::new(Span::whole(found), expected))
}
