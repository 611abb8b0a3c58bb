//! Reading and writing of hwloc's XML. `README.md` beside this file describes the files and their sources.
//!
//! `OXMPI_XML=DIR cargo test -p oxmpi-topo --test integration xml::` also reads and writes all `DIR/*.xml`.
#![cfg(feature = "xml")]

mod attributes;
mod errors;
mod hostile;
mod lstopo;
mod model;
#[cfg(feature = "std")]
mod recorded;
#[cfg(feature = "std")]
use crate::listing::with_extension;
use oxmpi_topo::{CpuSet, Kind, Machine};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/xml")
}

/// The names of the files beside this one, without `.xml`.
fn names() -> Vec<String> {
    let names = names_in(&here());
    assert_eq!(names.len(), 11, "the files are gone: {names:?}");
    names
}

fn names_in(directory: &Path) -> Vec<String> {
    let name = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_string();
    let paths = with_extension(directory, "xml").into_iter();
    paths.map(name).collect()
}

fn text(name: &str) -> String {
    fs::read_to_string(here().join(format!("{name}.xml"))).unwrap()
}

fn machine(name: &str) -> Machine {
    Machine::from_xml(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[track_caller]
fn assert_comes_back(machine: &Machine) -> Machine {
    let written = machine.to_xml();
    let again = Machine::from_xml(&written).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(&again, machine, "{written}");
    assert_eq!(again.to_xml(), written);
    again
}

#[test]
fn files_come_back_equal() {
    for name in names() {
        let again = assert_comes_back(&machine(&name));
        assert_eq!(again.notes().collect::<Vec<_>>(), [""; 0], "{name}");
    }
}

#[test]
fn further_files_come_back_equal() {
    let Some(directory) = env::var_os("OXMPI_XML").map(PathBuf::from) else {
        return;
    };
    let names = names_in(&directory);
    assert_ne!(names, [""; 0]);
    for name in &names {
        println!("{name}");
        let text = fs::read_to_string(directory.join(format!("{name}.xml"))).unwrap();
        let machine = Machine::from_xml(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_comes_back(&machine);
    }
}

/// Random regular machines as synthetic strings: levels with sizes, NUMA nodes, and numbers in any order.
fn descriptions() -> impl Strategy<Value = String> {
    let words = [
        "group", "package", "die", "l3", "l2", "l1", "l1i", "core", "pu",
    ];
    let level = |word| {
        let count = if word == "pu" { 1..4usize } else { 0..3 };
        (Just(word), count, any::<u32>(), any::<bool>())
    };
    words.map(level).prop_map(|levels| {
        let mut text = String::new();
        for (word, count, size, has_memory) in levels {
            if count == 0 {
                continue;
            }
            write!(text, " {word}:{count}").unwrap();
            if word.starts_with('l') {
                write!(text, "(size={size})").unwrap();
            }
            if has_memory && !["l1i", "l1", "core", "pu"].contains(&word) {
                write!(text, " [numa(memory={size})]").unwrap();
            }
        }
        text
    })
}

proptest! {
    #[test]
    fn synthetic_machines_come_back_equal(text in descriptions(), kept in any::<[u64; 4]>()) {
        let machine = Machine::from_synthetic(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_comes_back(&machine);
        let kept: CpuSet = (0..256).filter(|cpu| kept[cpu / 64] >> (cpu % 64) & 1 == 1).collect();
        if kept.intersects(machine.online()) {
            assert_comes_back(&machine.restrict(&kept));
        }
    }

    #[test]
    fn texts_of_any_kind_come_back(value in "\\PC*|[\\t\\r\\n&<>\"' ]*") {
        let escaped = value.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let text = model::SMALL.replace("MODEL", &escaped);
        let machine = assert_comes_back(&Machine::from_xml(&text).unwrap());
        let package = machine.logical(Kind::Package, 0).unwrap();
        // A parser turns everything into blanks that is not written as a reference.
        let blanks = value.replace("\r\n", " ").replace(['\t', '\r', '\n'], " ");
        prop_assert_eq!(&package.infos()[0].value, &blanks);
    }
}
