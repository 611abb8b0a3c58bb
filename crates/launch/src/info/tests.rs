//! Tests of `oxmpi info`: a transport that works, and one that does not.

use super::*;

/// A made-up system whose shared memory works if `memfd` is there, and whose TCP settings are wrong.
fn info(memfd: bool) -> SystemInfo {
    let part = Facility {
        name: "memfd",
        purpose: "memory",
        found: memfd,
        note: "a note".into(),
    };
    let shm = TransportInfo {
        name: "shm",
        used: memfd,
        why: "a reason".into(),
        parts: vec![part],
    };
    SystemInfo {
        version: "9.9",
        host: "node1".into(),
        machine: Ok(vec![(Kind::Package, 2), (Kind::Pu, 8)]),
        topology: vec!["/proc/cpuinfo".into(), "a note".into()],
        allowed: CpuSet::range(0, 8),
        granted: 4,
        memory: None,
        manager: "a manager".into(),
        transports: vec![shm, tcp(&Err("a setting is wrong".into()))],
    }
}

#[test]
fn text_names_machine_transports_and_reasons() {
    let text = show::text(&info(true));
    for line in [
        "machine     2 Package, 8 PU",
        "topology    /proc/cpuinfo; a note",
        "processors  8 allowed (0-7), 4 at once",
        "shm         used: a reason",
        "manager     a manager",
        "  memfd             found    memory; a note",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "{line:?} is not in\n{text}"
        );
    }
    assert!(
        text.contains("tcp         not used: a setting is wrong"),
        "{text}"
    );
    assert!(show::text(&info(false)).contains("missing"));
}

#[test]
fn a_machine_names_its_source_and_what_it_assumes() {
    let known = Machine::from_synthetic("package:2 core:4 pu:1").unwrap();
    assert_eq!(sources(&known), ["synthetic string"]);
    let counted = Machine::flat(&CpuSet::range(0, 4));
    let assumption = counted.notes().next().expect("a note");
    assert_eq!(sources(&counted), ["flat", assumption]);
}

#[test]
fn json_has_format_and_version() {
    OPTIONS.assert_sound();
    let read: serde_json::Value = serde_json::from_str(&show::json(&info(true))).unwrap();
    assert_eq!(
        (&read["format"], &read["version"]),
        (&"oxmpi-info".into(), &1.into())
    );
    assert_eq!(read["machine"]["PU"], 8);
    assert_eq!(read["manager"], "a manager");
    assert_eq!(read["transports"][0]["parts"][0]["found"], true);
}

#[test]
fn this_system_has_a_usable_transport() {
    let info = collect();
    // The first transport is shm, the last tcp.
    assert!(info.transports[0].used, "{}", show::text(&info));
    let why = &info.transports[2].why;
    assert!(
        why.contains("fastest network") || why.contains("no interface"),
        "{why}"
    );
    assert!(info.granted >= 1 && !info.allowed.is_empty());
}
