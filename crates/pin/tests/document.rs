//! Intel's Developer Reference for Linux, "Interoperability with OpenMP API", on its own model of a
//! node (figure 2): two sockets of four cores without hyper-threads, pairs of cores share an L2.
//! Cores 0, 4 and 1, 5 sit on the first socket, 2, 6 and 3, 7 on the second.

mod common;

use common::{cpus, settings};
use oxmpi_pin::{Settings, place};
use oxmpi_topo::{CpuSet, Machine};

fn model_node() -> Machine {
    Machine::from_synthetic("package:2 numa:1 l3:1 l2:2 core:2 pu:1(indexes=0,4,1,5,2,6,3,7)")
        .unwrap()
}

#[test]
fn figure_3_two_ranks_on_sockets() {
    // "Process rank 0 can migrate on all cores on the 0-th socket. Process rank 1 can migrate on all
    // cores on the first socket."
    let placement = place(&model_node(), &settings("on", "socket", "bunch"), None, 2);
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
        assert_eq!(
            cpus(&placement),
            expected,
            "{domain}: {}",
            placement.explanation
        );
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
        let placement = place(&model_node(), &settings("on", "2", order), None, 4);
        assert_eq!(
            cpus(&placement),
            expected,
            "{order}: {}",
            placement.explanation
        );
    }
}

#[test]
fn figure_9_compact_order_of_pairs() {
    let placement = place(&model_node(), &settings("on", "2", "compact"), None, 4);
    assert_eq!(cpus(&placement), ["0,4", "1,5", "2,6", "3,7"]);
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
        assert_eq!(
            cpus(&place(
                &model_node(),
                &settings("on", "auto", "bunch"),
                None,
                ranks
            )),
            expected
        );
    }
}

#[test]
fn auto_domains_shrink_rather_than_leave_their_socket() {
    let machine = Machine::from_synthetic("package:2 core:4 pu:2").unwrap();
    let placement = place(&machine, &settings("on", "auto", "bunch"), None, 3);
    assert_eq!(cpus(&placement), ["0-3", "4-7", "8-11"]);
    assert_eq!(
        placement.explanation,
        "3 ranks on 16 processors: domain size auto = 16/3 = 5; order bunch: 2 + 1 ranks on the 2 sockets, \
         so that domains shrink to 4 to fit into them. 4 of 16 processors stay unused."
    );
    let asked = place(&machine, &settings("on", "5", "bunch"), None, 3);
    assert_eq!(
        cpus(&asked),
        ["0-4", "5-9", "10-14"],
        "a number is kept as asked"
    );
}

#[test]
fn a_number_of_another_layout_is_kept_while_whole_domains_are_left() {
    let machine = Machine::from_synthetic("package:2 core:4 pu:1").unwrap();
    for order in ["bunch", "spread"] {
        let placement = place(&machine, &settings("on", "3:platform", order), None, 2);
        assert_eq!(cpus(&placement), ["0-2", "3-5"], "{order}");
    }
}

#[test]
fn three_ways_of_no_pinning_are_the_same() {
    // "The following configurations are effectively the same as if pinning is not applied."
    let ways = [("on", "auto"), ("on", "node"), ("off", "core")];
    for (pin, domain) in ways {
        let placement = place(&model_node(), &settings(pin, domain, "bunch"), None, 1);
        assert_eq!(cpus(&placement), ["0-7"], "{pin} {domain}");
        assert!(!placement.is_pinned());
        assert!(
            placement.explanation.contains("not pinned"),
            "{}",
            placement.explanation
        );
    }
    let placement = place(&model_node(), &settings("on", "node", "compact"), None, 3);
    assert_eq!(cpus(&placement), ["0-7", "0-7", "0-7"]);
}

#[test]
fn a_domain_of_what_is_left_is_reported() {
    let machine = Machine::from_synthetic("package:2 core:4 pu:2").unwrap();
    let rest =
        " One domain has only what is left, 1 processor (15). The ranks share 4 domains in turn.";
    for (domain, order, rest) in [
        ("5", "range", rest),
        ("5:platform", "compact", rest),
        ("5:platform", "bunch", rest),
        (
            "5",
            "compact",
            " The ranks share 3 domains in turn. 1 of 16 processors stay unused.",
        ),
        ("4:platform", "range", " The ranks share 4 domains in turn."),
    ] {
        let placement = place(&machine, &settings("on", domain, order), None, 6);
        let why = placement.explanation;
        let (_, described) = why.split_once('.').unwrap();
        assert_eq!(described, rest, "{domain} {order}: {why}");
    }
}

#[test]
fn two_ranks_on_two_processors() {
    let machine = Machine::from_synthetic("package:1 core:2 pu:1").unwrap();
    let placement = place(&machine, &settings("on", "auto", "bunch"), None, 2);
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
    assert!(
        placement
            .explanation
            .starts_with("The inherited mask leaves 1-5,8-9,12: 8 of 16 processors. ")
    );

    let elsewhere = place(
        &machine,
        &settings("on", "core", "bunch"),
        Some(&CpuSet::one(99)),
        1,
    );
    assert_eq!(cpus(&elsewhere), ["0-1"]);
    let [warning] = elsewhere.warnings.try_into().unwrap();
    assert_eq!(
        (warning.code.to_string().as_str(), warning.args),
        ("mask-elsewhere", vec!["99".into(), "0-15".into()])
    );
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
    let placement = place(&model_node(), &settings("on", "16", "bunch"), None, 2);
    assert_eq!(cpus(&placement), ["0-7", "0-7"]);
    let [warning] = placement.warnings.try_into().unwrap();
    assert_eq!(
        (warning.code.to_string().as_str(), warning.args),
        ("size-clipped", vec!["16".into(), "8".into()])
    );
    assert!(
        warning.text.contains("16") && warning.text.contains("(0-7)"),
        "{}",
        warning.text
    );
}

#[test]
fn a_job_without_ranks_is_placed_nowhere() {
    let placement = place(&model_node(), &settings("on", "auto", "bunch"), None, 0);
    assert!(placement.ranks.is_empty() && !placement.is_pinned());
}

#[test]
fn less_than_a_whole_stride_is_one_domain() {
    // Domains of 15 begin where sockets of 12 begin; two of them do not fit into the 20 that are left.
    let machine = Machine::from_synthetic("package:3 numa:2 core:2 pu:3").unwrap();
    let settings = Settings {
        domain: Some("15".parse().unwrap()),
        order: "scatter".parse().unwrap(),
        ..Settings::default()
    };
    let mask = "0-19".parse().unwrap();
    let placement = place(&machine, &settings, Some(&mask), 2);
    assert!(
        placement.ranks.iter().all(|rank| rank.cpus.len() == 15),
        "{placement:?}"
    );
}
