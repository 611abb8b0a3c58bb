//! Damaged recordings in directories: other things in place of files, circular links, FIFOs.
#![cfg(all(feature = "std", target_os = "linux"))]

use oxmpi_topo::linux::Root;
use oxmpi_topo::{Kind, Machine};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

/// A directory that is removed when its value is dropped.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("oxmpi-topo-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn machine(&self) -> Machine {
        let machine = Machine::from_linux(&Root::new(&self.0));
        machine.unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

#[test]
fn links_in_circles_are_missing_files() {
    let root = Directory::new("circles");
    root.write("sys/devices/system/cpu/online", "0-1\n");
    let cpu = root.0.join("sys/devices/system/cpu");
    symlink("cpu0", cpu.join("cpu1")).unwrap();
    symlink("cpu1", cpu.join("cpu0")).unwrap();
    fs::create_dir_all(root.0.join("sys/class/net")).unwrap();
    symlink("../net", root.0.join("sys/class/net/eth0")).unwrap();
    symlink("..", root.0.join("sys/class/block")).unwrap();
    fs::create_dir_all(root.0.join("sys/devices/system/node")).unwrap();
    symlink(".", root.0.join("sys/devices/system/node/node0")).unwrap();
    let machine = root.machine();
    assert_eq!(machine.objects(Kind::Pu).len(), 2);
    assert_eq!(machine.objects(Kind::Numa).len(), 1);
    assert_eq!(
        machine.devices().len(),
        1,
        "a device that is nowhere in particular"
    );
}

#[test]
fn directories_and_pipes_are_missing_files() {
    let root = Directory::new("pipes");
    root.write("sys/devices/system/cpu/online", "0-1\n");
    let topology = root.0.join("sys/devices/system/cpu/cpu0/topology");
    fs::create_dir_all(topology.join("package_cpus")).unwrap();
    let pipes = ["core_cpus", "die_cpus"].map(|name| topology.join(name));
    let made = Command::new("mkfifo").args(&pipes).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped the pipes: there is no mkfifo");
    }
    let machine = root.machine();
    // No topology can be read, so each processor is a core.
    assert_eq!(machine.objects(Kind::Core).len(), 2);
}

#[test]
fn long_files_are_cut() {
    let root = Directory::new("long");
    root.write("sys/devices/system/cpu/online", "0-1\n");
    for node in ["node0", "node1"] {
        let directory = format!("sys/devices/system/node/{node}");
        root.write(&format!("{directory}/distance"), &"10 ".repeat(1_000_000));
        root.write(&format!("{directory}/cpumap"), "3\n");
    }
    assert!(root.machine().distances().is_empty());
    root.write("sys/devices/system/cpu/online", &" ".repeat(5_000));
    assert_eq!(root.machine().online().len(), 1);
}

#[test]
fn what_is_written_to_a_file_is_read_whole() {
    let root = Directory::new("whole");
    // More than a page, as for the sets of large machines.
    let list = (0..2_000)
        .map(|cpu| (2 * cpu).to_string())
        .collect::<Vec<_>>();
    root.write("sys/devices/system/cpu/online", &list.join(","));
    assert_eq!(root.machine().online().len(), 2_000);
}
