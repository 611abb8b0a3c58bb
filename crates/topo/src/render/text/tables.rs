//! Prints matrices of distances and kinds of cores, as lstopo's `--distances` and `--cpukinds` do.

use super::Numbers;
use crate::core_kind::CoreKind;
use crate::distances::{Distances, End, Measure};
use crate::facts::devices::DeviceKind;
use crate::levels::Groups;
use crate::machine::Machine;
use crate::object::Object;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Formatter};
use oxmpi_text::Printable;

/// The matrices of distances as text; made by [`Machine::distances_text`].
#[derive(Clone, Copy, Debug)]
pub struct DistancesText<'m> {
    machine: &'m Machine,
    numbers: Numbers,
}

/// The kinds of cores as text; made by [`Machine::core_kinds_text`].
#[derive(Clone, Copy, Debug)]
pub struct CoreKindsText<'m> {
    machine: &'m Machine,
}

impl Machine {
    /// All [matrices of distances](Self::distances), each under a line that describes it; empty if there are
    /// none.
    /// [`Numbers::Both`] is the same as [`Numbers::Logical`] here.
    pub fn distances_text(&self, numbers: Numbers) -> DistancesText<'_> {
        DistancesText {
            machine: self,
            numbers,
        }
    }

    /// The [kinds of cores](Self::core_kinds), from the weakest to the strongest, with a line for each fact;
    /// empty if the source does not report kinds. The efficiency, lstopo's word, is the index in this order,
    /// by rank, capacity and frequencies, and -1 if these do not decide which is stronger.
    pub fn core_kinds_text(&self) -> CoreKindsText<'_> {
        CoreKindsText { machine: self }
    }
}

impl fmt::Display for DistancesText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let groups = Groups::of(self.machine);
        self.machine
            .distances()
            .iter()
            .try_for_each(|matrix| self.matrix(f, matrix, &groups))
    }
}

impl DistancesText<'_> {
    fn matrix(&self, f: &mut Formatter<'_>, matrix: &Distances, groups: &Groups) -> fmt::Result {
        let types: Vec<&str> = matrix
            .ends()
            .iter()
            .map(|end| self.type_name(*end))
            .collect();
        let is_mixed = types.windows(2).any(|pair| pair[0] != pair[1]);
        let (meaning, bit) = match matrix.measure() {
            Measure::Latency => ("latency", 4),
            Measure::Bandwidth => ("bandwidth", 8),
            Measure::Unknown => ("distance", 0),
        };
        let bits = bit + if matrix.is_of_user() { 2 } else { 1 } + if is_mixed { 16 } else { 0 };
        let name = Printable(matrix.name().unwrap_or("(null)"));
        let count = matrix.ends().len();
        write!(
            f,
            "Relative {meaning} matrix (name {name} kind {bits}) between {count} "
        )?;
        match (is_mixed, matrix.ends().first()) {
            (false, Some(first)) => write!(f, "{}s (depth {})", types[0], self.depth(*first))?,
            _ => f.write_str("heterogeneous objects")?,
        }
        let numbers = match self.numbers {
            Numbers::Both | Numbers::Logical => "logical",
            Numbers::Physical => "physical",
        };
        writeln!(f, " by {numbers} indexes:")?;

        let ends = matrix.ends().iter();
        let heads: Vec<String> = ends.map(|end| self.head(*end, is_mixed, groups)).collect();
        let rows = (0..count).map(|row| matrix.row(row));
        let values = rows.clone().flatten().map(|value| value.to_string().len());
        let lengths = heads.iter().map(String::len).chain(values);
        let width = lengths.fold("index".len(), usize::max);
        write!(f, " {:>width$}", "index")?;
        heads
            .iter()
            .try_for_each(|head| write!(f, " {head:>width$}"))?;
        writeln!(f)?;
        for (head, row) in heads.iter().zip(rows) {
            write!(f, " {head:>width$}")?;
            row.iter()
                .try_for_each(|value| write!(f, " {value:>width$}"))?;
            writeln!(f)?;
        }
        Ok(())
    }

    fn type_name(&self, end: End) -> &'static str {
        match end {
            End::Object(id) => self.machine.object(id).kind().name(),
            End::Device(id) => match self.machine.device(id).kind() {
                DeviceKind::HostBridge | DeviceKind::PciBridge => "Bridge",
                DeviceKind::Pci => "PCIDev",
                _ => "OSDev",
            },
        }
    }

    /// The depth of the end's level; hwloc has negative depths for objects on no level.
    fn depth(&self, end: End) -> isize {
        match end {
            End::Object(id) => {
                let object = self.machine.object(id);
                let levels = self.machine.levels();
                let own = levels.iter().position(|level| level.contains(&object));
                own.map_or(-3, |depth| depth as isize)
            }
            End::Device(id) => match self.machine.device(id).kind() {
                DeviceKind::HostBridge | DeviceKind::PciBridge => -4,
                DeviceKind::Pci => -5,
                _ => -6,
            },
        }
    }

    /// The label of an end's column and row.
    fn head(&self, end: End, is_mixed: bool, groups: &Groups) -> String {
        match end {
            End::Object(id) => {
                let object = self.machine.object(id);
                let number = self.number(object, groups);
                match is_mixed {
                    true => format!("{}:{number}", object.kind()),
                    false => number,
                }
            }
            End::Device(id) => {
                let device = self.machine.device(id);
                let address = || device.pci().map(|pci| pci.address.to_string());
                device
                    .name()
                    .map(|name| Printable(name).to_string())
                    .or_else(address)
                    .unwrap_or_default()
            }
        }
    }

    fn number(&self, object: Object<'_>, groups: &Groups) -> String {
        let logical = groups
            .number(object)
            .map_or(object.logical(), |group| group.logical);
        match self.numbers {
            Numbers::Both | Numbers::Logical => logical.to_string(),
            Numbers::Physical => object.os().map_or("-1".into(), |os| os.to_string()),
        }
    }
}

impl fmt::Display for CoreKindsText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let strength = |kind: &CoreKind| (kind.rank, kind.capacity, kind.max_mhz, kind.base_mhz);
        let mut kinds: Vec<&CoreKind> = self.machine.core_kinds().iter().collect();
        kinds.sort_by_key(|kind| strength(kind));
        let is_ranked = kinds
            .windows(2)
            .all(|pair| strength(pair[0]) < strength(pair[1]));
        for (number, kind) in kinds.into_iter().enumerate() {
            write!(f, "CPU kind #{number} efficiency ")?;
            match is_ranked {
                true => write!(f, "{number}")?,
                false => f.write_str("-1")?,
            }
            writeln!(f, " cpuset {:#}", kind.cpus.mask())?;
            let text = |name, value: Option<u32>| Some((name, value?.to_string()));
            let known = [
                kind.name.clone().map(|name| ("CoreType", name)),
                text("FrequencyMaxMHz", kind.max_mhz),
                text("FrequencyBaseMHz", kind.base_mhz),
                text("LinuxCapacity", kind.capacity),
            ];
            for (name, value) in known.into_iter().flatten() {
                writeln!(f, "  {name} = {}", Printable(&value))?;
            }
            for info in &kind.infos {
                writeln!(
                    f,
                    "  {} = {}",
                    Printable(&info.name),
                    Printable(&info.value)
                )?;
            }
        }
        Ok(())
    }
}
