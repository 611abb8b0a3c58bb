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

/// The NUMA nodes of a machine with these lists of processors for node 0, 1, ..., and its notes.
fn nodes(maps: &[&str], change: impl FnOnce(&mut Tree)) -> (Vec<String>, Vec<String>) {
    let mut files = small();
    for (node, map) in maps.iter().enumerate() {
        let directory = format!("/sys/devices/system/node/node{node}");
        files.insert(format!("{directory}/cpumap"), map.to_string());
        let memory = String::from("MemTotal: 7 kB");
        files.insert(format!("{directory}/meminfo"), memory);
    }
    change(&mut files);
    let machine = Machine::from_linux(&files).unwrap();
    let nodes = machine.objects(Kind::Numa);
    let nodes = nodes.map(|node| format!("{} {}", node.os().unwrap(), node.cpus()));
    (nodes.collect(), machine.notes().map(String::from).collect())
}

#[test]
fn a_node_with_processors_of_an_earlier_one_is_left_out_with_one_note() {
    let note = |left_out| {
        format!(
            "the firmware gives NUMA nodes {left_out} processors of earlier nodes: these nodes were left out"
        )
    };
    for (maps, expected, left_out) in [
        (&["3", "c"][..], &["0 0-1", "1 2-3"][..], ""),
        (&["3", "6", "c"], &["0 0-1", "2 2-3"], "1"),
        (&["3", "3", "c", "c"], &["0 0-1", "2 2-3"], "1,3"),
        (&["f", "f", "f"], &["0 0-3"], "1-2"),
        (&["1", "6", "c"], &["0 0", "1 1-2"], "2"),
    ] {
        // Packages that nodes cut would be another contradiction.
        let (found, notes) = nodes(maps, |files| {
            files.retain(|path, _| !path.contains("package") && !path.contains("/cache/"));
        });
        let expected_notes: Vec<String> = match left_out {
            "" => Vec::new(),
            left_out => [note(left_out)].into(),
        };
        assert_eq!(
            (found, notes),
            (
                expected.iter().map(|node| node.to_string()).collect(),
                expected_notes
            )
        );
    }
}

#[test]
fn nodes_without_memory_are_nodes_if_they_have_processors() {
    let (found, notes) = nodes(&["1", "2", "c", "0"], |files| {
        for node in [1, 3] {
            let path = format!("/sys/devices/system/node/node{node}/meminfo");
            files.insert(path, "MemTotal: 0 kB".into());
        }
        for (path, content) in [
            ("/proc/mounts", "none /cg cgroup2 rw 0 0"),
            ("/proc/self/cgroup", "0::/"),
            ("/cg/cpuset.cpus.effective", "0-3"),
            ("/cg/cpuset.mems.effective", "0,2"),
        ] {
            files.insert(path.into(), content.into());
        }
        let machine = Machine::from_linux(files).unwrap().default_view();
        // Control groups name no node without memory.
        assert_eq!(machine.objects(Kind::Numa).len(), 3);
    });
    assert_eq!(
        (found, notes),
        (["0 0", "1 1", "2 2-3"].map(String::from).into(), Vec::new())
    );
}

#[test]
fn nodes_that_cut_packages_keep_their_own_processors() {
    let mut files = small();
    for (node, map) in ["9", "6"].into_iter().enumerate() {
        let path = format!("/sys/devices/system/node/node{node}/cpumap");
        files.insert(path, map.to_string());
    }
    let machine = Machine::from_linux(&files).unwrap();
    let node = |cpu| machine.pu(cpu)?.nearest_numa()?.os();
    let near: Vec<_> = (0..4).map(node).collect();
    assert_eq!(near, [0, 1, 1, 0].map(Some));
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
