//! Text output is equal to that of lstopo 2.9, to the byte.
//!
//! `lstopo/NAME.txt` has the output of `lstopo-no-graphics` 2.9.0 for one machine. Its first line names the
//! machine: a synthetic string, or a recording under `machines/`. Then follow, for each call, a line `$` with
//! the options, and the output. `OXMPI_LSTOPO=DIR cargo test -p oxmpi-topo --test integration text::` also compares every
//! `DIR/*.txt`; machines are named there as for `Machine::from_input`.
#![cfg(all(feature = "std", feature = "xml"))]

use crate::listing::with_extension;
use crate::recording::recording;
use oxmpi_topo::cpuid::Dump;
use oxmpi_topo::linux::Root;
use oxmpi_topo::render::text::Numbers;
use oxmpi_topo::view::{Devices, Levels, View};
use oxmpi_topo::{Kind, Machine};
use std::path::Path;
use std::{env, fs};

/// The output of this crate for options of lstopo.
fn ours(machine: &Machine, options: &str) -> String {
    let (mut view, mut numbers) = (View::default(), Numbers::default());
    let (mut only, mut collapse) = (None, true);
    let mut words = options.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "-p" => numbers = Numbers::Physical,
            "-l" => numbers = Numbers::Logical,
            "--no-io" => view.devices = Devices::None,
            "--whole-io" => view.devices = Devices::All,
            "--merge" => view.levels = Levels::Structure,
            "--disallowed" => view.disallowed = true,
            "--no-collapse" => collapse = false,
            "--only" => only = words.next().map(|kind| kind.parse::<Kind>().unwrap()),
            "--distances" => return machine.view(&view).distances_text(numbers).to_string(),
            "--cpukinds" => return machine.view(&view).core_kinds_text().to_string(),
            _ => panic!("{word} is none of the options compared"),
        }
    }
    let view = machine.view(&view);
    let text = view.text().numbers(numbers);
    let text = only.map_or(text, |kind| text.only(kind));
    match collapse {
        true => text.to_string(),
        false => text.each_function().to_string(),
    }
}

fn machine(input: &str) -> Result<Machine, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(input);
    let text = || fs::read_to_string(&path).unwrap();
    let machine = match path.extension().and_then(|extension| extension.to_str()) {
        Some("files") => Machine::from_linux(&recording(&text())),
        Some("xml") => Machine::from_xml(&text()),
        _ if path.join("pu0").exists() => {
            let directory = path.to_str().unwrap();
            Dump::read(&Root::new("/"), directory).and_then(|dump| Machine::from_cpuid(&dump))
        }
        _ => return Machine::from_input(input).map_err(|error| error.to_string()),
    };
    machine.map_err(|error| error.to_string())
}

/// The calls whose outputs differ, each with the first line that does, and the number of calls.
fn differences(path: &Path) -> (Vec<String>, usize) {
    let expected = fs::read_to_string(path).unwrap();
    let (input, calls) = expected.split_once('\n').unwrap();
    let machine = match machine(input) {
        Ok(machine) => machine,
        Err(error) => return (vec![error], 1),
    };
    let calls: Vec<&str> = calls.split("$ ").skip(1).collect();
    let difference = |call: &&str| {
        let (options, theirs) = call.split_once('\n').unwrap();
        let ours = ours(&machine, options);
        let mut lines = theirs.lines().zip(ours.lines());
        let first = lines.find(|(theirs, ours)| theirs != ours);
        (ours != theirs).then(|| match first {
            Some((theirs, ours)) => format!("[{options}]\n  lstopo {theirs}\n  ours   {ours}"),
            None => format!("[{options}] lengths {} and {}", theirs.len(), ours.len()),
        })
    };
    (calls.iter().filter_map(difference).collect(), calls.len())
}

fn compare(directory: &Path) -> usize {
    let (mut compared, mut wrong) = (0, 0);
    for path in with_extension(directory, "txt") {
        let (differences, calls) = differences(&path);
        differences
            .iter()
            .for_each(|difference| println!("{}: {difference}", path.display()));
        compared += calls;
        wrong += differences.len();
    }
    println!("{}: {compared} texts, {wrong} differ", directory.display());
    assert_eq!(wrong, 0, "texts that differ");
    compared
}

#[test]
fn texts_are_those_of_lstopo() {
    let compared = compare(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lstopo"));
    assert!(compared >= 40, "the expected texts are gone");
}

#[test]
fn further_texts_are_those_of_lstopo() {
    if let Some(directory) = env::var_os("OXMPI_LSTOPO") {
        compare(Path::new(&directory));
    }
}

#[test]
fn names_from_outside_stay_on_their_line() {
    let files = recording(
        "/sys/devices/system/cpu\n online|0\n\
         /sys/bus/pci/devices/0000:00:03.0\n class|0x020000\n\
         /sys/class/net\n a\x1b[2J\u{202e} -> ../../devices/pci0000:00/0000:00:03.0/net/a\n",
    );
    let shown = Machine::from_linux(&files).unwrap().text().to_string();
    assert!(shown.contains("Net \"a\u{fffd}[2J\u{fffd}\"\n"), "{shown}");
}
