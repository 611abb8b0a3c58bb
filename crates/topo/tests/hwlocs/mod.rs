//! Lines that compare a machine with a file of hwloc's objects.

use oxmpi_topo::{Kind, Machine, Object};
use serde_json::Value;

/// One line for each object of the default view, except those of `left_out`, in hwloc's words.
pub(crate) fn ours(machine: &Machine, left_out: &[Kind]) -> Vec<String> {
    let line = |object: Object<'_>| {
        // The expected files have no numbers of caches.
        let os = object.os().filter(|_| object.cache().is_none());
        let os = os.map_or(String::new(), |os| format!(" P#{os}"));
        let cache = object.cache();
        let size = cache.map_or(String::new(), |cache| format!(" size {}", cache.size));
        let memory = object.local_memory();
        let memory = memory.map_or(String::new(), |bytes| format!(" memory {bytes}"));
        format!("{} {{{}}}{os}{size}{memory}", object.kind(), object.cpus())
    };
    let view = machine.default_view();
    let objects = view
        .iter()
        .filter(|object| !left_out.contains(&object.kind()));
    objects.map(line).collect()
}

/// The objects of such a file, except groups.
pub(crate) fn hwlocs(json: &str) -> Vec<String> {
    let json: Value = serde_json::from_str(json).unwrap();
    let line = |object: &Value| {
        let number = |key, word| {
            let number = object.get(key);
            number.map_or(String::new(), |n| format!(" {word}{n}"))
        };
        let text = |key| object[key].as_str().unwrap();
        let numbers = [
            number("os", "P#"),
            number("size", "size "),
            number("memory", "memory "),
        ];
        format!("{} {{{}}}{}", text("type"), text("cpus"), numbers.concat())
    };
    let objects = json["objects"].as_array().unwrap();
    objects
        .iter()
        .filter(|object| object["type"] != "Group")
        .map(line)
        .collect()
}
