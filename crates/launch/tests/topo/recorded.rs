//! Recorded machines in JSON, against what hwloc makes of them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::shown;

/// The objects that recorded machines tell of, without fields that only ours has.
fn objects(json: &str) -> Vec<Value> {
    let json: Value = serde_json::from_str(json).unwrap();
    let left_out = ["Group", "L2iCache", "L3iCache"];
    let objects = json["objects"].as_array().unwrap().iter();
    let kept = objects.filter(|object| left_out.iter().all(|kind| object["type"] != *kind));
    let known = |object: &Value| {
        let mut object = object.as_object().unwrap().clone();
        object.retain(|key, _| ["type", "cpus", "os", "size", "memory"].contains(&key.as_str()));
        Value::Object(object)
    };
    kept.map(known).collect()
}

#[test]
fn objects_of_recorded_machines_are_hwlocs() {
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
    assert!(count >= 12, "the recordings are gone");
}
