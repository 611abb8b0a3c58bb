//! Tests of the selection of transports: lists, warnings, reasons, and properties for any lists.

use std::format;
use std::string::{String, ToString as _};
use std::vec::Vec;

use proptest::prelude::*;

use super::*;

fn device(name: &str, kind: DeviceKind, speed: Option<u32>) -> Device {
    Device {
        name: name.into(),
        kind,
        up: true,
        speed,
        left_out: None,
    }
}

/// Loopback, two interfaces, one that is down, and two adapters, of which one has an interface.
fn host() -> Vec<Device> {
    let adapter = |port, interfaces: &[&str]| DeviceKind::Adapter {
        port,
        interfaces: interfaces.iter().map(|name| (*name).into()).collect(),
    };
    let mut all = Vec::from([
        device("lo", DeviceKind::Loopback, None),
        device("eth0", DeviceKind::Interface, Some(1000)),
        device("ib0", DeviceKind::Interface, Some(100_000)),
        device("eth1", DeviceKind::Interface, Some(40_000)),
        device("docker0", DeviceKind::Interface, None),
        device("mlx5_0", adapter(1, &["ib0"]), Some(100_000)),
        device("mlx5_1", adapter(2, &[]), None),
    ]);
    all[3].up = false;
    all[4].left_out = Some("tcp_exclude = docker0 excludes it".into());
    all
}

fn chosen(transports: &str, network: &str) -> Selection {
    let asked = |text, by| TransportPreference {
        list: TransportList::parse(text).unwrap(),
        by,
    };
    select(
        "node7",
        asked(transports, "transports"),
        asked(network, "network_devices"),
        &host(),
    )
}

/// `sm`, `tcp`, or both, and the interfaces.
fn used(transports: &str, network: &str) -> (bool, bool, String, usize) {
    let s = chosen(transports, network);
    (s.shared, s.tcp, s.interfaces.join(" "), s.warnings.len())
}

/// As [`chosen`], on a host whose adapters are down.
fn without_ports(transports: &str) -> Selection {
    let mut devices = host();
    let adapters = devices.iter_mut().filter(|device| device.is_adapter());
    adapters.for_each(|device| device.up = false);
    let asked = |text, by| TransportPreference {
        list: TransportList::parse(text).unwrap(),
        by,
    };
    let all = asked("auto", "network_devices");
    select("node7", asked(transports, "transports"), all, &devices)
}

/// Verbs takes the ports that are up, the fastest first, and needs interfaces to connect by.
#[test]
fn verbs_is_taken_where_a_port_is_usable() {
    for (transports, network, adapters, tcp) in [
        ("auto", "auto", "mlx5_0:1 mlx5_1:2", true),
        ("openib,self,sm", "auto", "mlx5_0:1 mlx5_1:2", true),
        ("rc,ud", "auto", "mlx5_0:1 mlx5_1:2", true),
        ("sm,ucx", "auto", "mlx5_0:1 mlx5_1:2", true),
        ("^tcp", "auto", "mlx5_0:1 mlx5_1:2", false),
        ("mlx5_1:2", "auto", "mlx5_1:2", true),
        ("auto", "mlx5_1", "mlx5_1:2", true),
        ("auto", "mlx5_0:1", "mlx5_0:1", true),
        ("auto", "^mlx5_0:1", "mlx5_1:2", true),
        ("auto", "eth0", "", true),
        ("^openib", "auto", "", true),
        ("sm,tcp", "auto", "", true),
        ("sm", "auto", "", false),
        ("dc,sm", "auto", "mlx5_0:1 mlx5_1:2", true),
    ] {
        let selection = chosen(transports, network);
        let found = selection.adapters.join(" ");
        assert_eq!(found, adapters, "{transports} {network}");
        assert_eq!(
            selection.verbs,
            !adapters.is_empty(),
            "{transports} {network}"
        );
        assert_eq!(selection.tcp, tcp, "{transports} {network}");
    }
    let selection = without_ports("^tcp");
    assert!(!selection.verbs && !selection.tcp && selection.interfaces.is_empty());
    assert!(without_ports("auto").warnings.is_empty());
}

#[test]
fn lists_that_include_and_exclude() {
    let both = "ib0 eth0".to_string();
    for (list, shared, tcp) in [
        ("auto", true, true),
        ("all", true, true),
        ("self,vader,tcp", true, true),
        ("sm,ofi", true, true),
        ("^openib", true, true),
        ("^openib,cuda_copy", true, true),
        ("self,sm", true, false),
        ("tcp,self", false, true),
        ("^tcp", true, false),
        ("^tcp,verbs", true, false),
        ("^vader", false, true),
        ("^sm,tcp", false, false),
    ] {
        // Verbs is connected by them, too.
        let has_network = tcp || matches!(list, "^tcp" | "^sm,tcp");
        let interfaces = if has_network {
            both.clone()
        } else {
            String::new()
        };
        assert_eq!(used(list, "auto"), (shared, tcp, interfaces, 0), "{list}");
    }
}

