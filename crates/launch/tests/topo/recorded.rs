//! Tests of recorded machines in JSON, compared with the output of hwloc.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::shown;

/// The objects in JSON, without the kinds that recorded machines leave out.
fn objects(json: &str) -> Vec<Value> {
    let mut json: Value = serde_json::from_str(json).unwrap();
    let left_out = ["Group", "L2iCache", "L3iCache"];
    let objects = json["objects"].as_array_mut().unwrap();
    objects.retain(|object| left_out.iter().all(|kind| object["type"] != *kind));
    std::mem::take(objects)
}

#[test]
fn objects_of_recorded_machines_are_those_of_hwloc() {
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../topo/tests/machines");
    let mut count = 0;
    for entry in fs::read_dir(machines).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "files") {
            let ours = shown(&["--format", "json", "--input", path.to_str().unwrap()]);
            let hwlocs = fs::read_to_string(path.with_extension("json")).unwrap();
            assert_eq!(objects(&ours), objects(&hwlocs), "{}", path.display());
            count += 1;
        }
    }
    assert_eq!(count, 29, "the recordings are gone");
}
