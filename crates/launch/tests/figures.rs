//! Tests that `docs/pictures` is up to date: the figures of Intel's Developer Reference for Linux,
//! "Interoperability with OpenMP API", drawn by the pinning rules of oxmpi, and one hybrid job.
//!
//! `OXMPI_BLESS=1 cargo test -p oxmpi-launch --test integration figures::` writes the pictures that differ; check them
//! before the commit.

use std::path::Path;
use std::{env, fs};

use oxmpi_pin::openmp::{self, Dialect};
use oxmpi_pin::{Compat, Settings, place};
use oxmpi_topo::Machine;
use oxmpi_topo::render::svg::{Overlay, Palette, Style, SvgOptions};

/// Figure 2: two sockets of four cores, pairs of which share a cache.
const MODEL_NODE: &str =
    "package:2 [numa(memory=16GiB)] l3:1 l2:2 core:2 pu:1(indexes=0,4,1,5,2,6,3,7)";
/// Two sockets of four cores with two threads.
const HYBRID_NODE: &str = "package:2 [numa(memory=16GiB)] l3:1 l2:4 core:1 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)";

/// A figure: name, ranks, variables, and whether the document still shows where ranks run.
type Figure = (
    &'static str,
    u32,
    &'static [(&'static str, &'static str)],
    bool,
);

const DOMAIN: &str = "I_MPI_PIN_DOMAIN";
const ORDER: &str = "I_MPI_PIN_ORDER";

const FIGURES: [Figure; 10] = [
    ("figure-3", 2, &[(DOMAIN, "socket")], true),
    ("figure-4", 4, &[(DOMAIN, "cache2")], true),
    ("figure-5", 2, &[(DOMAIN, "4:platform")], true),
    ("figure-6", 4, &[(DOMAIN, "auto:scatter")], true),
    (
        "figure-7",
        4,
        &[("OMP_NUM_THREADS", "2"), (DOMAIN, "omp:platform")],
        true,
    ),
    ("figure-8", 2, &[(DOMAIN, "[55,aa]")], true),
    ("figure-9", 4, &[(DOMAIN, "2"), (ORDER, "compact")], false),
    ("figure-10", 4, &[(DOMAIN, "2"), (ORDER, "scatter")], false),
    ("figure-11", 4, &[(DOMAIN, "2"), (ORDER, "spread")], false),
    ("figure-12", 4, &[(DOMAIN, "2"), (ORDER, "bunch")], false),
];

/// Draws ranks and, with `threads`, the threads of each rank, bound by the given `KMP_AFFINITY`.
fn picture(
    machine: &Machine,
    title: &str,
    figure: &Figure,
    threads: Option<(u32, &str)>,
) -> String {
    let (_, ranks, variables, _) = figure;
    let value = |name: &str| {
        let found = variables.iter().find(|(other, _)| *other == name);
        found.map(|(_, value)| *value)
    };
    let (settings, _) = Settings::read(Compat::Documented, value).unwrap();
    let placement = place(machine, &settings, None, *ranks);
    let mut options = SvgOptions::default();
    options.title.push(title.into());
    options.palette = Palette::ColourBlind;
    for rank in &placement.ranks {
        let name = format!("rank {}", rank.rank);
        options
            .overlays
            .push(Overlay::new(name, rank.cpus.clone(), rank.rank as usize));
    }
    for rank in &placement.ranks {
        let Some((threads, affinity)) = threads else {
            continue;
        };
        let request = openmp::Request {
            kmp_affinity: Some(affinity),
            mask: Some(&rank.cpus),
            threads,
            ..openmp::Request::default()
        };
        let team = openmp::bind(machine, &request, Dialect::default());
        for (thread, cpus) in team.threads.into_iter().enumerate() {
            let name = format!("rank {}, thread {thread}", rank.rank);
            let mark = Overlay::new(name, cpus, *ranks as usize + thread).with_style(Style::Mark);
            options.overlays.push(mark);
        }
    }
    machine.to_svg(&options)
}

/// The command line of a figure.
fn words(figure: &Figure) -> String {
    let (_, ranks, variables, _) = figure;
    let set = variables
        .iter()
        .map(|(name, value)| format!(" {name}={value}"));
    format!("-n {ranks}{}", set.collect::<String>())
}

#[test]
fn committed_figures_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    if !folder.is_dir() {
        println!("skipped: the pictures are not in this package");
        return;
    }
    let node = Machine::from_synthetic(MODEL_NODE).unwrap();
    let figures = FIGURES.iter().map(|figure| {
        let (name, _, _, given) = figure;
        let number = name.trim_start_matches("figure-");
        let derived = if *given {
            ""
        } else {
            " (by the rules: the text lost it)"
        };
        let title = format!("Figure {number}{derived}: {}", words(figure));
        (*name, picture(&node, &title, figure, None))
    });
    let hybrid = Machine::from_synthetic(HYBRID_NODE).unwrap();
    let job: Figure = ("hybrid-job", 4, &[], true);
    let affinity = "granularity=fine,compact,1,0";
    let title = "Hybrid job: -n 4, two threads in each rank";
    let job = (job.0, picture(&hybrid, title, &job, Some((2, affinity))));
    let mut differ = Vec::new();
    for (name, svg) in figures.chain([job]) {
        let path = folder.join(name).with_extension("svg");
        if fs::read_to_string(&path).is_ok_and(|committed| committed == svg) {
            continue;
        }
        match env::var_os("OXMPI_BLESS") {
            Some(_) => fs::write(&path, svg).unwrap(),
            None => differ.push(name),
        }
    }
    assert_eq!(
        differ, [""; 0],
        "run with OXMPI_BLESS=1 and look at the difference"
    );
}
