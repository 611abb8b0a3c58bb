//! Executes the instruction cpuid, on the current processor or on several in turn.
//!
//! cpuid describes the processor that executes it: its APIC id, its caches, its core type. [`visit`] executes
//! it on all processors.
//!
//! ```
//! use oxmpi_os::{affinity, cpuid};
//!
//! let allowed = affinity::current()?;
//! match cpuid::visit(affinity::cpus(&allowed), |_, here| here.ask(1, 0)) {
//!     Ok(visit) => assert_eq!(visit.visited.len() + visit.refused.len(), affinity::cpus(&allowed).count()),
//!     Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::Unsupported),
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID.

use crate::affinity;
use std::io;
use std::marker::PhantomData;

/// The right to execute cpuid on the calling thread's processor. Inside [`visit`] the thread is bound to it.
#[derive(Clone, Copy, Debug)]
pub struct CurrentCpu(PhantomData<*const ()>);

/// The results of [`visit`].
#[derive(Debug)]
pub struct CpuVisit<T> {
    /// Each visited processor with the closure's result there, in the order of the visit.
    pub visited: Vec<(usize, T)>,
    /// Each processor that the thread could not be bound to, and why: it is absent, offline or not allowed.
    pub refused: Vec<(usize, io::Error)>,
}

impl CurrentCpu {
    /// The current processor; `None` on architectures without cpuid.
    #[must_use]
    pub fn get() -> Option<Self> {
        cfg!(target_arch = "x86_64").then_some(Self(PhantomData))
    }

    /// Executes cpuid with `leaf` in eax and `subleaf` in ecx; returns eax, ebx, ecx and edx.
    ///
    /// # Cost
    ///
    /// About 100 ns; microseconds in a virtual machine, where cpuid exits to the hypervisor.
    #[must_use]
    pub fn ask(self, leaf: u32, subleaf: u32) -> [u32; 4] {
        instruction(leaf, subleaf)
    }
}

#[cfg(target_arch = "x86_64")]
fn instruction(leaf: u32, subleaf: u32) -> [u32; 4] {
    #[allow(unused_unsafe, reason = "newer compilers know that this is safe")]
    // SAFETY: every processor of this architecture has the instruction, and it changes nothing but the four registers
    // that it answers in: AMD64 Architecture Programmer's Manual, volume 3, CPUID. Unknown leaves are no fault either.
    let answer = unsafe { std::arch::x86_64::__cpuid_count(leaf, subleaf) };
    [answer.eax, answer.ebx, answer.ecx, answer.edx]
}

#[cfg(not(target_arch = "x86_64"))]
fn instruction(_leaf: u32, _subleaf: u32) -> [u32; 4] {
    unreachable!("`CurrentCpu::get` returns none on these processors")
}

/// Binds the calling thread to each of `cpus` in turn and calls `each` there, with the processor's number. It
/// restores the thread's affinity, also when `each` panics.
///
/// # Errors
///
/// [`Unsupported`](io::ErrorKind::Unsupported) on processors without cpuid; else the error of reading or
/// restoring the thread's affinity. A processor that cannot be visited is no error; it is among
/// [`refused`](CpuVisit::refused).
///
/// # Cost
///
/// A system call and a migration for each processor, some 10 µs.
pub fn visit<T>(
    cpus: impl IntoIterator<Item = usize>,
    mut each: impl FnMut(usize, CurrentCpu) -> T,
) -> io::Result<CpuVisit<T>> {
    let here = CurrentCpu::get().ok_or(io::ErrorKind::Unsupported)?;
    let saved = SavedAffinity(affinity::current()?);
    let mut visit = CpuVisit {
        visited: Vec::new(),
        refused: Vec::new(),
    };
    for cpu in cpus {
        match affinity::set_current(&affinity::mask([cpu])) {
            Ok(()) => visit.visited.push((cpu, each(cpu, here))),
            Err(why) => visit.refused.push((cpu, why)),
        }
    }
    saved.restore()?;
    Ok(visit)
}

/// The affinity that [`visit`] restores.
struct SavedAffinity(Vec<u64>);

impl SavedAffinity {
    fn restore(mut self) -> io::Result<()> {
        affinity::set_current(&std::mem::take(&mut self.0))
    }
}

impl Drop for SavedAffinity {
    fn drop(&mut self) {
        // Empty after `restore`. During a panic a failure cannot be returned.
        if !self.0.is_empty() {
            let _ = affinity::set_current(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// The processors that this test's thread may use.
    fn allowed() -> Vec<usize> {
        affinity::cpus(&affinity::current().expect("every thread has a mask")).collect()
    }

    /// Whether cpuid exists; if not, prints that the test is skipped.
    fn has_cpuid() -> bool {
        let has = CurrentCpu::get().is_some();
        if !has {
            eprintln!("skipped: these processors have no cpuid");
        }
        has
    }

    /// The APIC id from the leaf of x2APIC ids if it exists, else from leaf 1.
    fn apic_id(here: CurrentCpu) -> u32 {
        let [highest, ..] = here.ask(0, 0);
        let [_, processors, _, x2apic] = here.ask(0xb, 0);
        match highest >= 0xb && processors != 0 {
            true => x2apic,
            false => here.ask(1, 0)[1] >> 24,
        }
    }

    #[test]
    fn processors_have_apic_ids_of_their_own() {
        if !has_cpuid() {
            return;
        }
        let before = allowed();
        let visit = visit(before.iter().copied(), |_, here| apic_id(here)).expect("cpuid is there");
        assert!(visit.refused.is_empty(), "{:?}", visit.refused);
        assert!(visit.visited.iter().map(|(cpu, _)| cpu).eq(&before));
        let ids: BTreeSet<u32> = visit.visited.iter().map(|(_, id)| *id).collect();
        assert_eq!(ids.len(), before.len(), "{:?}", visit.visited);
        assert_eq!(allowed(), before);
    }

    #[test]
    fn the_thread_is_on_the_processor_it_visits() {
        if has_cpuid() {
            let found = visit(allowed(), |_, _| allowed()).expect("cpuid is there");
            assert!(found.visited.iter().all(|(cpu, found)| *found == [*cpu]));
        }
    }

    #[test]
    fn absent_processors_are_reported() {
        if has_cpuid() {
            let before = allowed();
            let visit = visit([100_000, before[0]], |cpu, _| cpu).expect("cpuid is there");
            assert_eq!(visit.visited, [(before[0], before[0])]);
            let (cpu, why) = &visit.refused[0];
            assert_eq!((*cpu, why.raw_os_error()), (100_000, Some(libc::EINVAL)));
            assert_eq!(allowed(), before);
        }
    }

    #[test]
    fn a_panic_leaves_the_affinity_as_it_was() {
        if has_cpuid() {
            let before = allowed();
            let panicking = || visit(allowed(), |_, _| panic!("on purpose"));
            let panic = catch_unwind(AssertUnwindSafe(panicking));
            assert!(panic.is_err());
            assert_eq!(allowed(), before);
        }
    }
}
