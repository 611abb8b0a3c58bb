use std::ffi::OsStr;

use oxmpi_testkit::folder::Folder;
use oxmpi_topo::{CpuSet, Machine};

use super::*;

/// What a rank on `cpus` of two sockets of two cores with two threads each gets from `NAME=VALUE` words.
fn exported(cpus: &str, given: &str) -> (String, usize) {
    let machine = Machine::from_synthetic("package:2 core:2 pu:2").unwrap();
    let cpus: CpuSet = cpus.parse().unwrap();
    let exports = of_rank(&machine, &cpus, |name| {
        let mut words = given.split(' ').filter_map(|word| word.split_once('='));
        words
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.into())
    });
    let words = exports
        .variables
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    (words.collect::<Vec<_>>().join(" "), exports.warnings.len())
}

#[test]
fn places_are_listed_for_runtimes_that_do_not_know_a_setting() {
    for (cpus, given, expected) in [
        (
            "0-3",
            "KMP_AFFINITY=granularity=fine,compact OMP_NUM_THREADS=3",
            "OMP_PLACES={0},{1},{2} OMP_PROC_BIND=close",
        ),
        (
            "4-7",
            "KMP_AFFINITY=scatter",
            "OMP_PLACES={4:2},{6:2},{4:2},{6:2} OMP_PROC_BIND=close",
        ),
        (
            "0-7",
            "OMP_PROC_BIND=close OMP_NUM_THREADS=2",
            "OMP_PLACES={0:2},{2:2}",
        ),
        (
            "0-3",
            "OMP_PLACES=cores OMP_NUM_THREADS=2",
            "OMP_PROC_BIND=spread",
        ),
        (
            "0-7",
            "KMP_HW_SUBSET=1t",
            "OMP_PLACES={0,2,4,6},{0,2,4,6},{0,2,4,6},{0,2,4,6} OMP_PROC_BIND=close OMP_NUM_THREADS=4",
        ),
        // Out of its mask a process of libgomp does not get.
        (
            "4-5",
            "KMP_AFFINITY=norespect,granularity=fine,compact OMP_NUM_THREADS=6",
            "OMP_PLACES={4:2},{4:2},{4:2},{4:2},{4},{5} OMP_PROC_BIND=close",
        ),
    ] {
        assert_eq!(exported(cpus, given), (expected.into(), 0), "{given}");
    }
}

#[test]
fn what_is_set_or_needs_nothing_stays() {
    for given in [
        "OMP_NUM_THREADS=2",
        "KMP_AFFINITY=none",
        "KMP_AFFINITY=disabled",
        "OMP_PROC_BIND=false",
        "GOMP_CPU_AFFINITY=0-3",
        "OMP_PLACES=cores OMP_PROC_BIND=close",
        "KMP_AFFINITY=compact OMP_PLACES=cores OMP_PROC_BIND=close",
        "KMP_AFFINITY=compact GOMP_CPU_AFFINITY=3",
        "KMP_HW_SUBSET=2t",
    ] {
        assert_eq!(exported("0-3", given), (String::new(), 0), "{given}");
    }
}

#[test]
fn a_setting_that_does_not_read_is_reported() {
    let (variables, warnings) = exported(
        "0-3",
        "KMP_AFFINITY=granularity=fine,compact,woof OMP_NUM_THREADS=1",
    );
    assert_eq!(
        (variables.as_str(), warnings),
        ("OMP_PLACES={0} OMP_PROC_BIND=close", 2)
    );
    assert_eq!(exported("0-3", "KMP_AFFINITY=woof"), (String::new(), 2));
    assert_eq!(exported("0-3", "KMP_HW_SUBSET=9z"), (String::new(), 2));
    // None of the processors is the rank's, so nothing follows from the list, which LLVM's runtime would say, too.
    let elsewhere = "KMP_AFFINITY=explicit,proclist=[7]";
    assert_eq!(exported("0-3", elsewhere), (String::new(), 2));
    let (variables, warnings) = exported("0-3", "KMP_AFFINITY=compact OMP_NUM_THREADS=65536");
    assert_eq!((variables.as_str(), warnings), ("", 1));
}

#[test]
fn libraries_of_a_program_are_read_from_its_file() {
    let this = std::env::current_exe().unwrap();
    let libraries = needed(&this).expect("a program of this system");
    assert!(
        libraries.iter().any(|name| name.starts_with("libc.")),
        "{libraries:?}"
    );
    assert_eq!(needed(std::path::Path::new("/proc/self/status")), None);
}

#[test]
fn what_is_no_file_is_not_read() {
    let folder = Folder::fresh();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|status| status.success()) {
        let (done, libraries) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(needed(&pipe)));
        let libraries = libraries.recv_timeout(std::time::Duration::from_secs(120));
        assert_eq!(libraries, Ok(None), "waited for a pipe");
    }
    assert_eq!(needed(folder.path()), None);
}

/// A job of one program with `NAME=VALUE` words for all ranks.
fn job(words: &[(&str, &[u8])]) -> Options {
    let variable = |(name, value): &(&str, &[u8])| {
        let value = std::os::unix::ffi::OsStrExt::from_bytes(value);
        ((*name).into(), OsStr::to_owned(value))
    };
    Options {
        programs: vec![Program {
            command: "./missing".into(),
            ..Program::default()
        }],
        env: words.iter().map(variable).collect(),
        ..Options::default()
    }
}

#[test]
fn threads_of_our_settings_reach_the_runtime() {
    let machine = Machine::from_synthetic("package:2 core:2 pu:2").unwrap();
    let cpus: CpuSet = "0-3".parse().unwrap();
    let of = |words: &[(&str, &[u8])], threads: Option<String>| {
        let ranks = [(0, &cpus)].into_iter();
        exports(&machine, &job(words), &[threads], ranks).remove(0)
    };
    let threads = ("OMP_NUM_THREADS", "2".to_owned());
    assert_eq!(
        of(&[], Some("2".to_owned())).variables,
        std::slice::from_ref(&threads)
    );
    assert_eq!(
        of(&[("OMP_NUM_THREADS", b"3")], Some("2".to_owned())).variables,
        []
    );
    let places = of(&[("KMP_AFFINITY", b"compact")], Some("2".to_owned())).variables;
    assert_eq!(
        places,
        [
            ("OMP_PLACES", "{0:2},{0:2}".to_owned()),
            ("OMP_PROC_BIND", "close".to_owned()),
            threads
        ]
    );
}

#[test]
fn a_value_that_is_no_text_is_not_replaced() {
    let machine = Machine::from_synthetic("package:2 core:2 pu:2").unwrap();
    let cpus: CpuSet = "0-3".parse().unwrap();
    let job = job(&[("KMP_AFFINITY", b"compact"), ("OMP_PLACES", b"\xff")]);
    let exports = exports(&machine, &job, &[], [(0, &cpus)].into_iter()).remove(0);
    let places = exports
        .variables
        .iter()
        .find(|(name, _)| *name == "OMP_PLACES");
    assert_eq!(places, None);
}
