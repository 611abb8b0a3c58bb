use oxmpi_bench::report::Rank;
use oxmpi_topo::Machine;

use super::far_ranks_warning;

/// Two NUMA nodes of one processor each, with an RDMA device at the second whose port is in `state`.
fn machine(state: u32) -> Machine {
    let package = |index: u32, device: &str| {
        let sets = format!(
            r#"cpuset="{m:#x}" complete_cpuset="{m:#x}" nodeset="{m:#x}" complete_nodeset="{m:#x}""#,
            m = 1 << index
        );
        let object = |kind: &str, gp: u32, inside: &str| {
            format!(
                r#"<object type="{kind}" os_index="{index}" {sets} gp_index="{}">{inside}</object>"#,
                10 * gp + index
            )
        };
        let (pu, numa) = (object("PU", 2, ""), object("NUMANode", 3, ""));
        object("Package", 1, &format!("{numa}{pu}{device}"))
    };
    let device = format!(
        r#"<object type="OSDev" name="mlx5_0" osdev_type="3" gp_index="40"><info name="Port1State" value="{state}"/></object>"#
    );
    let text = format!(
        r#"<topology version="2.0"><object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">{}{}</object></topology>"#,
        package(0, ""),
        package(1, &device)
    );
    Machine::from_xml(&text).unwrap()
}

#[test]
fn ranks_away_from_the_active_port_are_warned_of() {
    let rank = |rank, host: &str, cpus: &str| Rank {
        rank,
        host: host.into(),
        pid: 1,
        cpus: cpus.into(),
    };
    let ranks = [
        rank(0, "here", "0"),
        rank(1, "here", "1"),
        rank(2, "there", "0"),
        rank(3, "here", "0-1"),
    ];
    let warning = far_ranks_warning(&machine(4), &ranks).unwrap();
    let start = "ranks 0 run on another NUMA node than the active RDMA port (near processors 1)";
    assert!(warning.starts_with(start), "{warning}");
    // A port that is down carries nothing.
    assert_eq!(far_ranks_warning(&machine(1), &ranks), None);
    assert_eq!(far_ranks_warning(&machine(4), &ranks[1..]), None);
    let unknown = [rank(0, "here", "unknown: no such call")];
    assert_eq!(far_ranks_warning(&machine(4), &unknown), None);
}
