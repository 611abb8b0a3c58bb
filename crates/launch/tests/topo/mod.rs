//! Tests of `oxmpi topo` as a command: streams, files and exit codes.

mod live;
mod recorded;

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use oxmpi_testkit::folder::Folder;

/// The sorted names of the entries of a folder.
fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

fn topo(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
    command.arg("topo").args(words).stdin(Stdio::null());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Standard output of `oxmpi topo`, which must succeed without a message.
fn shown(words: &[&str]) -> String {
    let output = topo(words);
    assert_eq!(text(&output.stderr), "", "{words:?}");
    assert_eq!(output.status.code(), Some(0), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Exit code and standard error of `oxmpi topo`, which must fail with one message.
fn refused(words: &[&str]) -> (i32, String) {
    let output = topo(words);
    assert_eq!(text(&output.stdout), "", "{words:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("oxmpi: "), "{words:?}: {said}");
    assert_eq!(said.matches("oxmpi: ").count(), 1, "{words:?}: {said}");
    (output.status.code().unwrap(), said)
}

#[test]
fn a_synthetic_machine_is_shown_in_every_format() {
    let machine = "package:2 l3:1 core:2 pu:1";
    assert_eq!(
        shown(&["-i", machine, "--restrict", "2-3"]),
        "Machine (1024MB total)\n  NUMANode L#0 (P#0 1024MB)\n  Package L#0 + L3 L#0 (16MB)\n    Core L#0 + PU L#0 (P#2)\n    Core L#1 + PU L#1 (P#3)\n"
    );
    assert_eq!(
        shown(&["-i", machine, "--only", "core", "-p"]),
        "Core P#0\nCore P#1\nCore P#2\nCore P#3\n"
    );
    assert_eq!(
        shown(&["-i", machine, "--of", "synthetic"]),
        "[numa(memory=1GiB)] package:2 l3:1(size=16MiB) core:2 pu:1\n"
    );
}

#[test]
fn written_files_read_back() {
    let folder = Folder::fresh();
    let machine = "package:2 [numa] l3:1 core:2 pu:2";
    let expected = shown(&["-i", machine]);
    for name in ["m.synthetic", "m.xml"] {
        let path = folder.at(name);
        assert_eq!(shown(&["-i", machine, &path]), "");
        assert_eq!(shown(&["-i", &path]), expected, "{name}");
    }
    // On standard input, too.
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
    command
        .args(["topo", "-i", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let xml = fs::read(folder.at("m.xml")).unwrap();
    child.stdin.take().unwrap().write_all(&xml).unwrap();
    assert_eq!(text(&child.wait_with_output().unwrap().stdout), expected);
}

#[test]
fn files_are_overwritten_only_with_force() {
    let folder = Folder::fresh();
    let path = folder.write("m.txt", "mine");
    let (code, said) = refused(&["-i", "pu:2", &path]);
    assert_eq!(
        (code, said),
        (1, format!("oxmpi: {path}: exists; --force overwrites it\n"))
    );
    assert_eq!(fs::read(&path).unwrap(), b"mine");

    assert_eq!(shown(&["-f", "-i", "pu:2", &path]), "");
    assert_eq!(fs::read_to_string(&path).unwrap(), shown(&["-i", "pu:2"]));

    let nowhere = folder.at("missing/m.txt");
    let (code, said) = refused(&["-i", "pu:2", &nowhere]);
    assert!(
        code == 1 && said.contains(&format!("{nowhere}: cannot be written: ")),
        "{said}"
    );
    // No synthetic string describes this machine, so no file is written.
    let lame = ["-i", "core:2 pu:2", "--restrict", "0-2", "-f"];
    let (code, said) = refused(&[&lame[..], &[&folder.at("lame.synthetic")]].concat());
    assert!(
        code == 1 && said.contains("no synthetic string describes this machine"),
        "{said}"
    );
    assert_eq!(names(&folder), ["m.txt"]);
}

#[test]
fn wrong_input_gives_one_message_with_its_position() {
    let folder = Folder::fresh();
    let recording = folder.write("recording/sys/devices/system/cpu/online", "0-x\n");
    let dump = folder.write("dump/pu0", "1 0 0 0 0 => 1 756e6547 6c65746e 49656e69\nx\n");
    let cpuinfo = folder.write("cpuinfo", "processor: 0\nphysical id: zero\n");
    let xml = folder.write(
        "m.xml",
        "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n  <object type=\"Maschine\"/>\n</topology>\n",
    );
    let cut = folder.write("cut.xml", "<topology version=\"2.0\">\n");
    let string = folder.write("m.synthetic", "package:2 pu:zwei\n");
    let strange = folder.write("strange", "\u{7f}ELF\n\n");
    let empty = folder.write("empty", "");
    fs::create_dir(folder.at("nothing")).unwrap();
    for (input, part) in [
        (folder.at("recording"), format!("{recording}: expected ")),
        (folder.at("dump"), format!("{dump}:2: expected ")),
        (cpuinfo.clone(), format!("{cpuinfo}:2: expected ")),
        (xml.clone(), format!("{xml}:3: ")),
        (cut.clone(), format!("{cut}:")),
        (string.clone(), format!("{string}: expected ")),
        (strange.clone(), format!("{strange}: expected hwloc XML, ")),
        (empty.clone(), format!("{empty}: expected hwloc XML, ")),
        (
            folder.at("nothing"),
            "expected a directory with `proc` and `sys` in it".into(),
        ),
        (
            folder.at("missing"),
            "no file or directory, and no synthetic string: expected ".into(),
        ),
        ("package:2 croe:2".into(), "did you mean `core`?\n".into()),
        ("pu:1099511627776".into(), "expected ".into()),
        ("/dev/zero".into(), "longer than 64 MiB".into()),
        ("-".into(), "standard input: expected hwloc XML, ".into()),
    ] {
        let (code, said) = refused(&["-i", &input]);
        assert!(code == 1 && said.contains(&part), "{input}: {said}");
    }
}

#[test]
fn a_wrong_command_line_gives_exit_code_2() {
    for words in [
        &["--onli", "core"][..],
        &["--format", "pdf"],
        &["machine.pdf"],
        &["--restrict", "x"],
        &["--source", "linux", "-i", "pu:2"],
    ] {
        let (code, said) = refused(words);
        assert!(
            code == 2 && said.contains("See `oxmpi topo --help`"),
            "{said}"
        );
    }
    let (code, said) = refused(&["-i", "pu:4", "--restrict", "7"]);
    assert_eq!(code, 1);
    assert!(
        said.contains("the machine has none of the processors 7; it has 0-3"),
        "{said}"
    );
    let (code, said) = refused(&["-i", "pu:4", "--restrict", "binding"]);
    assert!(
        code == 1 && said.contains("pu:4 does not record the mask"),
        "{said}"
    );
}

#[test]
fn quoted_input_has_no_control_characters() {
    let (code, said) = refused(&["-i", "a\x1b[2J\nb"]);
    assert_eq!(code, 1);
    assert!(said.starts_with("oxmpi: a\u{fffd}[2J\n"), "{said:?}");
    assert!(!said.contains('\x1b'), "{said:?}");
}

#[test]
fn a_full_standard_output_is_reported() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
    command.args(["topo", "-i", "pu:2"]).stdout(full.unwrap());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.starts_with("oxmpi: standard output: "), "{said}");
}