#[test]
fn the_fastest_interface_is_the_first_and_devices_narrow() {
    for (transports, network, interfaces) in [
        ("auto", "eth0", "eth0"),
        ("auto", "^eth0", "ib0"),
        ("auto", "mlx5_0:1", "ib0"),
        ("auto", "mlx5_0", "ib0"),
        ("auto", "^mlx5_0:1", "eth0"),
        ("sm,eth0", "auto", "eth0"),
        ("eth0,ib0", "^ib0", "eth0"),
        ("^ib0", "auto", "eth0"),
        ("auto", "lo,eth0", "eth0 lo"),
        ("auto", "^eth0,ib0", "lo"),
        ("eth0,ib0", "^ib0,eth0", "lo"),
        ("^lo", "^ib0,eth0", ""),
    ] {
        let (_, tcp, used, warnings) = used(transports, network);
        assert_eq!(used, interfaces, "{transports} {network}");
        let contradict = transports == "eth0,ib0" && interfaces == "lo";
        assert_eq!(tcp, !interfaces.is_empty(), "{transports} {network}");
        assert_eq!(warnings, usize::from(contradict), "{transports} {network}");
    }
}

/// A list of which nothing is left counts as not set.
#[test]
fn a_list_without_usable_devices_counts_as_not_set() {
    for (transports, network, shared, tcp) in [
        ("nope,eth0", "^lo,eth0,mlx5_0:1", true, false),
        ("eth0", "^lo,eth0,ib0", true, false),
        ("eth1", "auto", true, true),
        ("eth1,rc", "auto", false, true),
        ("eth1,tcp", "auto", false, true),
        ("nope,tcp", "^lo,eth0,mlx5_0:1", false, false),
    ] {
        let selection = chosen(transports, network);
        let taken = (selection.shared, selection.tcp);
        assert_eq!(taken, (shared, tcp), "{transports} {network}");
        for verdict in &selection.transports {
            let is_taken = match &*verdict.name {
                "sm" => shared,
                "verbs" => selection.verbs,
                _ => tcp,
            };
            assert_eq!(verdict.taken, is_taken, "{transports} {network}");
        }
    }
}

#[test]
fn a_missing_transport_gives_one_warning_and_the_next_is_used() {
    for (transports, network, says) in [
        (
            "sm,tpc",
            "auto",
            "transports: tpc is no transport and no device here; did you mean tcp?",
        ),
        ("sm,zzz9", "auto", "there are sm, verbs, tcp, lo, eth0"),
        (
            "dc,sm",
            "auto",
            "dc is for dynamic connections of Mellanox's adapters, which has no driver here; verbs is used instead",
        ),
        ("mvapi,sm", "auto", "mvapi is for Mellanox's interface VAPI"),
        (
            "yalla,mxm,sm",
            "auto",
            "yalla is for Mellanox's library MXM",
        ),
        (
            "auto",
            "mlx5_0:3",
            "network_devices: there is no device mlx5_0:3 here; there are lo",
        ),
        ("auto", "eht0", "did you mean eth0?"),
        ("^tpc", "auto", "did you mean tcp?"),
        (
            "auto",
            "eth1",
            "none of these devices can be used (eth1: it is down), so the list counts as not set",
        ),
        (
            "sm,docker0",
            "auto",
            "(docker0: tcp_exclude = docker0 excludes it)",
        ),
    ] {
        let selection = chosen(transports, network);
        let [warning] = &selection.warnings[..] else {
            panic!("{transports} {network}: {:?}", selection.warnings);
        };
        assert!(
            warning.starts_with("node7: ") && warning.contains(says),
            "{warning}"
        );
        assert!(selection.shared, "{transports} {network}");
    }
    let selection = without_ports("openib,self");
    let expected = "node7: transports: openib cannot be used, as no port of this host's RDMA devices is usable; tcp is \
                    used instead";
    assert_eq!(selection.warnings, [expected]);
    assert!(selection.tcp && !selection.verbs && without_ports("rc,sm").tcp);
    assert!(
        chosen("^weave0", "^virbr0").warnings.is_empty(),
        "other hosts have them"
    );
}

