//! Prints a regular machine as a synthetic string.

use crate::facts::Cache;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::object::Object;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use oxmpi_text::Size;

/// Two objects of one level that differ, which is why no synthetic string describes the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Irregular {
    /// The first object of the level, as `Core L#0 P#0`.
    pub first: String,
    /// The object that differs from the first.
    pub other: String,
}

impl fmt::Display for Irregular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, other } = self;
        write!(
            f,
            "no synthetic string describes this machine: {other} differs from {first}"
        )
    }
}

impl core::error::Error for Irregular {}

pub(super) fn string(machine: &Machine) -> Result<String, Irregular> {
    let mut text = String::new();
    let nodes: Vec<_> = machine.objects(Kind::Numa).collect();
    let mut nodes_numbers = indexes(&nodes);
    let mut level = vec![machine.root()];
    loop {
        let first = level[0];
        if let Some(other) = level.iter().find(|other| !alike(first, **other)) {
            let (first, other) = (format!("{first}"), format!("{other}"));
            return Err(Irregular { first, other });
        }
        if first.kind() != Kind::Machine {
            text.push_str(&attributes(first, indexes(&level)));
        }
        for numa in first.memory() {
            text.push_str(" [numa");
            text.push_str(&attributes(numa, nodes_numbers.take()));
            text.push(']');
        }
        let arity = first.children().len();
        if arity == 0 {
            return Ok(text.trim_start().into());
        }
        level = level.iter().flat_map(|object| object.children()).collect();
        let holds_data =
            |cache: Cache| !cache.unified && !level[0].kind().holds_instructions_only();
        let letter = if level[0].cache().is_some_and(holds_data) {
            "d"
        } else {
            ""
        };
        text.push_str(&format!(" {}{letter}:{arity}", word(level[0].kind())));
    }
}

/// Whether both may be on one level: the same kind, size, and number of objects inside.
fn alike(a: Object<'_>, b: Object<'_>) -> bool {
    let memory = |object: Object<'_>| {
        object
            .memory()
            .map(|numa| numa.local_memory())
            .collect::<Vec<_>>()
    };
    let size = |object: Object<'_>| object.cache().map(|cache| (cache.size, cache.unified));
    a.kind() == b.kind()
        && size(a) == size(b)
        && memory(a) == memory(b)
        && a.children().len() == b.children().len()
}

/// The kind's word in hwloc's own strings.
fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Group => "group",
        Kind::Package => "package",
        Kind::Die => "die",
        Kind::Core => "core",
        Kind::Pu => "pu",
        Kind::L1i => "l1i",
        Kind::L2i => "l2i",
        Kind::L3i => "l3i",
        Kind::L1 => "l1",
        Kind::L2 => "l2",
        Kind::L3 => "l3",
        Kind::L4 => "l4",
        Kind::L5 => "l5",
        Kind::Machine | Kind::Numa => "numa",
    }
}

/// The numbers of these objects, if they differ from the default ones. Repeated numbers cannot be written.
fn indexes(objects: &[Object<'_>]) -> Option<String> {
    let numbers: Vec<u32> = objects.iter().filter_map(|object| object.os()).collect();
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() < numbers.len() || numbers.iter().copied().eq(0..numbers.len() as u32) {
        return None;
    }
    let list: Vec<String> = numbers.iter().map(|os| format!("{os}")).collect();
    Some(format!("indexes={}", list.join(",")))
}

/// The attributes in parentheses; empty if there are none.
fn attributes(object: Object<'_>, indexes: Option<String>) -> String {
    let size = object
        .cache()
        .map(|cache| format!("size={}", Size(cache.size)));
    let memory = object
        .local_memory()
        .map(|memory| format!("memory={}", Size(memory)));
    let parts: Vec<String> = size.into_iter().chain(memory).chain(indexes).collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("({})", parts.join(" ")),
    }
}
