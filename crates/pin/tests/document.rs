//! Intel's Developer Reference for Linux, "Interoperability with OpenMP API", on its own model of a
//! node (figure 2): two sockets of four cores without hyper-threads, pairs of cores share an L2.
//! Cores 0, 4 and 1, 5 sit on the first socket, 2, 6 and 3, 7 on the second.

use crate::common::{cpus, settings};
use oxmpi_pin::{Placement, Settings, place};
use oxmpi_topo::{CpuSet, Machine};

fn model_node() -> Machine {
    Machine::from_synthetic("package:2 numa:1 l3:1 l2:2 core:2 pu:1(indexes=0,4,1,5,2,6,3,7)")
        .unwrap()
}

/// The placement of ranks on a machine, without an inherited mask.
fn placed(machine: &Machine, domain: &str, order: &str, ranks: u32) -> Placement {
    place(machine, &settings("on", domain, order), None, ranks)
}

/// The placement of ranks on the model node.
fn on_node(domain: &str, order: &str, ranks: u32) -> Placement {
    placed(&model_node(), domain, order, ranks)
}

#[test]
fn figure_3_two_ranks_on_sockets() {
    // "Process rank 0 can migrate on all cores on the 0-th socket. Process rank 1 can migrate on all
    // cores on the first socket."
    let placement = on_node("socket", "bunch", 2);
    assert_eq!(cpus(&placement), ["0-1,4-5", "2-3,6-7"]);
    assert_eq!(
        placement.explanation,
        "2 ranks on 8 processors: 2 domains, one for each socket; order bunch: 1 + 1 ranks on the 2 sockets."
    );
    assert!(placement.is_pinned() && placement.warnings.is_empty());
}

#[test]
fn figures_4_to_8() {
    for (domain, ranks, threads, expected) in [
        ("cache2", 4, None, &["0,4", "1,5", "2,6", "3,7"][..]),
        ("4:platform", 2, None, &["0-3", "4-7"]),
        ("auto:scatter", 4, None, &["0,2", "1,3", "4,6", "5,7"]),
        ("omp:platform", 4, Some(2), &["0-1", "2-3", "4-5", "6-7"]),
        ("[55,aa]", 2, None, &["0,2,4,6", "1,3,5,7"]),
    ] {
        let settings = Settings {
            omp_threads: threads,
            ..settings("on", domain, "bunch")
        };
        let placement = place(&model_node(), &settings, None, ranks);
        let why = &placement.explanation;
        assert_eq!(cpus(&placement), expected, "{domain}: {why}");
    }
}

#[test]
fn figures_9_to_12_by_the_rules_since_the_text_lost_them() {
    for (order, expected) in [
        ("compact", ["0,4", "1,5", "2,6", "3,7"]),
        ("scatter", ["0,4", "2,6", "1,5", "3,7"]),
        ("spread", ["0,4", "1,5", "2,6", "3,7"]),
        ("bunch", ["0,4", "1,5", "2,6", "3,7"]),
    ] {
        let placement = on_node("2", order, 4);
        let why = &placement.explanation;
        assert_eq!(cpus(&placement), expected, "{order}: {why}");
    }
}

#[test]
fn auto_divides_processors_by_ranks() {
    for (ranks, expected) in [
        (2, &["0-1,4-5", "2-3,6-7"][..]),
        (3, &["0,4", "1,5", "2,6"]),
        (4, &["0,4", "1,5", "2,6", "3,7"]),
        (5, &["0", "4", "1", "2", "6"]),
        (8, &["0", "4", "1", "5", "2", "6", "3", "7"]),
        (9, &["0", "4", "1", "5", "2", "6", "3", "7", "0"]),
    ] {
        assert_eq!(cpus(&on_node("auto", "bunch", ranks)), expected);
    }
}

#[test]
fn auto_domains_shrink_rather_than_leave_their_socket() {
    let machine = Machine::from_synthetic("package:2 core:4 pu:2").unwrap();
    let placement = placed(&machine, "auto", "bunch", 3);
    assert_eq!(cpus(&placement), ["0-3", "4-7", "8-11"]);
    assert_eq!(
        placement.explanation,
        "3 ranks on 16 processors: domain size auto = 16/3 = 5; order bunch: 2 + 1 ranks on the 2 sockets, \
         so that domains shrink to 4 to fit into them. 4 of 16 processors stay unused."
    );
    let asked = placed(&machine, "5", "bunch", 3);
    // A number is kept as asked.
    assert_eq!(cpus(&asked), ["0-4", "5-9", "10-14"]);
}

#[test]
fn a_number_of_another_layout_is_kept_while_whole_domains_are_left() {
    let machine = Machine::from_synthetic("package:2 core:4 pu:1").unwrap();
    for order in ["bunch", "spread"] {
        let placement = placed(&machine, "3:platform", order, 2);
        assert_eq!(cpus(&placement), ["0-2", "3-5"], "{order}");
    }
}

