use crate::cpuset::CpuSet;
use crate::kind::Kind;
use crate::machine::Machine;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use proptest::prelude::*;

type Tree = BTreeMap<String, String>;

/// Two packages of two cores with one thread, two caches and a node each.
fn small() -> Tree {
    let mut files = Tree::new();
    let mut add = |path: String, content: &str| files.insert(path, format!("{content}\n"));
    add("/sys/devices/system/cpu/online".into(), "0-3");
    add("/sys/devices/system/cpu/present".into(), "0-4");
    for cpu in 0..4 {
        let (package, set) = (cpu / 2, ["3", "c"][cpu / 2]);
        let own = format!("{:x}", 1 << cpu);
        let topology = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        add(format!("{topology}/package_cpus"), set);
        let package_id = format!("{topology}/physical_package_id");
        add(package_id, &package.to_string());
        add(format!("{topology}/core_cpus"), &own);
        add(format!("{topology}/core_id"), &(cpu % 2).to_string());
        for (index, level, kind, size, set) in [
            (0, 1, "Data", "32K", &*own),
            (1, 3, "Unified", "8192K", set),
        ] {
            let cache = format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
            add(format!("{cache}/level"), &level.to_string());
            add(format!("{cache}/type"), kind);
            add(format!("{cache}/size"), size);
            add(format!("{cache}/coherency_line_size"), "64");
            add(format!("{cache}/ways_of_associativity"), "8");
            add(format!("{cache}/shared_cpu_map"), set);
        }
    }
    for (node, set) in ["3", "c"].into_iter().enumerate() {
        let directory = format!("/sys/devices/system/node/node{node}");
        add(format!("{directory}/cpumap"), set);
        let memory = format!("Node {node} MemTotal:  1024 kB");
        add(format!("{directory}/meminfo"), &memory);
    }
    let status = "Name:\tx\nCpus_allowed_list:\t1-3";
    add("/proc/self/status".into(), status);
    files
}

