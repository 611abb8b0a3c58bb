//! A recording reads as the machine it was made of, and keeps nothing that is nobody's business.

use oxmpi_testkit::folder::Folder;
use oxmpi_topo::linux::Recording;

use super::recorder::FilesRead;
use super::*;

fn file(text: &str) -> RecordEntry {
    RecordEntry::File(text.into())
}

/// A machine of two cores, with links as in /sys and lines that are not for everybody.
fn machine() -> BTreeMap<String, RecordEntry> {
    let cpu = "/sys/devices/system/cpu";
    let mut entries = BTreeMap::new();
    let mut put = |path: String, entry| drop(entries.insert(path, entry));
    put(format!("{cpu}/online"), file("0-1\n"));
    for n in 0..2 {
        let topology = format!("{cpu}/cpu{n}/topology");
        put(format!("{topology}/physical_package_id"), file("0\n"));
        put(format!("{topology}/core_id"), file(&format!("{n}\n")));
        put(
            format!("{topology}/core_cpus"),
            file(&format!("{}\n", n + 1)),
        );
        put(format!("{topology}/package_cpus"), file("3\n"));
        let cache = format!("{cpu}/cpu{n}/cache");
        put(format!("{cache}/uevent"), file(""));
        put(format!("{cache}/index0/type"), file("Unified\n"));
        put(format!("{cache}/index0/level"), file("2\n"));
        put(format!("{cache}/index0/size"), file("512K\n"));
    }
    let node = "/sys/devices/system/node";
    put(format!("{node}/online"), file("0\n"));
    put(format!("{node}/node0/cpumap"), file("3\n"));
    put(
        format!("{node}/node0/meminfo"),
        file("Node 0 MemTotal: 1024 kB\n"),
    );
    put(
        format!("{node}/node0/cpu0"),
        RecordEntry::Link("../../cpu/cpu0".into()),
    );
    let mounts = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n//host/share /mnt/someone cifs rw 0 0\n";
    put("/proc/mounts".into(), file(mounts));
    let status = "Name:\tsecret\nUid:\t1000\nCpus_allowed_list:\t0-1\n";
    put("/proc/self/status".into(), file(status));
    entries
}

#[test]
fn a_recording_is_the_machine() {
    let (from, to) = (Folder::fresh(), Folder::fresh());
    fill(&machine(), from.path()).unwrap();
    let (from, to) = (Root::new(from.path()), to.path());
    let entries = of_system(&from);
    store(&entries, to).unwrap();
    let expected = Machine::from_linux(&from).unwrap();
    assert_eq!(expected.online().len(), 2);
    assert_eq!(Machine::from_linux(&Root::new(to)).unwrap(), expected);
    assert_eq!(of_system(&Root::new(to)), entries, "recorded again");
}

/// A recording in memory, whose links are followed as a file system does.
struct Kept(BTreeMap<String, RecordEntry>);

/// The same by paths without links in them.
struct ByRealPath<'a>(&'a BTreeMap<String, RecordEntry>);

impl Kept {
    fn at(&self, path: &str) -> Option<(String, Option<&RecordEntry>)> {
        let real = FilesRead::default().follow(&ByRealPath(&self.0), path)?;
        let entry = self.0.get(&real);
        Some((real, entry))
    }
}

impl Files for ByRealPath<'_> {
    fn read(&self, _: &str) -> Option<String> {
        None
    }

    fn list(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn link(&self, path: &str) -> Option<String> {
        match self.0.get(path)? {
            RecordEntry::Link(target) => Some(target.clone()),
            _ => None,
        }
    }
}

impl Files for Kept {
    fn read(&self, path: &str) -> Option<String> {
        String::from_utf8(self.bytes(path, usize::MAX)?).ok()
    }

    fn list(&self, path: &str) -> Vec<String> {
        let Some((real, _)) = self.at(path) else {
            return Vec::new();
        };
        let below = format!("{real}/");
        let from = self.0.range(below.clone()..).map(|(path, _)| path);
        let rest = from.map_while(|path| path.strip_prefix(&below));
        let mut names: Vec<String> = rest
            .filter_map(|rest| rest.split('/').next().map(String::from))
            .collect();
        names.dedup();
        names
    }

    fn bytes(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        match self.at(path)?.1? {
            RecordEntry::File(content) => Some(content[..content.len().min(most)].into()),
            _ => None,
        }
    }

    fn link(&self, path: &str) -> Option<String> {
        let (directory, name) = path.rsplit_once('/')?;
        let real = recorder::join(&self.at(directory)?.0, name);
        ByRealPath(&self.0).link(&real)
    }
}

