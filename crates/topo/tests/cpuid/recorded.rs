//! Recorded processors give the same machine as in hwloc 2.9.
//!
//! `machines/NAME.cpuid` has the answers of a machine's processors, `machines/NAME.json` hwloc's machine.

use crate::hwlocs::{hwlocs, ours};
use crate::listing::with_extension;
use oxmpi_topo::cpuid::Dump;
use oxmpi_topo::{CoreKind, CpuSet, Kind, Machine, Source};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A difference between this crate and hwloc 2.9.
struct Exception {
    machine: &'static str,
    kinds: &'static [Differing],
    /// Why this crate is right.
    why: &'static str,
}

/// A kind whose objects differ, and the processors of each object here, in order.
struct Differing {
    kind: Kind,
    count: usize,
    cpus: fn(usize) -> CpuSet,
}

const EXCEPTIONS: [Exception; 3] = [
    Exception {
        machine: "Hygon-Dhyana-32cores",
        kinds: &[
            Differing {
                kind: Kind::Core,
                count: 32,
                cpus: |core| with_second_threads(core, 1, 32),
            },
            Differing {
                kind: Kind::L3,
                count: 8,
                cpus: |cache| with_second_threads(cache, 4, 32),
            },
        ],
        why: "Leaf 8000001Eh numbers cores inside each of the package's four nodes, so each number \
              comes four times. hwloc 2.9 takes the four cores of a number for one of eight \
              threads, finds that the L3 caches do not fit these, says that the information is \
              invalid, and leaves the caches out. We number cores by their APIC ids.",
    },
    Exception {
        machine: "AMD-19h-Zen4-2xEpyc-9654",
        kinds: &[Differing {
            kind: Kind::Die,
            count: 24,
            cpus: |die| with_second_threads(die, 8, 192),
        }],
        why: "Leaf 80000026h lists the twelve dies of each package. hwloc 2.9 does not ask for that \
              leaf; hwloc 3 does and shows the same dies.",
    },
    Exception {
        machine: "Zhaoxin-2xCentaurHauls-KaiSheng-KH-40000",
        kinds: &[Differing {
            kind: Kind::Die,
            count: 4,
            cpus: |die| CpuSet::range(16 * die, 16 * die + 16),
        }],
        why: "Leaf 1Fh lists the two dies of each package. hwloc 2.9 asks only Intel's processors \
              for that leaf; hwloc 3 asks these too and shows the same dies.",
    },
];

/// The `number`th `cores` cores, where the second threads of all cores are numbered from `second` on.
fn with_second_threads(number: usize, cores: usize, second: usize) -> CpuSet {
    let threads = |first: usize| CpuSet::range(first, first + cores);
    threads(number * cores) | threads(second + number * cores)
}

/// The files of a recording.
pub(crate) fn files(text: &str) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for line in text.lines() {
        let (cpus, rest) = line.split_once(": ").unwrap();
        let (question, answer) = rest.split_once(" => ").unwrap();
        let registers: Vec<Vec<&str>> = answer
            .split(' ')
            .map(|it| it.split(',').collect())
            .collect();
        for (at, cpu) in CpuSet::parse_list(cpus).unwrap().iter().enumerate() {
            let register = |values: &Vec<&str>| String::from(*values.get(at).unwrap_or(&values[0]));
            let values: Vec<String> = registers.iter().map(register).collect();
            let file = files.entry(format!("/pu{cpu}")).or_default();
            file.push_str(&format!("{question} => {}\n", values.join(" ")));
        }
    }
    files
}

/// The recordings by name.
pub(crate) fn recordings() -> Vec<(String, PathBuf)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpuid/machines");
    let name = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_string();
    let dumps = with_extension(&directory, "cpuid").into_iter();
    dumps.map(|path| (name(&path), path)).collect()
}

pub(crate) fn dump(path: &Path) -> Dump {
    let text = fs::read_to_string(path).unwrap();
    Dump::read(&files(&text), "/").unwrap_or_else(|error| panic!("{error}"))
}

/// All objects are as in hwloc, in the same order; kinds of an exception are as it says.
#[test]
fn recorded_machines_are_as_hwloc_sees_them() {
    let recordings = recordings();
    assert_eq!(recordings.len(), 23, "recordings are gone");
    for (name, path) in recordings {
        let machine = Machine::from_cpuid(&dump(&path)).unwrap_or_else(|error| panic!("{error}"));
        let mut ours = ours(&machine, &[Kind::Group]);
        let mut hwlocs = hwlocs(&fs::read_to_string(path.with_extension("json")).unwrap());
        if let Some(exception) = EXCEPTIONS.iter().find(|it| it.machine == name) {
            for Differing { kind, count, cpus } in exception.kinds {
                let found = machine.objects(*kind).map(|object| object.cpus().clone());
                let expected: Vec<CpuSet> = (0..*count).map(cpus).collect();
                assert_eq!(found.collect::<Vec<_>>(), expected, "{}", exception.why);
                let is_other = |line: &String| !line.starts_with(&format!("{kind} "));
                ours.retain(is_other);
                hwlocs.retain(is_other);
            }
            // Other levels around them change the order.
            ours.sort();
            hwlocs.sort();
        }
        for (ours, hwlocs) in ours.iter().zip(&hwlocs) {
            assert_eq!(ours, hwlocs, "{name}");
        }
        assert_eq!(ours.len(), hwlocs.len(), "{name}");
        assert_eq!(machine.notes().next(), None, "{name}");
        assert_eq!(machine.source(), Source::CpuidGlobal);
    }
}

/// The kinds of cores of each recording whose processors report them; all others have none.
#[test]
fn hybrid_processors_tell_the_kinds_of_their_cores() {
    let kinds_of = |name: &str| match name {
        "AMD-1Ah-Zen5StrixPoint-RyzenAI9HX370" => "efficiency 4-11,16-23; performance 0-3,12-15",
        "Intel-ArrowLake-CoreUltra5-225U" => "IntelAtom 4-13; IntelCore 0-3",
        "Intel-CPUID.1A-1p2co2t" => "IntelAtom 0-1; IntelCore 2-3",
        _ => "",
    };
    let mut described = 0;
    for (name, path) in recordings() {
        let machine = Machine::from_cpuid(&dump(&path)).unwrap();
        let kind = |kind: &CoreKind| format!("{} {}", kind.name.as_ref().unwrap(), kind.cpus);
        let kinds: Vec<String> = machine.core_kinds().iter().map(kind).collect();
        assert_eq!(kinds.join("; "), kinds_of(&name), "{name}");
        described += usize::from(!kinds.is_empty());
    }
    assert_eq!(described, 3);
}

#[test]
fn packages_have_the_names_of_their_processors() {
    for (name, path) in recordings() {
        let machine = Machine::from_cpuid(&dump(&path)).unwrap();
        for package in machine.objects(Kind::Package) {
            let info = |name| package.infos().iter().find(|info| info.name == name);
            let vendor = &info("CPUVendor").unwrap().value;
            let maker = match name.split('-').next() {
                Some("AMD") => "AuthenticAMD",
                Some("Hygon") => "HygonGenuine",
                Some("Intel") => "GenuineIntel",
                _ if name.contains("Shanghai") => "  Shanghai  ",
                _ => "CentaurHauls",
            };
            assert_eq!(vendor, maker, "{name}");
            assert!(info("CPUFamilyNumber").is_some(), "{name}");
            let model = info("CPUModel").map(|info| info.value.as_str());
            assert_eq!(model, model.map(str::trim), "{name}");
        }
    }
}
