//! NUMA domains of machines whose nodes have no memory, several memories, or no place in the machine.

mod common;

use common::{cpus, settings};
use oxmpi_pin::place;
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
    let files = include_str!("../../topo/tests/machines/nodes-without-memory.files");
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
