//! Sets in the words of small machines.

use oxmpi_pin::numa_domains;
use oxmpi_topo::{CpuSet, Machine};

use super::{describe, numa_nodes};

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

#[test]
fn sets_are_named_by_the_largest_parts_they_fill() {
    let machine = Machine::from_synthetic("package:3 [numa] core:2 pu:2").unwrap();
    for (list, words) in [
        ("0-11", "the whole machine"),
        ("0-3", "package 0"),
        ("0-7", "package 0-1"),
        ("0-3,8-11", "package 0,2"),
        ("2-3", "package 0 core 1"),
        ("0-4", "package 0; package 1 core 2 thread 0"),
        ("0,2", "package 0 core 0-1 thread 0"),
        ("0,2-3", "package 0 core 0 thread 0, core 1"),
        ("0-1,3", "package 0 core 0, core 1 thread 1"),
        (
            "1,4",
            "package 0 core 0 thread 1; package 1 core 2 thread 0",
        ),
    ] {
        assert_eq!(describe(&machine, &set(list)), words, "{list}");
    }
    assert_eq!(numa_nodes(&numa_domains(&machine), &set("3-4")), "0-1");
    // Two local memories are one domain, as in warnings and metrics.
    let machine = Machine::from_synthetic("package:2 [numa] [numa] core:2 pu:1").unwrap();
    assert_eq!(numa_nodes(&numa_domains(&machine), &set("0")), "0");
    assert_eq!(numa_nodes(&numa_domains(&machine), &set("1-2")), "0,2");
}

#[test]
fn machines_without_packages_or_cores_have_words_too() {
    let cores = Machine::from_synthetic("core:4 pu:2").unwrap();
    assert_eq!(describe(&cores, &set("0-3,6")), "core 0-1, core 3 thread 0");
    let flat = Machine::from_synthetic("pu:4").unwrap();
    assert_eq!(describe(&flat, &set("1,3")), "processor 1,3");
}

#[test]
fn threads_in_a_row_that_may_run_alike_are_counted() {
    let list = ["0", "1", "2-3", "2-3", "0"].map(set);
    assert_eq!(super::threads(&list), "0 1 2 x 2-3 0");
}
