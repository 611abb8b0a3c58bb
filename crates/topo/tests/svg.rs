//! The pictures under `docs/pictures` are what the crate draws today.
//!
//! `OXMPI_BLESS=1 cargo test -p oxmpi-topo --test svg` writes those that differ: look at them before they are committed.
#![cfg(feature = "svg")]

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
        // The crate stands alone: the pictures are the repository's.
        return;
    }
    let (small, four_nodes) = (machine(SMALL), machine(FOUR_NODES));
    let pictures = [
        (
            "2x4x2",
            small.to_svg(&titled("2 packages x 4 cores x 2 threads")),
        ),
        ("2x4x2-ranks", small.to_svg(&ranks(&small))),
        (
            "4-nodes",
            four_nodes.to_svg(&titled("2 packages, 4 NUMA nodes")),
        ),
    ];
    let mut differ = Vec::new();
    for (name, svg) in pictures {
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
