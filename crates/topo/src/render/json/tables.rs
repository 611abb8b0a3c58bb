//! The JSON of distances and kinds of cores.

use super::{InfoJson, Shown, infos};
use crate::core_kind::CoreKind;
use crate::cpuset::CpuSet;
use crate::distances::{Distances, End, Measure};
use alloc::vec::Vec;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct DistancesJson<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'m str>,
    measure: &'static str,
    of_user: bool,
    ends: Vec<EndJson>,
    /// Row by row.
    values: Vec<&'m [u64]>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum EndJson {
    Object(u32),
    Device(u32),
}

#[derive(Serialize)]
pub(super) struct CoreKindJson<'m> {
    cpus: Shown<&'m CpuSet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_mhz: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_mhz: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    infos: Vec<InfoJson<'m>>,
}

impl<'m> DistancesJson<'m> {
    pub(super) fn of(matrix: &'m Distances) -> Self {
        let end = |end: &End| match end {
            End::Object(id) => EndJson::Object(id.0),
            End::Device(id) => EndJson::Device(id.0),
        };
        Self {
            name: matrix.name(),
            measure: match matrix.measure() {
                Measure::Latency => "latency",
                Measure::Bandwidth => "bandwidth",
                Measure::Unknown => "unknown",
            },
            of_user: matrix.is_of_user(),
            ends: matrix.ends().iter().map(end).collect(),
            values: (0..matrix.ends().len())
                .map(|row| matrix.row(row))
                .collect(),
        }
    }
}

impl<'m> CoreKindJson<'m> {
    pub(super) fn of(kind: &'m CoreKind) -> Self {
        Self {
            cpus: Shown(&kind.cpus),
            name: kind.name.as_deref(),
            rank: kind.rank,
            capacity: kind.capacity,
            base_mhz: kind.base_mhz,
            max_mhz: kind.max_mhz,
            infos: infos(&kind.infos),
        }
    }
}
