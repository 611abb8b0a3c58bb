//! Cpuid dumps: reading, writing, recording, and damaged ones.

use super::recorded::{dump, recordings};
use oxmpi_topo::Machine;
use oxmpi_topo::cpuid::{Cpuid, Dump};
use std::collections::BTreeMap;

fn files(all: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = |(name, text): &(&str, &str)| (format!("/dumps/{name}"), String::from(*text));
    all.iter().map(owned).collect()
}

#[test]
fn what_is_written_reads_back() {
    for (name, path) in recordings() {
        let dump = dump(&path);
        let written: BTreeMap<String, String> = dump
            .files()
            .map(|(name, text)| (format!("/{name}"), text))
            .collect();
        assert_eq!(written["/hwloc-cpuid-info"], "Architecture: x86\n");
        assert_eq!(written.len(), dump.processors().len() + 1);
        assert_eq!(Dump::read(&written, "/").as_ref(), Ok(&dump), "{name}");
    }
}

/// A recording contains every leaf that reading the machine needs.
#[test]
fn a_record_makes_the_same_machine() {
    for (name, path) in recordings() {
        let dump = dump(&path);
        let mut record = Dump::new();
        for cpu in &dump.processors() {
            // One recording is made up, and only its first processor has the highest leaf.
            let asked = |leaf: u32| if leaf & 0x7fff_ffff == 0 { 0 } else { cpu };
            let ask = |leaf, subleaf| dump.leaf(asked(leaf), leaf, subleaf);
            record.record(cpu, |leaf, subleaf| ask(leaf, subleaf).unwrap_or_default());
        }
        let machine = Machine::from_cpuid(&record).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Ok(machine), Machine::from_cpuid(&dump), "{name}");
    }
}

#[test]
fn a_leaf_with_subleaves_differs_from_one_without() {
    let text = "# comment\n1 1 0 0 0 => a b c d\n\n5 b 0 1 0 => 1 2 ffffffff 4  \n";
    let dump = Dump::read(&files(&[("pu3", text), ("notes", "?")]), "/dumps").unwrap();
    assert_eq!(dump.processors().to_string(), "3");
    assert_eq!(dump.leaf(3, 1, 7), Some([0xa, 0xb, 0xc, 0xd].into()));
    assert_eq!(dump.leaf(3, 0xb, 1), Some([1, 2, u32::MAX, 4].into()));
    assert_eq!(dump.leaf(3, 0xb, 0), None);
    assert_eq!(dump.leaf(0, 1, 0), None);
}

#[test]
fn damage_is_an_error_with_its_place() {
    let number = "a hexadecimal number of 32 bits";
    for (line, expected, at) in [
        ("x", number, 0),
        ("1 1 0 0 => 1 2 3 4", number, 8),
        ("5 b 0 0 0 => 1 2 3", number, 18),
        ("5 b 0 0 0 => 1 2 3 100000000", number, 19),
        ("5 b 0 0 0 = 1 2 3 4", "=> and the registers after", 11),
        (
            "5 b 0 0 0 => 1 2 3 4 5",
            "the end of the line behind four registers",
            21,
        ),
        (
            "3 b 0 0 0 => 1 2 3 4",
            "1 for a leaf, 5 for a leaf and subleaf",
            0,
        ),
        ("5 b 0 0 0 => 1 é 3 4", number, 15),
    ] {
        let text = format!("1 0 0 0 0 => 1 2 3 4\n{line}\n");
        let error = Dump::read(&files(&[("pu0", &text)]), "/dumps").unwrap_err();
        assert_eq!(error.file(), Some("/dumps/pu0"), "{line}");
        assert_eq!((error.line(), error.text()), (Some(2), line));
        assert_eq!(error.cause().expected.to_string(), expected, "{line}");
        assert_eq!(error.cause().span.start, at, "{line}");
        assert!(
            error.to_string().starts_with("/dumps/pu0:2: expected "),
            "{error}"
        );
    }
}

#[test]
fn a_directory_without_processors_is_an_error() {
    for names in [
        &["hwloc-cpuid-info"][..],
        &["pu", "pu01", "pux", "pu-1", "PU0"],
    ] {
        let files = files(&names.iter().map(|name| (*name, "")).collect::<Vec<_>>());
        let error = Dump::read(&files, "/dumps/").unwrap_err();
        assert_eq!(error.file(), Some("/dumps"));
        assert!(
            error.to_string().contains("expected files pu0, pu1"),
            "{error}"
        );
    }
    for name in ["pu8192", "pu99999999999999999999"] {
        let error = Dump::read(&files(&[(name, "")]), "/dumps").unwrap_err();
        assert!(
            error.to_string().contains("a file pu0 to pu8191"),
            "{error}"
        );
    }
}
