//! NUMA domains of machines whose nodes have no memory or several memories, or were left out.

use crate::common::{cpus, settings};
use oxmpi_pin::{Metrics, WarningCode, conflicts, numa_domains, place};
use oxmpi_topo::Machine;
use oxmpi_topo::linux::Recording;

fn domains(machine: &Machine, ranks: u32) -> Vec<String> {
    cpus(&place(
        machine,
        &settings("on", "numa", "compact"),
        None,
        ranks,
    ))
}

#[test]
fn nodes_without_memory_are_domains() {
    let node = |number: u32, cpus: &str, kib: u32| {
        format!(
            "/sys/devices/system/node/node{number}\n cpumap|{cpus}\n meminfo|Node {number} MemTotal: {kib} kB\n"
        )
    };
    let nodes = [
        (0, "3", 1 << 20),
        (1, "c", 0),
        (2, "30", 1 << 20),
        (3, "c0", 0),
    ];
    let nodes: String = nodes
        .map(|(number, cpus, kib)| node(number, cpus, kib))
        .concat();
    let files = &format!("/sys/devices/system/cpu\n online|0-7\n{nodes}");
    let machine = Machine::from_linux(&Recording::parse(files).unwrap()).unwrap();
    assert_eq!(domains(&machine, 4), ["0-1", "2-3", "4-5", "6-7"]);
}

#[test]
fn processors_of_different_nodes_that_were_left_out_are_not_joined() {
    // Node 1 shares processor 2 with node 0, node 2 shares processor 1.
    let files = "/sys/devices/system/cpu\n online|0-4\n\
                 /sys/devices/system/node/node0\n cpumap|7\n\
                 /sys/devices/system/node/node1\n cpumap|c\n\
                 /sys/devices/system/node/node2\n cpumap|12\n";
    let machine = Machine::from_linux(&Recording::parse(files).unwrap()).unwrap();
    assert_eq!(domains(&machine, 3), ["0-2", "3", "4"]);
    assert_eq!(machine.notes().count(), 1);
}

#[test]
fn several_local_memories_are_one_domain_for_metrics_and_warnings() {
    for machine in [
        "package:2 [numa(memory=64GiB)] [numa(memory=16GiB)] core:2 pu:2",
        "[numa(memory=1TiB)] package:2 [numa(memory=64GiB)] core:2 pu:2",
    ] {
        let machine = Machine::from_synthetic(machine).unwrap();
        let sets: Vec<String> = numa_domains(&machine)
            .iter()
            .map(|domain| domain.cpus.to_string())
            .collect();
        assert_eq!(sets, ["0-3", "4-7"]);
        // A rank inside a domain, one for each domain, one with parts of both.
        for (domain, ranks, crossings, across) in
            [("core", 4, 1, ""), ("numa", 2, 1, ""), ("3", 2, 0, "1 3-5")]
        {
            let placement = place(&machine, &settings("on", domain, "compact"), None, ranks);
            let metrics = Metrics::new(&machine, &placement);
            assert_eq!(metrics.numa_crossings, crossings, "{domain}");
            let warned: Vec<String> = conflicts(&machine, &placement, |_| None)
                .iter()
                .filter(|warning| warning.code == WarningCode::DomainAcrossNuma)
                .map(|warning| warning.args.join(" "))
                .collect();
            assert_eq!(warned.concat(), across, "{domain}");
            assert_eq!(metrics.across_numa.len(), warned.len(), "{domain}");
        }
    }
}
