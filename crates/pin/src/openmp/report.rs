//! What a runtime prints under `verbose`, in the wording of the document and in today's.

mod current;
mod documented;

use alloc::string::String;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Machine};

use crate::openmp::Levels;
use crate::openmp::map::Map;

/// By what threads are bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// By nothing.
    None,
    /// By nothing, and the runtime keeps away.
    Disabled,
    /// By `KMP_AFFINITY` or a list.
    Affinity,
    /// By `balanced`.
    Balanced,
    /// By `OMP_PLACES`.
    Places,
    /// By `OMP_PROC_BIND` alone.
    Policy,
}

/// What there is to report of one team.
pub(crate) struct Facts<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) map: &'a Map,
    /// The map before a part of it was asked for.
    pub(crate) whole: Option<&'a Map>,
    /// The map of the places, where not all that could be are taken.
    pub(crate) taken: Option<&'a Map>,
    /// The mask that the process came with.
    pub(crate) mask: &'a CpuSet,
    pub(crate) respected: bool,
    pub(crate) manner: Manner,
    /// How many of the innermost levels one place takes in.
    pub(crate) folded: usize,
    /// The threads' processors; none where that is not told.
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
