//! Warnings about conflicts of a placement before a job starts.

use oxmpi_pin::{Settings, Warning, WarningCode, conflicts, place};
use oxmpi_topo::{CpuSet, Machine};

const SMT: &str = "package:2 core:2 pu:2";

/// The settings with this domain and order.
fn domain(domain: &str, order: &str) -> Settings {
    Settings {
        domain: Some(domain.parse().unwrap()),
        order: order.parse().unwrap(),
        ..Settings::default()
    }
}

fn found(machine: &str, settings: &Settings, ranks: u32, threads: Option<u32>) -> Vec<Warning> {
    let machine = Machine::from_synthetic(machine).unwrap();
    let placement = place(&machine, settings, None, ranks);
    conflicts(&machine, &placement, |_| threads)
}

fn codes(warnings: &[Warning]) -> Vec<WarningCode> {
    warnings.iter().map(|warning| warning.code).collect()
}

#[test]
fn usual_settings_conflict_in_nothing() {
    for (settings, ranks) in [
        (Settings::default(), 1),
        (Settings::default(), 2),
        (Settings::default(), 4),
        (domain("core", "bunch"), 3),
        (domain("socket", "bunch"), 2),
    ] {
        assert_eq!(
            found(SMT, &settings, ranks, Some(2)),
            [],
            "{settings:?} {ranks}"
        );
    }
    // Each hardware thread is used: no other placement is better.
    assert_eq!(found(SMT, &Settings::default(), 8, None), []);
}

#[test]
fn unpinned_ranks_are_warned_of_where_they_outnumber_the_processors() {
    use WarningCode::{ProcessorShared, ThreadsExceedDomain};
    let unpinned = Settings {
        pin: false,
        ..Settings::default()
    };
    let one = "core:1 pu:1";
    for (machine, ranks, threads, expected) in [
        (SMT, 8, None, &[][..]),
        (SMT, 4, Some(2), &[]),
        (SMT, 9, None, &[ProcessorShared]),
        (SMT, 4, Some(3), &[ProcessorShared]),
        (SMT, 1, Some(9), &[ThreadsExceedDomain]),
        (SMT, 20, Some(64), &[ThreadsExceedDomain, ProcessorShared]),
        (one, 1, Some(1), &[]),
        (one, 1, Some(4), &[ThreadsExceedDomain]),
        (one, 4, None, &[ProcessorShared]),
    ] {
        let warnings = found(machine, &unpinned, ranks, threads);
        assert_eq!(codes(&warnings), expected, "{machine} {ranks} {threads:?}");
    }
    // Pinning to the only processor leaves nothing to pin.
    let warnings = found(one, &Settings::default(), 4, None);
    assert_eq!(
        warnings[0].text,
        "4 ranks on 1 processor (0): they take turns; start fewer, or pass --oversubscribe if this is intended"
    );
    let warnings = found(SMT, &unpinned, 4, Some(3));
    assert_eq!(warnings[0].args, ["0", "1", "0-7", ""]);
    assert!(
        warnings[0]
            .text
            .starts_with("4 ranks with 3 threads each (OMP_NUM_THREADS) on 8 processors (0-7): ")
    );
}

#[test]
fn threads_exceed_a_domain() {
    let warnings = found(SMT, &domain("core", "bunch"), 4, Some(3));
    assert_eq!(codes(&warnings), [WarningCode::ThreadsExceedDomain]);
    assert_eq!(warnings[0].args, ["0", "3", "0-1"]);
    assert!(
        warnings[0]
            .text
            .starts_with("OMP_NUM_THREADS asks for 3 threads, rank 0 has 2 processors (0-1)")
    );
}

