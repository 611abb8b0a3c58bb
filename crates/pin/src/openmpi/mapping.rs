//! Open MPI's options for the ranks of one job: `--cpu-set`, `--map-by`, `--bind-to` and `--use-hwthread-cpus` together.

use core::fmt;

use oxmpi_topo::{CpuSet, Kind, Machine};

use super::{BindTo, CpuList, Level, MapBy, MapTarget};
use crate::placement::count;

/// The options of one job. Defaults of options that are not given:
///
/// - Ranks are mapped by `slot`: they take the parts they are bound to in the order of the machine.
/// - Ranks are bound to what they are mapped by; with `slot`, `node` or `PE=n` to processing elements, and with nothing but
///   `--cpu-set` to one hardware thread each.
///
/// Open MPI's own defaults depend on its release and on the number of ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// `--cpu-set`: the processors of the job.
    pub cpu_set: Option<CpuList>,
    /// `--map-by`.
    pub map_by: Option<MapBy>,
    /// `--bind-to`.
    pub bind_to: Option<BindTo>,
    /// `--use-hwthread-cpus`: hardware threads, not cores, are the processing elements.
    pub hwthread_cpus: bool,
}

/// Why the options of a job cannot be obeyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappingError {
    /// Numbers of `--cpu-set` that the machine does not have.
    UnknownProcessors {
        /// The numbers that are missing.
        numbers: CpuSet,
        /// The number of processors of the machine.
        count: usize,
    },
    /// `PE=n` binds ranks to processing elements, and `--bind-to` names something else.
    OtherElements {
        /// The `n` of `PE=n`.
        elements: u32,
        /// What a processing element is.
        element: Level,
        /// The other option.
        bind_to: BindTo,
    },
    /// `--bind-to cpu-list` without `--cpu-set`.
    NoCpuSet(BindTo),
    /// `--bind-to cpu-list` with parts of the machine to map by.
    OtherOrder(BindTo, MapTarget),
}

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownProcessors { numbers, count } => {
                let last = count.saturating_sub(1);
                write!(
                    f,
                    "--cpu-set: no processors {numbers} here: expected logical numbers from 0 to {last}, the {count} processors \
                     of this machine in its order"
                )
            }
            Self::OtherElements {
                elements,
                element,
                bind_to,
            } => {
                let (noun, hint) = match (element, bind_to) {
                    (Level::HwThread, BindTo::Level(Level::Core)) => (
                        "hardware thread",
                        "; without --use-hwthread-cpus, PE counts cores",
                    ),
                    (Level::HwThread, _) => ("hardware thread", ""),
                    (_, BindTo::Level(Level::HwThread)) => (
                        "core",
                        "; with --use-hwthread-cpus, PE counts hardware threads",
                    ),
                    _ => ("core", ""),
                };
                write!(
                    f,
                    "PE={elements} of --map-by binds each rank to {}, but --bind-to {bind_to} asks for another binding: leave one \
                     of them out{hint}",
                    count(*elements as usize, noun)
                )
            }
            Self::NoCpuSet(bind_to) => write!(
                f,
                "--bind-to {bind_to} needs the list: add --cpu-set with logical numbers of processors, such as --cpu-set 0-3"
            ),
            Self::OtherOrder(bind_to, by) => write!(
                f,
                "--bind-to {bind_to} follows the list of --cpu-set, but --map-by {by} asks for another order: leave one of them out"
            ),
        }
    }
}

impl core::error::Error for MappingError {}

impl Mapping {
    /// Checks that the options fit together, and that the machine has all processors of `--cpu-set`. Placing does what is
    /// nearest instead, with a warning.
    ///
    /// # Errors
    /// Options that contradict each other; the missing processors.
    pub fn check(&self, machine: &Machine) -> Result<(), MappingError> {
        self.check_options()?;
        self.check_processors(machine)
    }

    pub(super) fn check_options(&self) -> Result<(), MappingError> {
        let Some(bind_to) = self.bind_to else {
            return Ok(());
        };
        let element = self.element();
        if let Some(elements) = self.elements()
            && bind_to != BindTo::Level(element)
        {
            return Err(MappingError::OtherElements {
                elements,
                element,
                bind_to,
            });
        }
        match (bind_to, &self.cpu_set, self.by()) {
            (BindTo::None | BindTo::Level(_), ..) => Ok(()),
            (_, None, _) => Err(MappingError::NoCpuSet(bind_to)),
            (_, _, Some(by @ MapTarget::Level(_))) => Err(MappingError::OtherOrder(bind_to, by)),
            _ => Ok(()),
        }
    }

    pub(super) fn check_processors(&self, machine: &Machine) -> Result<(), MappingError> {
        let count = machine.objects(Kind::Pu).count();
        let wanted = self.cpu_set.iter().flat_map(CpuList::numbers);
        let numbers: CpuSet = wanted.copied().filter(|number| *number >= count).collect();
        match numbers.is_empty() {
            true => Ok(()),
            false => Err(MappingError::UnknownProcessors { numbers, count }),
        }
    }

    /// The name of an option that is given, for warnings about what it overrides; empty if none is given.
    pub fn option(&self) -> &'static str {
        let given = [
            (self.bind_to.is_some(), "--bind-to"),
            (self.map_by.is_some(), "--map-by"),
            (self.cpu_set.is_some(), "--cpu-set"),
            (self.hwthread_cpus, "--use-hwthread-cpus"),
        ];
        let option = given.into_iter().find(|(is_given, _)| *is_given);
        option.map_or("", |(_, option)| option)
    }

    /// Whether the placement depends on the caches of the machine.
    pub(crate) fn needs_caches(&self) -> bool {
        let by = self.by().and_then(|by| match by {
            MapTarget::Level(level) => Some(level),
            MapTarget::Slot | MapTarget::Node => None,
        });
        let levels = [by, self.level()];
        levels.into_iter().flatten().any(Level::is_cache)
    }

    pub(super) fn by(&self) -> Option<MapTarget> {
        self.map_by.and_then(|map_by| map_by.by)
    }

    /// The `n` of `PE=n`.
    pub(super) fn elements(&self) -> Option<u32> {
        self.map_by.and_then(|map_by| map_by.elements)
    }

    /// What a processing element is.
    fn element(&self) -> Level {
        match self.hwthread_cpus || self.map_by.is_some_and(|map_by| map_by.hwthread_cpus) {
            true => Level::HwThread,
            false => Level::Core,
        }
    }

    /// The level that each rank is bound to; `None` if ranks are not bound to parts of a level.
    pub(super) fn level(&self) -> Option<Level> {
        if self.elements().is_some() {
            return Some(self.element());
        }
        match (self.bind_to, self.by()) {
            (Some(BindTo::None | BindTo::CpuList | BindTo::OrderedCpuList), _) => None,
            (Some(BindTo::Level(level)), _) | (None, Some(MapTarget::Level(level))) => Some(level),
            (None, None) if self.cpu_set.is_some() => Some(Level::HwThread),
            (None, _) => Some(self.element()),
        }
    }
}
