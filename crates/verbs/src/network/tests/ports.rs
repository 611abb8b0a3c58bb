//! A rank with several ports.

use super::*;
use crate::preference::RdmaPreference;

/// The ports of two devices, of which some cannot be used: the others are used up to the limit, in the rank's order, and
/// carry messages also when one has no route, or fails.
#[test]
fn a_rank_uses_all_ports_that_it_can() {
    let script = Script {
        devices: 2,
        ports: 2,
        ..Script::GOOD
    };
    fake::run(script);
    let devices = devices_of(&fake::LIBRARY).expect("a list");
    let ports = ["fake1:2", "none:1", "fake0:1", "fake1:1", "fake0:2"].map(str::to_owned);
    let open = |ports: &[String], rails| {
        let preference = RdmaPreference {
            rails,
            ..RdmaPreference::default()
        };
        RdmaPort::open_of(&devices, ports, 2, &preference).expect("ports")
    };
    for (rails, devices) in [(1, 1), (2, 2), (3, 2), (8, 2)] {
        let port = open(&ports, rails);
        assert_eq!(port.fabrics().len(), rails.min(4));
        let used = port.endpoint.into_parts().0.devices();
        assert_eq!(used.iter().max(), Some(&(devices - 1)), "{rails}");
    }
    let reversed: Vec<String> = ports.iter().rev().cloned().collect();
    let opened = [open(&ports, 8), open(&reversed, 3)];
    assert!(RdmaPort::reaches(opened[0].network(), opened[1].network()));
    let controls = switch::<RawBytes>(2).expect("sockets");
    let ends = controls.into_iter().zip(opened);
    let mut all: Vec<_> = ends
        .map(|(control, port)| port.over(control, &[true; 2], true, None))
        .collect();
    let mut logs = [EventLog::default(), EventLog::default()];
    fake::cut(1, 1);
    all[0].0.connect(Peer(1));
    settle(&mut all, &mut logs);
    let mut sent = 0;
    for (device, port) in [(1, 2), (0, 2)] {
        fake::cut(device, port);
        for from in [0, 1].repeat(20) {
            sent += u32::from(send(&mut all[from].0, Peer(1 - from as u32)).is_ok());
            settle(&mut all, &mut logs);
        }
    }
    let got: usize = logs.iter().map(|log| log.frames.len()).sum();
    assert_eq!((got, sent), (80, 80));
    assert!(logs.iter().all(|log| log.lost.is_empty()));
}
