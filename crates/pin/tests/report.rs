//! `--report-bindings`, as in Open MPI's questions and answers on `--cpu-set`.

use oxmpi_pin::openmpi::{BindTo, Level, Mapping, Report};
use oxmpi_pin::{Settings, place};
use oxmpi_topo::Machine;

fn lines(machine: &str, settings: impl Into<Settings>, ranks: u32) -> Vec<String> {
    let machine = Machine::from_synthetic(machine).unwrap();
    let placement = place(&machine, &settings.into(), None, ranks);
    let line = |place| {
        Report {
            machine: &machine,
            host: "clx-orion-001",
            pid: 25028,
            place,
        }
        .to_string()
    };
    placement.ranks.iter().map(line).collect()
}

#[test]
fn hardware_threads_of_two_sockets_with_fourteen_cores() {
    let lines = lines("package:2 core:14 pu:2", BindTo::Level(Level::HwThread), 2);
    assert_eq!(
        lines,
        [
            "[clx-orion-001:25028] MCW rank 0 bound to socket 0[core 0[hwt 0]]: \
             [B./../../../../../../../../../../../../..][../../../../../../../../../../../../../..]",
            "[clx-orion-001:25028] MCW rank 1 bound to socket 0[core 0[hwt 1]]: \
             [.B/../../../../../../../../../../../../..][../../../../../../../../../../../../../..]",
        ]
    );
}

#[test]
fn the_example_of_the_questions_and_answers() {
    // --report-bindings -n 4 --oversubscribe --cpu-set 14,15,0,1 --bind-to hwthread --map-by hwthread
    let mapping = Mapping {
        cpu_set: Some("14,15,0,1".parse().unwrap()),
        map_by: Some("hwthread".parse().unwrap()),
        bind_to: Some("hwthread".parse().unwrap()),
        ..Mapping::default()
    };
    // The threads of a core are numbered n and n + 28, as in Open MPI's listing.
    let machine = "package:2 core:14 pu:2(indexes=2*28:28*1)";
    assert_eq!(
        lines(machine, mapping, 4),
        [
            "[clx-orion-001:25028] MCW rank 0 bound to socket 0[core 0[hwt 0]]: \
             [B./../../../../../../../../../../../../..][../../../../../../../../../../../../../..]",
            "[clx-orion-001:25028] MCW rank 1 bound to socket 0[core 0[hwt 1]]: \
             [.B/../../../../../../../../../../../../..][../../../../../../../../../../../../../..]",
            "[clx-orion-001:25028] MCW rank 2 bound to socket 0[core 7[hwt 0]]: \
             [../../../../../../../B./../../../../../..][../../../../../../../../../../../../../..]",
            "[clx-orion-001:25028] MCW rank 3 bound to socket 0[core 7[hwt 1]]: \
             [../../../../../../../.B/../../../../../..][../../../../../../../../../../../../../..]",
        ]
    );
}

#[test]
fn cores_are_numbered_through_the_machine() {
    let lines = lines("package:2 core:2 pu:2", BindTo::Level(Level::Socket), 2);
    assert_eq!(
        lines[1],
        "[clx-orion-001:25028] MCW rank 1 bound to socket 1[core 2[hwt 0-1]], socket 1[core 3[hwt 0-1]]: [../..][BB/BB]"
    );
}

#[test]
fn a_rank_that_may_go_everywhere_is_not_bound() {
    let lines = lines("package:2 core:2 pu:1", BindTo::None, 1);
    assert_eq!(
        lines,
        ["[clx-orion-001:25028] MCW rank 0 is not bound (or bound to all available processors)"]
    );
}
