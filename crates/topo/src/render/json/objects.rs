//! The JSON of objects.

use super::{InfoJson, Shown, infos};
use crate::cpuset::CpuSet;
use crate::facts::Cache;
use crate::kind::Kind;
use crate::levels::Groups;
use crate::object::Object;
use alloc::vec::Vec;
use serde::Serialize;

/// The facts of an object that recorded machines list too, and no more, so that tests can compare the lists
/// directly.
#[derive(Serialize)]
pub(super) struct ObjectJson<'m> {
    #[serde(rename = "type")]
    kind: &'static str,
    cpus: Shown<&'m CpuSet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    os: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<u64>,
}

/// All other facts of an object.
#[derive(Serialize)]
pub(super) struct DetailsJson<'m> {
    logical: u32,
    /// The level of a group among the levels of groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subtype: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<CacheJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    side_caches: Vec<CacheJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    infos: Vec<InfoJson<'m>>,
}

#[derive(Serialize)]
struct CacheJson {
    /// The size of a memory-side cache; other caches have it in the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    unified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ways: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inclusive: Option<bool>,
}

impl<'m> ObjectJson<'m> {
    pub(super) fn of(object: Object<'m>) -> Self {
        let kind = object.kind();
        let is_numbered = !kind.is_cache() && kind != Kind::Group;
        Self {
            kind: kind.name(),
            cpus: Shown(object.cpus()),
            os: object.os().filter(|_| is_numbered),
            size: object.cache().map(|cache| cache.size),
            memory: (kind == Kind::Numa).then(|| object.local_memory().unwrap_or(0)),
        }
    }
}

impl<'m> DetailsJson<'m> {
    pub(super) fn of(object: Object<'m>, groups: &Groups) -> Self {
        let group = groups.number(object);
        let side_caches = object.side_caches().iter();
        Self {
            logical: group.map_or(object.logical(), |group| group.logical),
            level: group.map(|group| group.level),
            parent: object.parent().map(|parent| parent.id().0),
            subtype: object.subtype(),
            cache: object.cache().map(CacheJson::of),
            side_caches: side_caches.map(CacheJson::with_size).collect(),
            infos: infos(object.infos()),
        }
    }
}

impl CacheJson {
    fn of(cache: Cache) -> Self {
        Self {
            size: None,
            unified: cache.unified,
            line: cache.line,
            ways: cache.ways,
            inclusive: cache.inclusive,
        }
    }

    fn with_size(cache: &Cache) -> Self {
        Self {
            size: Some(cache.size),
            ..Self::of(*cache)
        }
    }
}