#[test]
fn every_transport_and_device_has_its_reason() {
    let lines = |selection: Selection| {
        let all = selection.transports.into_iter().chain(selection.devices);
        let line = |v: Verdict| format!("{} {} {}", v.name, if v.taken { "+" } else { "-" }, v.why);
        all.map(line).collect::<Vec<_>>()
    };
    assert_eq!(
        lines(chosen("auto", "auto")),
        [
            "sm + between ranks of a node",
            "verbs + the fastest network of this host",
            "tcp + it connects the ranks, and carries what verbs cannot",
            "lo - it leads to this host only",
            "eth0 + it is up, 1000 Mbit/s",
            "ib0 + it is up, 100000 Mbit/s",
            "eth1 - it is down",
            "docker0 - tcp_exclude = docker0 excludes it",
            "mlx5_0:1 + it is up, 100000 Mbit/s",
            "mlx5_1:2 + it is up",
        ]
    );
    let of = lines(chosen("tcp", "ib0"));
    assert_eq!(of[0], "sm - transports does not name it");
    assert_eq!(of[4], "eth0 - network_devices does not name it");
    let none = lines(chosen("^tcp,verbs", "auto"));
    assert_eq!(none[4], "eth0 - tcp is not taken");
    assert_eq!(none[8], "mlx5_0:1 - verbs is not taken");
    let down = lines(without_ports("auto"));
    assert_eq!(
        down[1],
        "verbs - no port of this host's RDMA devices is usable"
    );
    assert_eq!(down[2], "tcp + the fastest network that has a driver here");
    // No interface is taken for the ports' sake, and that is not why.
    assert_eq!(lines(without_ports("^tcp"))[1], down[1]);
    assert!(!chosen("^tcp", "auto").lacks_interfaces && !chosen("tcp", "ib0").lacks_interfaces);
    let none = chosen("^lo", "^ib0,eth0");
    assert!(none.lacks_interfaces);
    let none = lines(none);
    assert_eq!(
        none[1],
        "verbs - no interface of this host is usable, by which it connects"
    );
    assert_eq!(none[2], "tcp - no interface of this host is usable");
}

#[test]
fn a_transport_that_does_not_open_is_replaced_by_the_next() {
    let mut selection = chosen("auto", "auto");
    let warning = selection.failed("node7", Transport::Shared, &"no memory");
    assert_eq!(
        warning,
        "node7: sm does not open: no memory; verbs is used instead"
    );
    assert!(!selection.shared && selection.tcp && !selection.transports[0].taken);
    let warning = selection.failed("node7", Transport::Verbs, &"no memory");
    assert!(warning.ends_with("tcp is used instead"), "{warning}");
    assert_eq!(selection.transports[0].why, "it does not open: no memory");
    let warning = selection.failed("node7", Transport::Tcp, &"no descriptor is left");
    let last = "node7: tcp does not open: no descriptor is left; and nothing else is taken";
    assert_eq!(warning, last);
    assert!(!selection.tcp);
}

#[test]
fn errors_about_lists_point_at_the_wrong_part() {
    for (bad, at, caret) in [
        ("", 0, "\n  ^"),
        ("sm,,tcp", 3, "\n  sm,,tcp\n     ^"),
        ("tcp,^sm", 4, "one ^ before the first name"),
        ("^sm,^tcp", 4, "cannot be mixed"),
        ("^", 1, "found the end"),
        ("^all", 1, "at least one transport"),
        ("mlx5_0:", 7, "a port of a device"),
        ("mlx5_0:0", 7, "from 1 to 254"),
        ("mlx5_0:+1", 7, "from 1 to 254"),
        ("sm, t/p", 4, "found `t/p`"),
        ("shm:ofi", 4, "found `ofi`"),
    ] {
        let error = TransportList::parse(bad).unwrap_err();
        let shown = error.show(bad).to_string();
        assert_eq!(error.span.start, at, "{shown}");
        assert!(shown.contains(caret), "{shown}");
    }
    for row in SETTINGS {
        (row.check)(row.default).unwrap();
        for (_, ours) in row.aliases.iter().flat_map(|alias| alias.values) {
            (row.check)(ours).unwrap();
        }
    }
}

proptest! {
    /// For any lists: nothing excluded is used, only interfaces that are up are used, and some transport is
    /// used unless a list excludes transports, or names tcp or verbs without a usable interface.
    #[test]
    fn laws(
        list in "\\^?(sm|tcp|self|openib|eth0|ib0|mlx5_0:1|nope)(,(sm|tcp|rc|eth0|lo|eth1|x)){0,3}",
        network in "auto|\\^?(eth0|ib0|lo|eth1|mlx5_0)(,(eth0|mlx5_0:1|y)){0,2}",
    ) {
        let selection = chosen(&list, &network);
        let says = |word: &str| list.trim_start_matches('^').split(',').any(|w| w == word);
        let connects = selection.tcp || selection.verbs;
        if list.starts_with('^') {
            prop_assert_eq!(selection.shared, !says("sm"));
            prop_assert!(!(selection.tcp && says("tcp")));
        } else if says("sm") {
            prop_assert!(selection.shared);
        } else if !["tcp", "openib", "rc"].iter().any(|word| says(word)) {
            prop_assert!(selection.shared || connects);
        }
        prop_assert_eq!(connects, !selection.interfaces.is_empty());
        prop_assert_eq!(selection.verbs, !selection.adapters.is_empty());
        prop_assert!(!(selection.verbs && list.starts_with('^') && (says("openib") || says("rc"))));
        for name in &selection.interfaces {
            let device = host().into_iter().find(|device| device.name == *name).unwrap();
            prop_assert!(device.up && device.left_out.is_none());
            prop_assert!(!(list.starts_with('^') && says(name)));
        }
        prop_assert_eq!(selection.devices.len(), host().len());
    }
}
