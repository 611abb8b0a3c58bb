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

/// A made-up host with a device of one port, or why it has none.
fn rdma_info(devices: Result<(), &str>) -> RdmaInfo {
    let device = || rdma::DeviceInfo {
        name: "rxe0".into(),
        opened: Err("it is in use".into()),
        warning: Some("too little memory".into()),
    };
    RdmaInfo {
        host: "node1".into(),
        locked_memory: "8 MiB".into(),
        registrations: "none is kept".into(),
        fork: "a child may use its memory".into(),
        verbs: (false, "it is the second choice".into()),
        devices: devices.map(|()| vec![device()]).map_err(String::from),
    }
}

#[test]
fn rdma_as_text_and_as_json() {
    let text = rdma_info(Ok(())).text();
    for line in [
        "locked memory   8 MiB",
        "verbs           not used: it is the second choice",
        "device          rxe0",
        "  it is in use",
        "  too little memory",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}:\n{text}");
    }
    let json = |info: RdmaInfo| serde_json::from_str::<serde_json::Value>(&info.json()).unwrap();
    let read = json(rdma_info(Ok(())));
    assert_eq!(
        (&read["format"], &read["version"]),
        (&"oxmpi-rdma".into(), &1.into())
    );
    assert_eq!(read["devices"][0]["error"], "it is in use");
    assert!(read["devices"][0]["limits"].is_null() && read["devices_error"].is_null());
    let none = rdma_info(Err("no libibverbs"));
    assert!(none.text().contains("devices         none: no libibverbs"));
    assert_eq!(json(none)["devices_error"], "no libibverbs");
}

/// Entry 39 of Open MPI's FAQ on InfiniBand cuts the value out of this line.
#[test]
fn parameters_of_openib_are_printed_as_ompi_info_does() {
    let lines = |words: &[&str]| {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let mut options = Options::default();
        let read = OPTIONS.read(&words, &mut options).expect("options");
        assert_eq!(read, Parsed::Run(&[]));
        run(&options).map_err(|_| "an error").expect("text")
    };
    let plain = ["--param", "btl", "openib", "--level", "9"];
    let text = lines(&[&plain[..], &["--parsable"]].concat());
    let forks = "mca:btl:openib:param:btl_openib_have_fork_support:value:";
    let value = text.lines().find_map(|line| line.strip_prefix(forks));
    assert!(matches!(value, Some("0" | "1")), "{text}");
    let queues = "mca:btl:openib:param:btl_openib_receive_queues:value:";
    assert!(text.contains(queues), "{text}");
    assert!(text.lines().all(|line| line.starts_with("mca:btl:openib:")));
    let text = lines(&plain);
    assert!(text.contains("btl_openib_have_fork_support = "), "{text}");
    assert!(text.lines().is_sorted());
    let wrong: Vec<OsString> = ["--param", "btl", "tcp"].map(OsString::from).into();
    assert!(OPTIONS.read(&wrong, &mut Options::default()).is_err());
}

#[test]
fn a_report_has_the_system_and_its_rdma() {
    let folder = oxmpi_testkit::folder::Folder::fresh();
    let path = folder.path().join("node1");
    let options = Options {
        report: Some(path.clone()),
        ..Options::default()
    };
    run(&options).map_err(|_| "an error").expect("a file");
    let text = std::fs::read_to_string(path).expect("the report");
    for name in [
        "oxmpi",
        "system",
        "kernel",
        "interface",
        "host",
        "locked memory",
        "verbs",
        "device",
    ] {
        assert!(
            text.lines().any(|line| line.starts_with(name)),
            "{name}:\n{text}"
        );
    }
    assert!(
        text.ends_with(&RdmaInfo::collect(&selection()).text()),
        "{text}"
    );
}
