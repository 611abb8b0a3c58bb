//! JSON output follows the schema of recorded machines, and has further facts.
//!
//! `OXMPI_RECORDED=DIR cargo test -p oxmpi-topo --test integration json::` also compares every machine `DIR/NAME` with `DIR/NAME.json`.
#![cfg(all(feature = "std", feature = "json", feature = "xml"))]

use crate::listing::with_extension;
use crate::recording::recording;
use oxmpi_topo::cpuid::Dump;
use oxmpi_topo::linux::Root;
use oxmpi_topo::view::View;
use oxmpi_topo::{CpuSet, Machine};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn parsed(machine: &Machine) -> Value {
    serde_json::from_str(&machine.to_json("a machine")).unwrap()
}

/// Objects except kinds that the recorded machines leave out.
fn objects(json: &Value) -> Vec<&Value> {
    let objects = json["objects"].as_array().unwrap().iter();
    let kept =
        |object: &&Value| !["L2iCache", "L3iCache"].contains(&object["type"].as_str().unwrap());
    objects.filter(kept).collect()
}

/// The machines `NAME.json` in a directory whose objects, groups included, differ from those made by
/// `machine`, and the number of machines compared.
fn different(directory: &Path, machine: impl Fn(&Path) -> Option<Machine>) -> (Vec<String>, usize) {
    let (mut different, mut count) = (Vec::new(), 0);
    for path in with_extension(directory, "json") {
        let Some(machine) = machine(&path.with_extension("")) else {
            continue;
        };
        let expected: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        count += 1;
        if objects(&parsed(&machine.default_view())) != objects(&expected) {
            different.push(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    (different, count)
}

#[test]
fn recorded_machines_have_the_same_objects() {
    let machine = |path: &Path| {
        let files = fs::read_to_string(format!("{}.files", path.display())).ok()?;
        Some(Machine::from_linux(&recording(&files)).unwrap())
    };
    let (different, count) = different(&tests().join("machines"), machine);
    // hwloc makes groups of NUMA nodes with small distances there; groups here are those that the system
    // names.
    assert_eq!(different, ["16ia64-8n2s"]);
    assert_eq!(count, 29, "the recordings are gone");
}

#[test]
fn further_recorded_machines_have_the_same_objects() {
    let Some(directory) = env::var_os("OXMPI_RECORDED") else {
        return;
    };
    let machine = |path: &Path| match path.join("pu0").exists() {
        true => Machine::from_cpuid(&Dump::read(&Root::new("/"), path.to_str().unwrap()).unwrap()),
        false => Machine::from_linux(&Root::new(path)),
    };
    let (different, _) = different(Path::new(&directory), |path| Some(machine(path).unwrap()));
    assert_eq!(different, [""; 0]);
}

#[test]
fn fields_stand_in_their_order() {
    let machine =
        Machine::from_synthetic("[numa(memory=4KiB)] group:2 l2:2(size=1MiB) pu:1").unwrap();
    let expected = concat!(
        r#"{"format":"oxmpi-topo","version":1,"machine":"M","source":"synthetic","generator":"oxmpi-topo "#,
        env!("CARGO_PKG_VERSION"),
        r#"","objects":["#,
        r#"{"type":"Machine","cpus":"0-3"},"#,
        r#"{"type":"NUMANode","cpus":"0-3","os":0,"memory":4096},"#,
        r#"{"type":"Group","cpus":"0-1"},"#,
        r#"{"type":"L2Cache","cpus":"0","size":1048576},"#,
        r#"{"type":"PU","cpus":"0","os":0},"#,
    );
    let json = machine.to_json("M");
    assert!(json.starts_with(expected), "{json}");
    let details = concat!(
        r#""details":[{"logical":0},{"logical":0,"parent":0},{"logical":0,"level":0,"parent":0},"#,
        r#"{"logical":0,"parent":2,"cache":{"unified":true}},{"logical":0,"parent":3},"#,
    );
    assert!(json.contains(details), "{json}");
    assert!(
        json.ends_with(r#""offline":"","allowed":"0-3","allowed_memory":"0"}"#),
        "{json}"
    );
}

#[test]
fn names_of_machines_are_escaped() {
    let json = Machine::from_synthetic("pu:1")
        .unwrap()
        .to_json("a \"name\"\n");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["machine"], "a \"name\"\n");
}

fn xml(name: &str) -> Machine {
    let path = tests().join("xml").join(name).with_extension("xml");
    Machine::from_xml(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn devices_name_their_places() {
    let json = parsed(&xml("power8gpudistances"));
    let devices = json["devices"].as_array().unwrap();
    let gpu = devices.iter().position(|one| one["name"] == "cuda0");
    let parent = |device: usize| Some(devices[device]["parent"].as_u64()? as usize);
    let function = parent(gpu.unwrap()).unwrap();
    assert_eq!(devices[function]["pci"]["address"], "0002:01:00.0");
    assert_eq!(devices[function]["pci"]["class_name"], "3D");
    let bridge = parent(function).unwrap();
    let buses = json!({"domain": 2, "first": 1, "last": 1});
    assert_eq!(devices[bridge]["buses"], buses);
    let host = parent(bridge).unwrap();
    assert_eq!(devices[host]["type"], "HostBridge");
    assert_eq!(parent(host), None);
    let near = devices[host]["near"].as_u64().unwrap() as usize;
    assert_eq!(json["objects"][near]["type"], "Package");
    assert_eq!(json["objects"][near]["os"], 0);
}

#[test]
fn matrices_name_their_ends() {
    let machine = xml("power8gpudistances");
    let json = parsed(&machine);
    let matrix = &json["distances"][1];
    assert_eq!(matrix["name"], "NVLinkBandwidth");
    assert_eq!(matrix["measure"], "bandwidth");
    let end = |at: usize| &matrix["ends"][at];
    let device = end(0)["device"].as_u64().unwrap() as usize;
    assert_eq!(json["devices"][device]["name"], "nvml0");
    let object = end(4)["object"].as_u64().unwrap() as usize;
    assert_eq!(json["objects"][object]["type"], "Package");
    assert_eq!(matrix["values"][0], json!([1000000, 40000, 0, 0, 40000, 0]));
}

#[test]
fn kinds_of_cores_and_what_is_not_allowed() {
    let json = parsed(&xml("fakecpukinds"));
    let kinds = json["core_kinds"].as_array().unwrap();
    let kind = kinds.iter().find(|kind| kind["name"] == "IntelCore");
    let kind = kind.unwrap();
    assert_eq!(kind["cpus"], "3");
    assert_eq!(kind["max_mhz"], 2000);

    let text = fs::read_to_string(tests().join("machines/32amd64-4s2n4c-cgroup2.files")).unwrap();
    let machine = Machine::from_linux(&recording(&text)).unwrap();
    let all = parsed(&machine.view(&View::EVERYTHING));
    let cpus: CpuSet = all["allowed"].as_str().unwrap().parse().unwrap();
    assert_eq!(&cpus, machine.allowed());
    assert_ne!(all["objects"][0]["cpus"], all["allowed"]);
    let view = parsed(&machine.default_view());
    assert_eq!(view["objects"][0]["cpus"], all["allowed"]);
}