#[test]
fn records_of_recorded_machines_are_these_machines() {
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../topo/tests/machines");
    let mut count = 0;
    for entry in fs::read_dir(machines).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "files") {
            let files = Recording::parse(&fs::read_to_string(&path).unwrap()).unwrap();
            let kept = Kept(of_system(&files));
            let expected = Machine::from_linux(&files).unwrap();
            let read = Machine::from_linux(&kept).unwrap();
            let name = path.display();
            assert_eq!(without_serials(&read), without_serials(&expected), "{name}");
            assert_eq!(read.bound(), expected.bound(), "{name}");
            assert!(!read.to_xml().contains("SerialNumber"), "{name}");
            count += 1;
        }
    }
    assert_eq!(count, 29, "the recordings are gone");
}

/// All that XML tells of a machine but which one of its kind it is.
fn without_serials(machine: &Machine) -> String {
    let xml = machine.to_xml();
    let is_kept = |line: &&str| {
        ["SerialNumber", "UUID"]
            .iter()
            .all(|word| !line.contains(word))
    };
    xml.lines().filter(is_kept).collect()
}

#[test]
fn only_what_tells_of_the_machine_is_kept() {
    let from = Folder::fresh();
    fill(&machine(), from.path()).unwrap();
    let entries = of_system(&Root::new(from.path()));
    let kept = |path: &str| entries[path].clone();
    assert_eq!(kept("/proc/self/status"), file("Cpus_allowed_list:\t0-1\n"));
    assert_eq!(
        kept("/proc/mounts"),
        file("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n")
    );
    // Listed beside `index0`, but not read.
    let listed = "/sys/devices/system/cpu/cpu0/cache/uevent";
    assert_eq!(kept(listed), RecordEntry::Directory);
    let cpuinfo = b"processor\t: 0\nSerial\t\t: 00000000a1b2\nHardware\t: board\n";
    let kept = layout::kept("/proc/cpuinfo", cpuinfo);
    assert_eq!(kept, b"processor\t: 0\nHardware\t: board\n");
    let disk =
        b"S:disk/by-id/ata-QM3\nE:ID_MODEL=disk\nE:ID_SERIAL=disk_QM3\nE:ID_SERIAL_SHORT=QM3\n";
    let kept = layout::kept("/run/udev/data/b8:0", disk);
    assert_eq!(kept, b"E:ID_MODEL=disk\n");
    assert_eq!(
        layout::kept("/sys/bus/cxl/devices/mem0/serial", b"0x1\n"),
        b""
    );
}

#[test]
fn links_are_kept_and_what_is_behind_them() {
    let from = Folder::fresh();
    let device = "/sys/devices/pci0000:00/0000:00:03.0";
    let made = BTreeMap::from([
        (format!("{device}/net/eth0/speed"), file("10\n")),
        (
            format!("{device}/net/eth0/device"),
            RecordEntry::Link("../..".into()),
        ),
        (format!("{device}/class"), file("0x020000\n")),
        (
            "/sys/class/net/eth0".into(),
            RecordEntry::Link(format!("../..{}/net/eth0", &device[4..])),
        ),
        (
            "/sys/class/net/out".into(),
            RecordEntry::Link("../../../../out".into()),
        ),
        (
            "/sys/class/net/round".into(),
            RecordEntry::Link("round".into()),
        ),
        (
            "/sys/class/net/absolute".into(),
            RecordEntry::Link("/etc".into()),
        ),
    ]);
    fill(&made, from.path()).unwrap();
    let root = Root::new(from.path());
    let recorder = FileRecorder::new(&root);
    recorder.list("/sys/class/net");
    assert_eq!(recorder.read("/sys/class/net/eth0/speed").unwrap(), "10\n");
    assert_eq!(
        recorder.read("/sys/class/net/eth0/device/class").unwrap(),
        "0x020000\n"
    );
    assert_eq!(recorder.read("/sys/class/net/eth0/missing"), None);
    let entries = layout::entries(&recorder.seen());
    let mut expected = made;
    expected.insert("/sys/class/net/absolute".into(), RecordEntry::Directory);
    expected.insert("/sys/class/net".into(), RecordEntry::Directory);
    assert_eq!(entries, expected);
}

#[test]
fn a_directory_with_something_in_it_stays_as_it_is() {
    let folder = Folder::fresh();
    fs::write(folder.path().join("mine"), "").unwrap();
    let entries = BTreeMap::from([("/README".into(), file("text"))]);
    let refused = store(&entries, folder.path()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::DirectoryNotEmpty);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    let new = folder.path().join("new");
    store(&entries, &new).unwrap();
    assert_eq!(fs::read(new.join("README")).unwrap(), b"text");
    // Neither of the two that come from nowhere.
    for name in ["..", "missing/new"] {
        assert!(
            store(&entries, &folder.path().join(name)).is_err(),
            "{name}"
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}
