//! The lines that a runtime prints under `verbose`, in Intel's documented wording and in that of current
//! runtimes.

mod current;
mod documented;

use alloc::string::String;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Machine};

use crate::openmp::Levels;
use crate::openmp::map::Map;

/// What binds the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BindingSource {
    /// Nothing.
    None,
    /// Nothing: affinity is disabled.
    Disabled,
    /// `KMP_AFFINITY` or `GOMP_CPU_AFFINITY`.
    Affinity,
    /// `balanced` of `KMP_AFFINITY`.
    Balanced,
    /// `OMP_PLACES`.
    Places,
    /// `OMP_PROC_BIND` alone.
    Policy,
}

/// The data to report of one team.
pub(crate) struct Facts<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) map: &'a Map,
    /// The map of the whole mask, if `KMP_HW_SUBSET` chose a part of it.
    pub(crate) whole: Option<&'a Map>,
    /// The map of the places that are used, if `OMP_PLACES` limits their number.
    pub(crate) taken: Option<&'a Map>,
    /// The mask that the process inherited.
    pub(crate) mask: &'a CpuSet,
    pub(crate) respected: bool,
    pub(crate) binding_source: BindingSource,
    /// How many of the innermost levels form one place.
    pub(crate) folded: usize,
    /// The processors of each thread; empty if the report does not list them.
    pub(crate) bound: &'a [CpuSet],
}

/// The lines, without the prefix `OMP: Info #N: `.
pub(crate) fn lines(facts: &Facts<'_>, levels: Levels) -> Vec<String> {
    match levels {
        Levels::Documented => documented::lines(facts),
        Levels::Current => current::lines(facts),
    }
}

fn respected(facts: &Facts<'_>) -> &'static str {
    match facts.respected {
        true => "respected",
        false => "not respected",
    }
}

fn uniform(map: &Map) -> &'static str {
    match map.is_uniform() {
        true => "Uniform",
        false => "Nonuniform",
    }
}