#[test]
fn ranks_share_a_processor() {
    let warnings = found("core:2 pu:1", &Settings::default(), 4, None);
    assert_eq!(codes(&warnings), [WarningCode::ProcessorShared]);
    assert_eq!(warnings[0].args, ["0", "2", "0", ""]);
    let text = &warnings[0].text;
    assert!(
        text.starts_with(
            "4 ranks on 2 processors: rank 2 shares processors 0 with rank 0, and other ranks may share some, too;"
        ),
        "{text}"
    );
    // Masks from the user, which leave processors idle.
    let warnings = found("core:4 pu:1", &domain("[1,1,f]", "bunch"), 2, None);
    assert_eq!(codes(&warnings), [WarningCode::ProcessorShared]);
    assert!(
        warnings[0]
            .text
            .contains("rank 1 shares processors 0 with rank 0, and other ranks may share some, too, while 1-3 stay idle")
    );
}

#[test]
fn a_shared_domain_with_a_processor_for_each_rank_is_no_conflict() {
    use WarningCode::{ProcessorShared, SiblingShared};
    let machine = "package:2 core:12 pu:2";
    for (name, ranks, threads, expected) in [
        ("socket", 4, None, &[][..]),
        ("numa", 4, None, &[]),
        ("socket", 48, None, &[]),
        ("socket", 49, None, &[ProcessorShared]),
        ("socket", 4, Some(12), &[]),
        ("socket", 4, Some(13), &[ProcessorShared]),
        ("core", 48, None, &[]),
        // Nested domains: rank 1 has a processor of its own, but no core.
        ("[1,3]", 2, None, &[SiblingShared]),
        ("[3,3,1]", 3, None, &[ProcessorShared]),
        // Three ranks on the two processors of each pair and on all three.
        ("[3,6,5,3]", 4, None, &[ProcessorShared]),
        // One core for each of two ranks, then three ranks on two cores.
        ("[f,f]", 2, None, &[]),
        ("[f,f,f]", 3, None, &[SiblingShared]),
    ] {
        let warnings = found(machine, &domain(name, "bunch"), ranks, threads);
        assert_eq!(codes(&warnings), expected, "{name} {ranks} {threads:?}");
    }
}

#[test]
fn each_rank_counts_with_its_own_threads() {
    use WarningCode::{ProcessorShared, ThreadsExceedDomain};
    let machine = Machine::from_synthetic("core:2 pu:1").unwrap();
    let unpinned = Settings {
        pin: false,
        ..Settings::default()
    };
    let placement = place(&machine, &unpinned, None, 2);
    let said =
        |threads: [u32; 2]| conflicts(&machine, &placement, |rank| Some(threads[rank as usize]));
    let warnings = said([1, 5]);
    assert_eq!(codes(&warnings), [ThreadsExceedDomain, ProcessorShared]);
    assert_eq!(warnings[0].args, ["1", "5", "0-1"]);
    assert!(
        warnings[1].text.starts_with(
            "2 ranks with 6 threads together (OMP_NUM_THREADS) on 2 processors (0-1): "
        )
    );
    assert_eq!(said([64, 1])[0].args, ["0", "64", "0-1"]);
    assert_eq!(said([1, 1]), []);
}

#[test]
fn ranks_share_a_core_while_another_is_idle() {
    let warnings = found(SMT, &domain("1", "compact"), 2, None);
    assert_eq!(codes(&warnings), [WarningCode::SiblingShared]);
    assert_eq!(warnings[0].args, ["0", "1", "0-1", "2-3"]);
    // The job may not use the idle core: no warning.
    let machine = Machine::from_synthetic(SMT).unwrap();
    let mask: CpuSet = "0-1".parse().unwrap();
    let placement = place(&machine, &domain("1", "compact"), Some(&mask), 2);
    assert_eq!(conflicts(&machine, &placement, |_| None), []);
}

#[test]
fn a_domain_reaches_over_the_border_of_a_numa_node() {
    let machine = "package:1 numa:2 core:4 pu:1";
    let warnings = found(machine, &domain("3", "compact"), 2, None);
    assert_eq!(codes(&warnings), [WarningCode::DomainAcrossNuma]);
    assert_eq!(warnings[0].args, ["1", "3-5"]);
    // Whole nodes are no conflict.
    let machine = "package:2 numa:2 core:2 pu:1";
    assert_eq!(found(machine, &domain("socket", "bunch"), 2, None), []);
}

