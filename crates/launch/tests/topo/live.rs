//! Tests of `oxmpi topo` with each source of this machine.

use std::fs;
use std::process::Command;

use oxmpi_testkit::folder::Folder;
use serde_json::Value;

use super::{shown, text, topo};

/// Says that nothing was tested, and why.
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

/// Output of lstopo with `words`, without variables of hwloc; `None` unless lstopo has version 2.9, whose
/// format `oxmpi topo` prints.
fn lstopo(words: &[&str]) -> Option<String> {
    let run = |words: &[&str]| {
        let mut command = Command::new("lstopo-no-graphics");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HWLOC_") {
                command.env_remove(name);
            }
        }
        let output = command.args(words).output().ok()?;
        output
            .status
            .success()
            .then(|| text(&output.stdout).to_owned())
    };
    run(&["--version"]).filter(|version| version.trim_end().contains(" 2.9"))?;
    run(words)
}

/// Output of `oxmpi topo` and the result of `other`, repeated until the output is the same before and after:
/// the memory of a virtual machine may change while the tests run.
fn compare<T>(words: &[&str], other: impl Fn() -> T) -> (String, T) {
    loop {
        let ours = shown(words);
        let others = other();
        if shown(words) == ours {
            return (ours, others);
        }
    }
}

#[test]
fn text_output_is_that_of_lstopo() {
    for words in [
        &[][..],
        &["--no-io"],
        &["--no-io", "-p"],
        &["--no-io", "-l"],
        &["--merge", "--no-io"],
        &["--only", "core"],
        &["--restrict", "binding", "--no-io"],
        &["--distances"],
    ] {
        match compare(words, || lstopo(words)) {
            (ours, Some(lstopos)) => assert_eq!(ours, lstopos, "{words:?}"),
            (_, None) => return skip("no lstopo-no-graphics of version 2.9"),
        }
    }
}

/// The objects of some kinds in JSON: type, processors, and size of caches.
fn objects(json: &str) -> Vec<[Value; 3]> {
    let json: Value = serde_json::from_str(json).unwrap();
    let kinds = [
        "Package", "Core", "PU", "L1Cache", "L1iCache", "L2Cache", "L3Cache",
    ];
    let objects = json["objects"].as_array().unwrap().iter();
    let kept = objects.filter(|object| kinds.iter().any(|kind| object["type"] == *kind));
    kept.map(|object| ["type", "cpus", "size"].map(|key| object[key].clone()))
        .collect()
}

#[test]
fn cpuid_finds_the_objects_of_sysfs() {
    let output = topo(&["--source", "cpuid", "--format", "json"]);
    if !output.status.success() {
        return skip(text(&output.stderr));
    }
    let ours = objects(text(&output.stdout));
    let linux = objects(&shown(&[
        "--source",
        "linux",
        "--format",
        "json",
        "--restrict",
        "binding",
    ]));
    assert_eq!(ours, linux);
    // Where all cores are of one kind, `cpuid-local` finds the same objects.
    let kinds: Value = serde_json::from_slice(&output.stdout).unwrap();
    if kinds.get("core_kinds").is_none() {
        let local = topo(&["--source", "cpuid-local", "--format", "json"]);
        assert_eq!(objects(text(&local.stdout)).len(), ours.len());
    }
}

#[test]
fn a_recording_of_this_machine_has_the_same_objects() {
    // XML has the most details.
    let all = ["--all", "--format", "xml"];
    let (live, (_folder, directory, recorded)) = compare(&all, || {
        let folder = Folder::fresh();
        let directory = folder.at("new");
        let said = shown(&["--record", &directory]);
        let counted = " files in {}; check them before you pass them on\n";
        assert!(said.ends_with(&counted.replace("{}", &directory)), "{said}");
        let recorded = shown(&[&["-i", &directory], &all[..]].concat());
        (folder, directory, recorded)
    });
    // Recordings leave out serial numbers.
    let known = live
        .split_inclusive('\n')
        .filter(|line| !line.contains("SerialNumber"));
    assert_eq!(recorded, known.collect::<String>());
    let cpuid = topo(&["--source", "cpuid", "--of", "xml"]);
    if cpuid.status.success() {
        let dumps = format!("{directory}/cpuid");
        assert_eq!(shown(&["-i", &dumps, "--of", "xml"]), text(&cpuid.stdout));
    }
    let status = fs::read_to_string(format!("{directory}/proc/self/status")).unwrap();
    assert!(
        status.lines().all(|line| line.contains("_allowed")),
        "{status}"
    );

    let again = topo(&["--record", &directory]);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(
        text(&again.stderr),
        format!("oxmpi: {directory}: is not empty\n")
    );
}

#[test]
fn every_source_answers_or_prints_an_error() {
    for source in [
        "linux",
        "cpuid",
        "cpuid-local",
        "cpuinfo",
        "flat",
        "hwloc",
        "probe",
    ] {
        let output = topo(&["--source", source, "--only", "pu"]);
        let (shown, said) = (text(&output.stdout), text(&output.stderr));
        match output.status.code() {
            Some(0) => assert!(shown.starts_with("PU L#0 (P#"), "{source}: {shown}"),
            Some(1) => assert!(said.starts_with("oxmpi: "), "{source}: {said}"),
            other => panic!("{source}: {other:?}"),
        }
    }
    let flat = topo(&["--source", "flat", "--only", "pu"]);
    assert!(
        text(&flat.stderr).contains("assumed to be flat"),
        "{flat:?}"
    );
}
