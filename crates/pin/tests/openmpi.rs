//! Placement by the options of Open MPI.

use oxmpi_pin::openmpi::{MapBy, Mapping};
use oxmpi_pin::{Placement, Settings, WarningCode, place};
use oxmpi_topo::{CpuSet, Machine};

/// Two packages of two cores with two threads each; the threads of core `n` are `n` and `n + 4`.
const MACHINE: &str = "package:2 l3:1 core:2 pu:2(indexes=2*4:4*1)";

fn machine() -> Machine {
    Machine::from_synthetic(MACHINE).unwrap()
}

/// Options, with `-` for one that is not given.
fn mapping(cpu_set: &str, map_by: &str, bind_to: &str) -> Mapping {
    Mapping {
        cpu_set: (cpu_set != "-").then(|| cpu_set.parse().unwrap()),
        map_by: (map_by != "-").then(|| map_by.parse().unwrap()),
        bind_to: (bind_to != "-").then(|| bind_to.parse().unwrap()),
        hwthread_cpus: false,
    }
}

fn placed(mapping: Mapping, mask: Option<&str>, ranks: u32) -> Placement {
    let mask: Option<CpuSet> = mask.map(|mask| mask.parse().unwrap());
    place(&machine(), &Settings::from(mapping), mask.as_ref(), ranks)
}

fn cpus(placement: &Placement) -> String {
    let cpus = placement.ranks.iter().map(|rank| rank.cpus.to_string());
    cpus.collect::<Vec<_>>().join("|")
}

#[test]
fn map_by_is_printed_as_it_is_read() {
    for text in [
        "slot",
        "node",
        "core:PE=2",
        ":PE=3",
        "numa:OVERSUBSCRIBE",
        ":NOOVERSUBSCRIBE",
        "core:PE=2:NOOVERSUBSCRIBE:HWTCPUS",
        ":CORECPUS",
    ] {
        let by = text.parse::<MapBy>().map(|by| by.to_string());
        assert_eq!(by.as_deref(), Ok(text));
    }
}

#[test]
fn options_place_ranks() {
    for (cpu_set, map_by, bind_to, ranks, expected) in [
        // In the order of the machine.
        ("-", "-", "hwthread", 3, "0|4|1"),
        ("-", "-", "core", 3, "0,4|1,5|2,6"),
        ("-", "-", "socket", 3, "0-1,4-5|2-3,6-7|0-1,4-5"),
        ("-", "-", "package", 1, "0-1,4-5"),
        ("-", "-", "l3cache", 2, "0-1,4-5|2-3,6-7"),
        ("-", "-", "numa", 1, "0-7"),
        ("-", "-", "none", 2, "0-7|0-7"),
        // Parts in turn, each time with the next object that ranks are bound to.
        ("-", "socket", "core", 4, "0,4|2,6|1,5|3,7"),
        ("-", "socket", "hwthread", 5, "0|2|4|6|1"),
        ("-", "core", "hwthread", 5, "0|1|2|3|4"),
        ("-", "slot", "core", 2, "0,4|1,5"),
        ("-", "node", "core", 2, "0,4|1,5"),
        // Bound to a larger part than ranks are mapped by.
        ("-", "core", "socket", 3, "0-1,4-5|0-1,4-5|2-3,6-7"),
        // Bound to the same part that ranks are mapped by.
        ("-", "hwthread", "-", 2, "0|4"),
        ("-", "core", "-", 2, "0,4|1,5"),
        ("-", "socket", "-", 2, "0-1,4-5|2-3,6-7"),
        ("-", "slot", "-", 2, "0,4|1,5"),
        // Several parts for each rank.
        ("-", "socket:PE=2", "-", 2, "0-1,4-5|2-3,6-7"),
        ("-", "slot:PE=2", "-", 2, "0-1,4-5|2-3,6-7"),
        ("-", "slot:pe=3:HWTCPUS", "hwthread", 3, "0-1,4|2,5-6|0-1,4"),
        ("-", "socket:PE=3:HWTCPUS", "-", 2, "0-1,4|2-3,6"),
        ("-", "core:PE=2", "-", 2, "0-1,4-5|2-3,6-7"),
        // The number counts cores, whatever ranks are mapped by.
        ("-", "node:PE=1", "-", 2, "0,4|1,5"),
        ("-", "socket:PE=1", "-", 2, "0,4|2,6"),
        ("-", "hwthread:PE=2", "core", 2, "0-1,4-5|2-3,6-7"),
        ("-", "l3cache:PE=2", "core", 2, "0-1,4-5|2-3,6-7"),
        ("-", "numa:PE=3", "-", 1, "0-2,4-6"),
        ("-", ":PE=2", "core", 2, "0-1,4-5|2-3,6-7"),
        // A set of logical numbers: the order of the machine counts, not that of the option.
        ("3,0-1", "-", "-", 4, "0|4|5|0"),
        ("3,0-1", "-", "core", 2, "0,4|5"),
        ("3,0-1", "-", "none", 1, "0,4-5"),
        ("0,4", "socket", "-", 2, "0|2"),
        ("3,0-1", ":OVERSUBSCRIBE", "-", 3, "0|4|5"),
        ("3,0-1", "-", "cpu-list", 2, "0,4-5|0,4-5"),
        // The list with its order.
        ("3,0-1", "-", "cpu-list:ordered", 4, "5|0|4|5"),
        ("7,2,7,0", "slot", "cpu-list:ordered", 3, "7|1|0"),
    ] {
        let placement = placed(mapping(cpu_set, map_by, bind_to), None, ranks);
        let case = format!("--cpu-set {cpu_set} --map-by {map_by} --bind-to {bind_to}");
        assert_eq!(cpus(&placement), expected, "{case}");
        assert!(
            placement.warnings.is_empty(),
            "{case}: {:?}",
            placement.warnings
        );
        assert!(placement.explanation.ends_with('.'), "{case}");
    }
}