/// Two packages of two processors, each its own NUMA node; an RDMA device at the second, whose port is in `state`.
fn with_rdma(state: &str) -> Machine {
    let package = |index: usize, device: &str| {
        let mask = 3 << (2 * index);
        let pus: String = [2 * index, 2 * index + 1]
            .map(|pu| {
                let bit = 1 << pu;
                format!(
                    r#"<object type="Core" os_index="{pu}" cpuset="{bit:#x}" complete_cpuset="{bit:#x}" nodeset="{n:#x}" complete_nodeset="{n:#x}" gp_index="{core}"><object type="PU" os_index="{pu}" cpuset="{bit:#x}" complete_cpuset="{bit:#x}" nodeset="{n:#x}" complete_nodeset="{n:#x}" gp_index="{gp}"/></object>"#,
                    n = 1 << index,
                    core = 20 + pu,
                    gp = 30 + pu
                )
            })
            .concat();
        format!(
            r#"<object type="Package" os_index="{index}" cpuset="{mask:#x}" complete_cpuset="{mask:#x}" nodeset="{n:#x}" complete_nodeset="{n:#x}" gp_index="{gp}"><object type="NUMANode" os_index="{index}" cpuset="{mask:#x}" complete_cpuset="{mask:#x}" nodeset="{n:#x}" complete_nodeset="{n:#x}" gp_index="{numa}" local_memory="1073741824"/>{pus}{device}</object>"#,
            n = 1 << index,
            gp = 10 + index,
            numa = 12 + index
        )
    };
    let device = format!(
        r#"<object type="OSDev" name="mlx5_0" osdev_type="3" gp_index="40"><info name="Port1State" value="{state}"/></object>"#
    );
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0"><object type="Machine" os_index="0" cpuset="0xf" complete_cpuset="0xf" allowed_cpuset="0xf" nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">{}{}</object></topology>"#,
        package(0, ""),
        package(1, &device)
    );
    Machine::from_xml(&text).unwrap()
}

#[test]
fn ranks_away_from_the_active_port_are_named() {
    let machine = with_rdma("4");
    let placement = place(&machine, &domain("core", "compact"), None, 4);
    let warnings = conflicts(&machine, &placement, |_| None);
    assert_eq!(codes(&warnings), [WarningCode::FarFromRdma]);
    assert_eq!(warnings[0].args, ["0-1", "2-3"]);
    // A port that is down has no effect.
    let machine = with_rdma("1");
    assert_eq!(conflicts(&machine, &placement, |_| None), []);
}

#[test]
fn the_default_and_lists_move_next_to_the_active_port() {
    let cpus = |machine: &Machine, settings: &Settings, ranks| {
        let placement = place(machine, settings, None, ranks);
        let cpus = placement.ranks.iter().map(|rank| rank.cpus.to_string());
        (cpus.collect::<Vec<_>>().join("|"), placement.explanation)
    };
    let list = |respect_hca| Settings {
        processors: Some("all".parse().unwrap()),
        respect_hca,
        ..Settings::default()
    };
    let near = with_rdma("4");
    let (placed, why) = cpus(&near, &list(true), 4);
    assert_eq!(placed, "2|3|0|1");
    assert!(why.contains("near the RDMA device (2-3)"), "{why}");
    assert_eq!(cpus(&near, &list(false), 4).0, "0|1|2|3");
    let (placed, why) = cpus(&near, &Settings::default(), 2);
    assert_eq!(placed, "2-3|0-1");
    assert!(why.contains("near the RDMA device (2-3)"), "{why}");
    let asked = Settings {
        respect_hca: false,
        ..Settings::default()
    };
    assert_eq!(cpus(&near, &asked, 2).0, "0-1|2-3");
    // A domain from the user keeps its order.
    assert_eq!(cpus(&near, &domain("socket", "bunch"), 2).0, "0-1|2-3");
    // A port that is down has no effect.
    assert_eq!(cpus(&with_rdma("1"), &Settings::default(), 2).0, "0-1|2-3");
}
