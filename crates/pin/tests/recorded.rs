//! Recordings of Intel MPI 2021.12 on machines where its rules agree with the reference.

use crate::common::{cpus, settings};
use oxmpi_pin::place;
use oxmpi_topo::Machine;

/// Lines `machine NAME SYNTHETIC`, and cases `NAME PIN DOMAIN ORDER RANKS : CPUS...` of one list for each
/// rank, `-` for a variable that was not set.
const ROWS: &str = include_str!("recorded.txt");

#[test]
fn placements_equal_the_recorded_ones() {
    let lines = || {
        ROWS.lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
    };
    let machine = |name: &str| {
        let mut found = lines().filter_map(|line| line.strip_prefix("machine ")?.split_once(' '));
        let (_, synthetic) = found.find(|(other, _)| *other == name).unwrap();
        Machine::from_synthetic(synthetic).unwrap()
    };
    let mut cases = 0;
    for line in lines().filter(|line| !line.starts_with("machine ")) {
        let (case, expected) = line.split_once(" : ").unwrap();
        let [name, pin, domain, order, ranks] =
            case.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let or = |text, default| if text == "-" { default } else { text };
        let settings = settings(or(pin, "on"), or(domain, "auto"), or(order, "bunch"));
        let placement = place(&machine(name), &settings, None, ranks.parse().unwrap());
        assert_eq!(
            cpus(&placement).join(" "),
            expected,
            "{case}: {}",
            placement.explanation
        );
        cases += 1;
    }
    assert!(cases >= 60, "{cases} cases");
}
