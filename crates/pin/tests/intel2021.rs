//! The rules of Intel MPI 2021, against recordings of its launcher.

use std::collections::BTreeMap;

use oxmpi_pin::{Compat, Settings, place};
use oxmpi_topo::{CpuSet, Machine};

/// The recordings; the first lines describe the columns.
const ROWS: &str = include_str!("intel2021.txt");

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let lines = ROWS.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect())
}

fn machines() -> BTreeMap<&'static str, Machine> {
    let machine = |row: Vec<&'static str>| {
        let ["machine", name, synthetic, there @ ..] = &row[..] else {
            return None;
        };
        let machine = Machine::from_synthetic(synthetic).unwrap();
        let machine = match there.first() {
            Some(list) => machine.restrict(&list.parse().unwrap()),
            None => machine,
        };
        Some((*name, machine))
    };
    rows().filter_map(machine).collect()
}

#[test]
fn every_row_is_explained() {
    let machines = machines();
    let mut count = 0;
    for row in rows().filter(|row| row[0] != "machine") {
        let [name, ranks, mask, variables @ .., expected] = &row[..] else {
            panic!("{row:?}");
        };
        let machine = &machines[name];
        let value = |name: &str| {
            let mut found = variables
                .iter()
                .filter_map(|variable| variable.split_once('='));
            found
                .find(|(other, _)| *other == name)
                .map(|(_, value)| value)
        };
        let (settings, _) = Settings::read(Compat::Intel2021, value).unwrap();
        let mask: Option<CpuSet> = (*mask != "-").then(|| mask.parse().unwrap());
        let placement = place(machine, &settings, mask.as_ref(), ranks.parse().unwrap());
        let ours: Vec<String> = placement
            .ranks
            .iter()
            .map(|rank| rank.cpus.to_string())
            .collect();
        assert_eq!(format!("=>{}", ours.join("|")), **expected, "{row:?}");
        count += 1;
    }
    assert!(count > 4600, "the rows are gone: {count}");
}

#[test]
fn a_list_beyond_the_machine_pins_nobody_and_is_reported() {
    let machine = Machine::from_synthetic("package:2 core:4 pu:2").unwrap();
    let list = |name: &str| (name == "I_MPI_PIN_PROCESSOR_LIST").then_some("0,16-17");
    let (settings, unreadable) = Settings::read(Compat::Intel2021, list).unwrap();
    assert!(unreadable.is_empty());
    let placement = place(&machine, &settings, None, 2);
    assert!(!placement.is_pinned());
    let [warning] = &placement.warnings[..] else {
        panic!("{:?}", placement.warnings);
    };
    let args: Vec<&str> = warning.args.iter().map(String::as_str).collect();
    assert_eq!(
        (warning.code.to_string().as_str(), &args[..]),
        ("not-allowed", &["16-17", "0-15"][..])
    );
}

#[test]
fn what_was_done_is_said() {
    let machine = Machine::from_synthetic("package:2 core:4 pu:2").unwrap();
    let said = |variables: &[(&str, &str)], mask: Option<&str>, ranks| {
        let value = |name: &str| {
            let found = variables.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| *value)
        };
        let (settings, _) = Settings::read(Compat::Intel2021, value).unwrap();
        let mask = mask.map(|mask| mask.parse().unwrap());
        let placement = place(&machine, &settings, mask.as_ref(), ranks);
        let codes = placement
            .warnings
            .iter()
            .map(|warning| warning.code.to_string());
        (placement.explanation, codes.collect::<Vec<_>>().join(" "))
    };
    let rules = "by the rules of Intel MPI 2021";
    for (variables, mask, ranks, why, codes) in [
        (
            &[][..],
            None,
            4,
            format!(
                "4 ranks on 16 processors {rules}: 4 domains of up to 4 processors, domain size auto = 16/4; order bunch."
            ),
            "",
        ),
        (
            &[("I_MPI_PIN_DOMAIN", "99")],
            None,
            2,
            format!(
                "2 ranks on 16 processors {rules}: 1 domain of up to 16 processors, domain size 99; order bunch. The ranks share 1 domain in turn."
            ),
            "size-clipped",
        ),
        (
            &[("I_MPI_PIN_DOMAIN", "[f,f0000]")],
            None,
            2,
            format!("2 ranks on 16 processors {rules}: 2 domains as the masks say."),
            "mask-elsewhere",
        ),
        (
            &[("I_MPI_PIN_DOMAIN", "core"), ("I_MPI_PIN_ORDER", "scatter")],
            Some("0-3"),
            1,
            format!(
                "The inherited mask leaves 0-3: 4 of 16 processors. 1 rank on 4 processors {rules}: 2 domains, one for each core; in the order of the machine, as always on a part of it."
            ),
            "",
        ),
        (
            &[("I_MPI_PIN_PROCESSOR_LIST", "3")],
            None,
            1,
            format!("1 rank on 16 processors {rules}: 1 processor of the list, one for each rank."),
            "",
        ),
        (
            &[("I_MPI_PIN_PROCESSOR_LIST", "16")],
            None,
            1,
            format!("1 rank on 16 processors {rules}: no rank is pinned."),
            "not-allowed",
        ),
    ] {
        assert_eq!(
            said(variables, mask, ranks),
            (why, codes.into()),
            "{variables:?}"
        );
    }
}