#[test]
fn three_forms_of_no_pinning_are_the_same() {
    // "The following configurations are effectively the same as if pinning is not applied."
    let ways = [("on", "auto"), ("on", "node"), ("off", "core")];
    for (pin, domain) in ways {
        let placement = place(&model_node(), &settings(pin, domain, "bunch"), None, 1);
        assert_eq!(cpus(&placement), ["0-7"], "{pin} {domain}");
        assert!(!placement.is_pinned());
        let why = &placement.explanation;
        assert!(why.contains("not pinned"), "{why}");
    }
    let placement = on_node("node", "compact", 3);
    assert_eq!(cpus(&placement), ["0-7", "0-7", "0-7"]);
}

#[test]
fn a_domain_of_what_is_left_is_reported() {
    let machine = Machine::from_synthetic("package:2 core:4 pu:2").unwrap();
    let share = " The ranks share 4 domains in turn.";
    let rest = &*format!(" One domain has only what is left, 1 processor (15).{share}");
    let unused = " The ranks share 3 domains in turn. 1 of 16 processors stay unused.";
    for (domain, order, rest) in [
        ("5", "range", rest),
        ("5:platform", "compact", rest),
        ("5:platform", "bunch", rest),
        ("5", "compact", unused),
        ("4:platform", "range", share),
    ] {
        let placement = placed(&machine, domain, order, 6);
        let why = placement.explanation;
        let (_, described) = why.split_once('.').unwrap();
        assert_eq!(described, rest, "{domain} {order}: {why}");
    }
}

#[test]
fn two_ranks_on_two_processors() {
    let machine = Machine::from_synthetic("package:1 core:2 pu:1").unwrap();
    let placement = placed(&machine, "auto", "bunch", 2);
    assert_eq!(cpus(&placement), ["0", "1"]);
    assert_eq!(
        placement.explanation,
        "2 ranks on 2 processors: domain size auto = 2/2 = 1; order bunch: side by side on the one socket."
    );
}

#[test]
fn an_inherited_mask_is_respected_and_named() {
    let machine = Machine::from_synthetic("package:2 core:4 pu:2").unwrap();
    let mask: CpuSet = "1-5,8-9,12,99".parse().unwrap();
    let placement = place(&machine, &settings("on", "core", "bunch"), Some(&mask), 5);
    assert_eq!(cpus(&placement), ["1", "2-3", "4-5", "8-9", "12"]);
    let leaves = "The inherited mask leaves 1-5,8-9,12: 8 of 16 processors. ";
    assert!(placement.explanation.starts_with(leaves));

    let mask = CpuSet::one(99);
    let elsewhere = place(&machine, &settings("on", "core", "bunch"), Some(&mask), 1);
    assert_eq!(cpus(&elsewhere), ["0-1"]);
    let [warning] = elsewhere.warnings.try_into().unwrap();
    assert_eq!(warning.code.to_string(), "mask-elsewhere");
    assert_eq!(warning.args, ["99", "0-15"]);
}

#[test]
fn bunch_is_in_proportion_to_what_the_mask_leaves_of_each_socket() {
    let machine = Machine::from_synthetic("package:2 core:4 pu:1").unwrap();
    let mask: CpuSet = "0-5".parse().unwrap();
    for (ranks, expected) in [
        (2, &["0", "4"][..]),
        (3, &["0", "1", "4"]),
        (5, &["0", "1", "2", "4", "5"]),
    ] {
        let placement = place(&machine, &settings("on", "1", "bunch"), Some(&mask), ranks);
        assert_eq!(cpus(&placement), expected);
    }
}

#[test]
fn a_domain_larger_than_the_machine_is_clipped_with_a_warning() {
    let placement = on_node("16", "bunch", 2);
    assert_eq!(cpus(&placement), ["0-7", "0-7"]);
    let [warning] = placement.warnings.try_into().unwrap();
    assert_eq!(warning.code.to_string(), "size-clipped");
    assert_eq!(warning.args, ["16", "8"]);
    let text = &warning.text;
    assert!(text.contains("16") && text.contains("(0-7)"), "{text}");
}

#[test]
fn a_job_without_ranks_is_placed_nowhere() {
    let placement = on_node("auto", "bunch", 0);
    assert!(placement.ranks.is_empty() && !placement.is_pinned());
}

#[test]
fn less_than_a_whole_stride_is_one_domain() {
    // Domains of 15 begin where sockets of 12 begin; two of them do not fit into the 20 that are left.
    let machine = Machine::from_synthetic("package:3 numa:2 core:2 pu:3").unwrap();
    let mask = "0-19".parse().unwrap();
    let settings = settings("on", "15", "scatter");
    let placement = place(&machine, &settings, Some(&mask), 2);
    let mut sizes = placement.ranks.iter().map(|rank| rank.cpus.len());
    assert!(sizes.all(|size| size == 15), "{placement:?}");
}