fn counts(machine: &Machine) -> Vec<(Kind, usize)> {
    let counts = Kind::all().map(|kind| (kind, machine.objects(kind).len()));
    counts.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn reads_a_whole_machine() {
    let machine = Machine::from_linux(&small()).unwrap();
    let expected = [
        (Kind::Machine, 1),
        (Kind::Package, 2),
        (Kind::Numa, 2),
        (Kind::L3, 2),
        (Kind::L1, 4),
        (Kind::Core, 4),
        (Kind::Pu, 4),
    ];
    assert_eq!(counts(&machine), expected);
    assert_eq!(machine.offline(), &CpuSet::one(4));
    assert_eq!(machine.bound(), Some(&CpuSet::range(1, 4)));
    assert_eq!(machine.allowed(), machine.online());
    let l3 = machine.logical(Kind::L3, 1).unwrap().cache().unwrap();
    assert_eq!((l3.size, l3.unified), (8 << 20, true));
    assert_eq!((l3.line, l3.ways), (Some(64), Some(8)));
    let node = machine.pu(2).and_then(|pu| pu.nearest_numa()).unwrap();
    assert_eq!((node.os(), node.local_memory()), (Some(1), Some(1 << 20)));
    assert_eq!(machine.with_os(Kind::Core, 1).count(), 2);
}

#[test]
fn missing_files_are_missing_facts() {
    let without = |part: &str| {
        let mut files = small();
        files.retain(|path, _| !path.contains(part));
        counts(&Machine::from_linux(&files).unwrap())
    };
    assert!(!without("/cache/").iter().any(|(kind, _)| kind.is_cache()));
    let flat = without("/topology/");
    let [package, core] = [(Kind::Package, 1), (Kind::Core, 4)].map(|it| flat.contains(&it));
    assert!(package && core, "{flat:?}");
    assert!(without("/node/").contains(&(Kind::Numa, 1)));
    let nothing = Machine::from_linux(&Tree::new()).unwrap();
    assert_eq!(nothing.online(), &CpuSet::one(0));
    assert_eq!(nothing.bound(), None);
}

#[test]
fn memory_without_processors_goes_to_the_nearest() {
    let mut files = small();
    let mut add = |node: usize, name: &str, content: &str| {
        let path = format!("/sys/devices/system/node/node{node}/{name}");
        files.insert(path, content.to_string());
    };
    for node in 2..5 {
        add(node, "cpumap", "0");
        add(node, "meminfo", "MemTotal: 7 kB");
    }
    add(2, "distance", "20 15 10 30 30");
    add(3, "distance", "20 20 20 10 20");
    add(4, "meminfo", "MemTotal: 0 kB");
    let machine = Machine::from_linux(&files).unwrap();
    let nodes = machine.objects(Kind::Numa);
    let nodes: Vec<String> = nodes.map(|node| format!("{node:?}")).collect();
    let expected = [
        "NUMANode L#0 P#0 {0-1}",
        "NUMANode L#1 P#1 {2-3}",
        "NUMANode L#2 P#2 {2-3}",
        "NUMANode L#3 P#3 {}",
    ];
    assert_eq!(nodes, expected);
}

#[test]
fn control_groups_of_both_versions_limit() {
    let allowed = |files: &[(&str, &str)]| {
        let mut all = small();
        let owned = |(path, content): &(&str, &str)| (path.to_string(), content.to_string());
        all.extend(files.iter().map(owned));
        let machine = Machine::from_linux(&all).unwrap();
        format!("{} {}", machine.allowed(), machine.allowed_memory())
    };
    let v2 = [
        ("/proc/mounts", "none /sys/fs/cgroup cgroup2 rw 0 0"),
        ("/proc/self/cgroup", "0::/job/step"),
        ("/sys/fs/cgroup/job/cpuset.cpus.effective", "2-3\n"),
        ("/sys/fs/cgroup/job/cpuset.mems.effective", "1\n"),
    ];
    assert_eq!(allowed(&v2), "2-3 1");
    let v1 = [
        (
            "/proc/mounts",
            "none /cg/cpu cgroup rw,cpu 0 0\nnone /cg/cpuset cgroup rw,cpuset 0 0",
        ),
        ("/proc/self/cgroup", "4:cpu:/elsewhere\n3:cpuset:/job"),
        ("/cg/cpuset/job/cpuset.cpus", "0\n"),
        ("/cg/cpuset/job/cpuset.mems", "0-1\n"),
    ];
    assert_eq!(allowed(&v1), "0 0-1");
    let none = [("/proc/mounts", "none /cg/cpu cgroup rw,cpu 0 0")];
    assert_eq!(allowed(&none), "0-3 0-1");
}

#[test]
fn what_cannot_be_is_an_error_with_its_file() {
    for (path, content, expected) in [
        ("cpu/online", "0-", "numbers and ranges"),
        ("cpu/online", "0-99999", "processors up to 8191"),
        ("cpu/cpu1/topology/core_cpus", "zz", "hexadecimal"),
        (
            "cpu/cpu0/topology/physical_package_id",
            "x",
            "a whole number",
        ),
        ("cpu/cpu0/cache/index0/size", "32Q", "a size in bytes"),
        ("node/node1/meminfo", "MemTotal: many kB", "a number of kB"),
    ] {
        let mut files = small();
        let path = format!("/sys/devices/system/{path}");
        files.insert(path.clone(), content.to_string());
        let error = Machine::from_linux(&files).unwrap_err();
        assert_eq!(error.file(), Some(&*path));
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn what_overlaps_is_left_out_with_a_note() {
    let mut files = small();
    for cpu in 1..3 {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cache/index1/shared_cpu_map");
        files.insert(path, "6".to_string());
    }
    let machine = Machine::from_linux(&files).unwrap();
    let note = "L3Cache of processors 1-2 overlaps others and was left out";
    assert_eq!(machine.notes().collect::<Vec<_>>(), [note]);
}

proptest! {
    /// Whatever the files contain, the result is a machine or an error that names one of them.
    #[test]
    fn hostile_files_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[0-9a-f,\\-K]{0,6}|\\PC{0,8}"), 0..8),
    ) {
        let mut files = small();
        let paths: Vec<String> = files.keys().cloned().collect();
        for (path, content) in changes {
            files.insert(paths[path.index(paths.len())].clone(), content);
        }
        match Machine::from_linux(&files) {
            Ok(machine) => {
                let view = machine.default_view();
                prop_assert!(view.online().is_subset(machine.online()));
            }
            Err(error) => prop_assert!(paths.iter().any(|path| error.file() == Some(path))),
        }
    }
}