#[test]
fn the_inherited_mask_is_kept() {
    let placement = placed(mapping("0-3", "-", "core"), Some("0-2"), 3);
    assert_eq!(cpus(&placement), "0|1|0");
    let [warning] = &placement.warnings[..] else {
        panic!("{:?}", placement.warnings);
    };
    assert_eq!(
        (warning.code, &*warning.args),
        (WarningCode::NotAllowed, &["4-5".into(), "0-2".into()][..])
    );
    let elsewhere = placed(mapping("6,7", "-", "-"), Some("0-1"), 2);
    assert_eq!(
        cpus(&elsewhere),
        "0|1",
        "nothing of the set is left: all that is allowed"
    );
}

#[test]
fn processors_that_are_not_there_are_named() {
    let mapping = mapping("6-9", "-", "-");
    assert_eq!(
        mapping.check(&machine()).unwrap_err().to_string(),
        "--cpu-set: no processors 8-9 here: expected logical numbers from 0 to 7, the 8 processors of this machine in its order"
    );
    let placement = placed(mapping, None, 2);
    assert_eq!(cpus(&placement), "3|7");
    assert_eq!(placement.warnings[0].code, WarningCode::NoSuchProcessor);
}

#[test]
fn what_cannot_be_is_warned_of_and_done_as_nearly_as_possible() {
    for (map_by, bind_to, code, expected) in [
        ("slot:PE=9", "core", WarningCode::SizeClipped, "0-7|0-7"),
        ("l2cache", "-", WarningCode::NoSuchLevel, "0,4|1,5"),
    ] {
        let placement = placed(mapping("-", map_by, bind_to), None, 2);
        assert_eq!(cpus(&placement), expected, "{map_by}");
        assert_eq!(placement.warnings[0].code, code, "{map_by}");
    }
}

#[test]
fn hardware_threads_are_processing_elements_where_asked() {
    for (map_by, bind_to, expected) in [
        ("-", "-", "0|4"),
        ("core", "-", "0,4|1,5"),
        ("slot:PE=3", "-", "0-1,4|2,5-6"),
        ("socket:PE=3", "hwthread", "0-1,4|2-3,6"),
    ] {
        let mapping = Mapping {
            hwthread_cpus: true,
            ..mapping("-", map_by, bind_to)
        };
        assert_eq!(mapping.check(&machine()), Ok(()), "{map_by} {bind_to}");
        assert_eq!(
            cpus(&placed(mapping, None, 2)),
            expected,
            "{map_by} {bind_to}"
        );
    }
}

#[test]
fn options_without_a_common_meaning_are_refused() {
    let other = "but --bind-to";
    let leave = "asks for another binding: leave one of them out";
    let element = "PE=2 of --map-by binds each rank to 2";
    for (map_by, bind_to, threads, says) in [
        ("node:PE=2", "socket", false, format!("{element} cores, {other} socket {leave}")),
        ("slot:PE=2", "none", false, format!("{element} cores, {other} none {leave}")),
        (":PE=2", "cpu-list:ordered", false, format!("{element} cores, {other} cpu-list:ordered {leave}")),
        (
            "slot:PE=2",
            "hwthread",
            false,
            format!("{element} cores, {other} hwthread {leave}; with --use-hwthread-cpus, PE counts hardware threads"),
        ),
        (
            "slot:PE=2",
            "core",
            true,
            format!("{element} hardware threads, {other} core {leave}; without --use-hwthread-cpus, PE counts cores"),
        ),
        (
            "-",
            "cpu-list",
            false,
            "--bind-to cpu-list needs the list: add --cpu-set with logical numbers of processors, such as --cpu-set 0-3".into(),
        ),
    ] {
        let mapping = Mapping {
            hwthread_cpus: threads,
            ..mapping("-", map_by, bind_to)
        };
        let refused = mapping.check(&machine()).unwrap_err();
        assert_eq!(refused.to_string(), says, "{map_by} {bind_to}");
        // Placing nevertheless warns of what is left out.
        let warnings = placed(mapping, None, 2).warnings;
        assert_eq!(warnings[0].code, WarningCode::SettingOverridden, "{map_by} {bind_to}");
    }
    let ordered = mapping("0-3", "socket", "cpu-list:ordered");
    let refused = ordered.check(&machine()).unwrap_err().to_string();
    assert!(
        refused.contains("--map-by socket asks for another order"),
        "{refused}"
    );
}

#[test]
fn placing_is_explained() {
    let why = |cpu_set, map_by, bind_to, ranks| {
        placed(mapping(cpu_set, map_by, bind_to), None, ranks).explanation
    };
    assert_eq!(
        why("0-5", "socket:PE=2:HWTCPUS", "hwthread", 4),
        "4 ranks on 6 processors (logical numbers 0-5): mapped by socket, bound to hwthread (2 each), which makes 3 places. The \
         ranks share them in turn."
    );
    assert_eq!(
        why("-", "-", "none", 1),
        "1 rank on 8 processors: not bound, as asked; every rank may use all of 0-7."
    );
}
