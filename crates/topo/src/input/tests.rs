//! Arguments are recognised, and errors say what is expected.

use super::Form;
use crate::{Kind, Machine, Source};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

/// A directory that its test removes at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("oxmpi-input-{}-{number}", process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// The path of this directory, or of a file or directory in it.
    fn path(&self, name: &str) -> String {
        self.0
            .join(name)
            .to_str()
            .unwrap()
            .trim_end_matches('/')
            .into()
    }

    fn write(&self, name: &str, content: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Checks that the error about the machine in `input` begins with `start`.
#[track_caller]
fn assert_error(input: &str, start: &str) {
    let said = error(input);
    assert!(said.starts_with(start), "{said}");
}

fn error(input: &str) -> String {
    Machine::from_input(input).unwrap_err().to_string()
}

#[test]
fn directories_are_recognised_by_their_names() {
    for (names, form) in [
        (&["sys"][..], Some(Form::Recording)),
        (&["README", "proc", "sys"], Some(Form::Recording)),
        (&["pu0", "sys"], Some(Form::Recording)),
        (&["README", "pu12"], Some(Form::CpuidDumps)),
        (&["system", "process", "pu", "pull", "pu1x"], None),
        (&[], None),
    ] {
        assert_eq!(Form::of_directory(names.iter().copied()), form, "{names:?}");
    }
}

#[test]
fn a_recording_is_found_also_under_folders() {
    let folder = Folder::new();
    for below in ["", "name/", "name/of/it/all/"] {
        let inner = folder.path(&format!("{}x", below.len()));
        let online = format!("{}x/{below}sys/devices/system/cpu/online", below.len());
        folder.write(&online, "0-2\n");
        let machine = Machine::from_input(&inner).unwrap();
        assert_eq!(machine.source(), Source::Linux);
        assert_eq!(machine.objects(Kind::Pu).len(), 3, "{below}");
    }
    folder.write("deep/1/2/3/4/5/sys/file", "");
    folder.write("two/a/sys/file", "");
    folder.write("two/b/sys/file", "");
    folder.write("file/only", "");
    fs::create_dir(folder.path("empty")).unwrap();
    for name in ["deep", "two", "file", "empty"] {
        let path = folder.path(name);
        let expected =
            "expected a directory with `proc` and `sys` in it, or with `pu0`, `pu1` and so on";
        assert_eq!(error(&path), format!("{path}: {expected}"));
    }
}

#[test]
fn a_recording_may_be_one_text() {
    let folder = Folder::new();
    let text = "/sys/devices/system/cpu\n online|0-2\n";
    let machine = Machine::from_input(&folder.write("right", text)).unwrap();
    assert_eq!(machine.source(), Source::Linux);
    assert_eq!(machine.online().len(), 3);
    let wrong = folder.write("wrong", "/sys/devices/system/cpu\nonline\n");
    assert!(error(&wrong).starts_with(&format!("{wrong}:2: expected ")));
    let wrong = folder.write("content", "/sys/devices/system/cpu\n online|x\n");
    assert_error(
        &wrong,
        &format!("{wrong}:/sys/devices/system/cpu/online: expected "),
    );
}

#[test]
fn a_recording_in_one_text_takes_bounded_memory() {
    let directory = format!("/{}\n", "a".repeat(509));
    let refusal = |text: String| Machine::from_text(&text, "text").unwrap_err().to_string();
    assert!(Machine::from_text(&format!("{directory} b\n"), "text").is_ok());
    let said = refusal(format!("{directory} bc\n"));
    let expected = "text:2: expected a path of at most 512 bytes";
    assert!(said.starts_with(expected), "{said}");
    let names: String = (0..1 << 20).map(|name| format!(" {name}\n")).collect();
    let said = refusal(format!("/\n{names}"));
    let expected = "text:1048577: expected at most 1048576 files";
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn a_wrong_file_of_a_recording_is_named_with_its_directory() {
    let folder = Folder::new();
    let online = folder.write("name/sys/devices/system/cpu/online", "0-x\n");
    assert_error(&folder.path(""), &format!("{online}: expected "));
}

#[test]
fn cpuid_dumps_are_read() {
    let folder = Folder::new();
    // An APIC id for each, of a processor that knows nothing else.
    for (cpu, apic) in [(0, 0), (1, 1)] {
        let text = format!(
            "1 0 0 0 0 => 1 756e6547 6c65746e 49656e69\n1 1 0 0 0 => f20 {:x} 0 0\n",
            apic << 24 | 1 << 16
        );
        folder.write(&format!("name/pu{cpu}"), &text);
    }
    let machine = Machine::from_input(&folder.path("")).unwrap();
    assert_eq!(machine.source(), Source::CpuidGlobal);
    assert_eq!(machine.online().len(), 2);
    let wrong = folder.write("name/pu1", "1 0 0 0 0 => 1\n");
    assert_error(&folder.path("name"), &format!("{wrong}:1: expected "));
    // An error about several files has the directory's name.
    folder.write("name/pu1", "");
    assert_error(
        &folder.path("name"),
        &format!("{}: expected ", folder.path("name")),
    );
}

#[test]
fn what_does_not_exist_is_a_synthetic_string() {
    let machine = Machine::from_input("package:2 core:2 pu:1").unwrap();
    assert_eq!(machine.source(), Source::Synthetic);
    // Longer than a file name may be.
    let numbers: Vec<String> = (0..200).rev().map(|n: u32| n.to_string()).collect();
    let long = format!("pu:200(indexes={})", numbers.join(","));
    let machine = Machine::from_input(&long).unwrap();
    assert_eq!(machine.objects(Kind::Pu).len(), 200);

    let said = error("pakage:2 pu:2");
    let start = "pakage:2 pu:2: no file or directory, and no synthetic string: ";
    assert!(said.starts_with(start), "{said}");
    let end = "did you mean `package`?\n  pakage:2 pu:2\n  ^^^^^^";
    assert!(said.contains(end), "{said}");
    let said = error("no/such/machine.xml");
    assert!(said.contains("no synthetic string: expected "), "{said}");
}

#[cfg(feature = "xml")]
#[test]
fn xml_is_read_and_mistakes_have_their_line() {
    let folder = Folder::new();
    let machine = Machine::from_synthetic("package:2 core:2 pu:1").unwrap();
    let mut read = Machine::from_input(&folder.write("m.xml", &machine.to_xml())).unwrap();
    assert_eq!(read.source(), Source::Xml);
    read.source = Source::Synthetic;
    assert_eq!(read, machine);
    let wrong = folder.write("wrong", "<?xml version=\"1.0\"?>\n\n<topologie/>\n");
    assert_error(&wrong, &format!("{wrong}:3: "));
}

#[test]
fn a_file_may_hold_a_synthetic_string() {
    let folder = Folder::new();
    let path = folder.write("machine", "package:2 core:2 pu:1\n\n");
    let machine = Machine::from_input(&path).unwrap();
    assert_eq!(machine.objects(Kind::Package).len(), 2);
    let path = folder.write("other", "package:2 cor:2\n");
    assert_error(&path, &format!("{path}: expected "));
}

#[test]
fn texts_are_recognised_by_their_content() {
    use Form::{Cpuinfo, RecordingText, Synthetic, Xml};
    for (text, form) in [
        ("processor\t: 0\nphysical id\t: 0\n", Some(Cpuinfo)),
        ("vendor_id : IBM/S390\ncpu number : 0\n", Some(Cpuinfo)),
        ("processor:0", Some(Cpuinfo)),
        ("package:2 pu:2\n", Some(Synthetic)),
        ("<?xml version=\"1.0\"?>\nprocessor: 0\n", Some(Xml)),
        ("\u{feff}\n <topology>", Some(Xml)),
        ("/proc/cpuinfo\n|processor: 0\n", Some(RecordingText)),
        ("processors:2", Some(Synthetic)),
        ("a line\nand another\n", None),
        ("\u{1}\u{2}ELF", None),
        (" \n", None),
        ("", None),
    ] {
        assert_eq!(Form::of_text(text), form, "{text:?}");
    }
    let folder = Folder::new();
    let text = "processor: 0\nphysical id: 0\nprocessor: 1\nphysical id: 0\ncore id: 1\n";
    let machine = Machine::from_input(&folder.write("cpuinfo", text)).unwrap();
    assert_eq!(machine.source(), Source::Cpuinfo);
    assert_eq!(machine.objects(Kind::Core).len(), 2);
    let wrong = folder.write("wrong", "processor: 0\nphysical id: x\n");
    assert_error(&wrong, &format!("{wrong}:2: expected "));
    let strange = folder.write("strange", "one\ntwo\n");
    let neither =
        "expected hwloc XML, a recording, a cpuinfo file, or one line with a synthetic string";
    assert_eq!(error(&strange), format!("{strange}: {neither}"));
}

#[test]
fn texts_are_bounded() {
    let expected = "/dev/zero: longer than 64 MiB, the limit of a description of a machine";
    assert_eq!(error("/dev/zero"), expected);
}
