//! Pictures of recorded machines; `docs/pictures` has the current output.
//!
//! `OXMPI_BLESS=1 cargo test -p oxmpi-topo --test integration svg::` writes those that differ: look at them before a
//! commit.
#![cfg(all(feature = "svg", feature = "xml"))]

use crate::listing::with_extension;
use crate::recording::recording;
use oxmpi_topo::render::svg::{Overlay, Palette, Style, SvgOptions};
use oxmpi_topo::{Kind, Machine};
use std::path::Path;
use std::{env, fs};

/// Two packages of four cores with two threads each.
const SMALL: &str = "package:2 [numa(memory=64GiB)] l3:1(size=32MiB) l2:4(size=1MiB) l1d:1(size=32KiB) \
                     l1i:1(size=32KiB) core:1 pu:2(indexes=core:package)";

/// Two packages with two NUMA nodes each.
const FOUR_NODES: &str = "package:2 group:2 [numa(memory=4GiB)] l3:1(size=16MiB) l2:2(size=512KiB) \
                          l1d:1(size=32KiB) l1i:1(size=32KiB) core:1 pu:2";

fn machine(text: &str) -> Machine {
    Machine::from_synthetic(text).unwrap_or_else(|error| panic!("{error}"))
}

fn titled(title: &str) -> SvgOptions {
    let mut options = SvgOptions::default();
    options.title.push(title.into());
    options
}

/// Two ranks with a package each, two threads of each on cores of their own.
fn ranks(machine: &Machine) -> SvgOptions {
    let mut options = titled("Two ranks with two threads each");
    options.palette = Palette::ColourBlind;
    for (rank, package) in machine.objects(Kind::Package).enumerate() {
        let rank_of = Overlay::new(format!("rank {rank}"), package.cpus().clone(), rank);
        options.overlays.push(rank_of);
        for (thread, core) in package.inside(Kind::Core).step_by(2).enumerate() {
            let (label, cpus) = (format!("rank {rank}, thread {thread}"), core.cpus());
            let class = 2 + thread;
            let domain = Overlay::new(label.clone(), cpus.clone(), class);
            options.overlays.push(domain.with_style(Style::Outline));
        }
    }
    options
}

#[test]
fn committed_pictures_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    if !folder.exists() {
        // In a copy of the crate alone, the repository's pictures are missing.
        return;
    }
    let (small, four_nodes) = (machine(SMALL), machine(FOUR_NODES));
    let devices = Machine::from_xml(include_str!("xml/24em64t-2n6c2t-pci.xml")).unwrap();
    let devices = devices.default_view();
    let with_devices = "2 packages x 6 cores x 2 threads with devices";
    let pictures = [
        ("2x4x2", &small, titled("2 packages x 4 cores x 2 threads")),
        ("2x4x2-ranks", &small, ranks(&small)),
        ("devices", &devices, titled(with_devices)),
        ("4-nodes", &four_nodes, titled("2 packages, 4 NUMA nodes")),
    ];
    let mut differ = Vec::new();
    for (name, machine, options) in pictures {
        let svg = machine.to_svg(&options);
        let path = folder.join(name).with_extension("svg");
        if fs::read_to_string(&path).is_ok_and(|committed| committed == svg) {
            continue;
        }
        if env::var_os("OXMPI_BLESS").is_some() {
            fs::write(&path, svg).unwrap();
        } else {
            differ.push(name);
        }
    }
    assert_eq!(
        differ, [""; 0],
        "run with OXMPI_BLESS=1 and look at the difference"
    );
}

/// Every processor is drawn once, whether it is online, allowed, or neither.
#[test]
fn recorded_machines_are_drawn_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let mut count = 0;
    for path in with_extension(&folder, "files") {
        let files = recording(&fs::read_to_string(&path).unwrap());
        let machine = Machine::from_linux(&files).unwrap();
        let svg = machine.to_svg(&SvgOptions::default());
        let document = roxmltree::Document::parse(&svg).unwrap();
        let titles = document
            .descendants()
            .filter(|node| node.has_tag_name("title"));
        let names = titles.filter_map(|node| node.text()?.lines().next());
        let mut drawn: Vec<usize> = names
            .filter(|name| name.starts_with("PU "))
            .filter_map(|name| name.rsplit_once("P#")?.1.parse().ok())
            .collect();
        drawn.sort_unstable();
        let all = machine.online() | machine.offline();
        assert_eq!(drawn, all.iter().collect::<Vec<_>>(), "{}", path.display());
        count += 1;
    }
    assert!(count >= 28, "recordings are gone");
}
