//! Options that place ranks: processing elements, and lists with an order.

use oxmpi_os::affinity;

use super::{done, sorted};

/// The report ompi#7729.
#[test]
fn processing_elements_bound_to_something_else_are_refused() {
    for command in ["run", "pin"] {
        for (map_by, bind_to, cores) in [
            ("node:PE=12", "socket", "12 cores"),
            ("slot:PE=2", "none", "2 cores"),
        ] {
            let mut words = vec![command, "-n", "2", "--map-by", map_by, "--bind-to", bind_to];
            words.extend((command == "run").then_some("true"));
            let done = done(&words);
            let says = format!(
                "of --map-by binds each rank to {cores}, but --bind-to {bind_to} asks for another binding"
            );
            assert!(
                done.code == 2 && done.err.contains(&says),
                "{words:?}: {done:?}"
            );
        }
    }
}

#[test]
fn processing_elements_are_counted_whatever_ranks_are_mapped_by() {
    let machine = "package:2 core:12 pu:2";
    for map_by in [
        "node:PE=12",
        "slot:PE=12",
        "socket:PE=12",
        "core:PE=12",
        ":PE=12",
    ] {
        let done = done(&["pin", "-n", "2", "--on", machine, "--map-by", map_by]);
        let places: Vec<&str> = done.out.lines().skip(1).take(2).collect();
        let is_half = |line: &&str, cpus: &str| line.split_whitespace().nth(1) == Some(cpus);
        assert!(
            is_half(&places[0], "0-23") && is_half(&places[1], "24-47"),
            "{map_by}: {done:?}"
        );
    }
    let threads = [
        "pin",
        "-n",
        "2",
        "--on",
        machine,
        "--map-by",
        "node:PE=3",
        "--use-hwthread-cpus",
    ];
    let done = done(&threads);
    let processors = done
        .out
        .lines()
        .nth(1)
        .and_then(|line| line.split_whitespace().nth(1));
    assert_eq!(processors, Some("0-2"), "{done:?}");
}

#[test]
fn an_ordered_list_binds_ranks_one_by_one() {
    let mask = affinity::current().expect("every thread has a mask");
    let all: Vec<usize> = affinity::cpus(&mask).collect();
    let show = [
        "sh",
        "-c",
        "echo $PMI_RANK $(grep Cpus_allowed_list /proc/self/status)",
    ];
    let [first, second, ..] = all[..] else {
        return;
    };
    // Logical numbers are those of the system on machines where both processors are the first ones.
    if (first, second) != (0, 1) {
        return;
    }
    let options = [
        "run",
        "-n",
        "2",
        "--cpu-set",
        "1,0",
        "--bind-to",
        "cpu-list:ordered",
    ];
    let done = done(&[&options[..], &show].concat());
    let expected = ["0 Cpus_allowed_list: 1", "1 Cpus_allowed_list: 0"];
    assert_eq!(sorted(&done.out), expected, "{done:?}");
}
