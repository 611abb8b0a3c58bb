//! Long messages that several port pairs carry: of a device, and of several.

use super::rails::{Traffic, options};
use super::{HeapMemory, connected, joined, settle, with_queues};
use crate::fake::{self, Script};
use crate::registration::LeavePinned;
use crate::transport::region_key::RegionKey;
use crate::transport::{VerbsRx, VerbsTx};
use oxmpi_testkit::conformance::{EventLog, TestMemory};
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::{Access, Fault, Key, Local, Memory, Peer, Remote, Rma, Token};

/// Bytes of a long message, which goes in pieces of 1000 B.
const LONG: usize = 64_000;

/// Memory that stays registered, where it can, and memory that is registered in pieces.
const BOTH: [LeavePinned; 2] = [LeavePinned::On, LeavePinned::Off];

fn script(devices: u8, ports: u8) -> Script {
    Script {
        devices,
        ports,
        late: Some(7),
        ..Script::GOOD
    }
}

/// Bytes that each port of each device has carried.
fn carried(devices: u8, ports: u8) -> Vec<u64> {
    let device = |device| (1..=ports).map(move |port| fake::carried(device, port));
    (0..devices).flat_map(device).collect()
}

/// A long message is written by all ports of the first two devices, and read by one.
#[test]
fn writes_are_striped_over_ports_and_devices() {
    for leave_pinned in BOTH {
        for (devices, ports, all) in [(1, 2, 2), (2, 1, 2), (2, 2, 4), (3, 1, 2)] {
            for (reads, used) in [(false, all), (true, 1)] {
                let mut traffic = Traffic::new(script(devices, ports), &options(0, leave_pinned));
                traffic.access_of(0, reads, LONG);
                traffic.finish();
                let carried = carried(devices, ports);
                let most = LONG as u64 / (2 * used as u64);
                let striped = carried.iter().filter(|bytes| **bytes > most);
                assert_eq!(
                    striped.count(),
                    used,
                    "{leave_pinned:?}, reads {reads}: {carried:?}"
                );
                traffic.check();
            }
        }
    }
}

/// Whenever a device loses its only port, or fails, in a long message: the other one goes on with it.
#[test]
fn a_long_message_survives_the_loss_of_a_device() {
    let losses: [fn(u8); 2] = [|device| fake::cut(device, 1), fake::fail_device];
    for (leave_pinned, lose) in BOTH
        .into_iter()
        .flat_map(|of| losses.map(|lose| (of, lose)))
    {
        for (reads, device) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
            for polls in (0..60).step_by(3) {
                let mut traffic = Traffic::new(script(2, 1), &options(0, leave_pinned));
                traffic.access_of(0, reads, LONG);
                for _ in 0..polls {
                    traffic.poll(0);
                    traffic.poll(1);
                }
                lose(device);
                traffic.check();
            }
        }
    }
}

/// Memory that one of two devices does not register goes by the other one; when that is lost, by frames.
#[test]
fn memory_that_one_device_registers_goes_by_it() {
    for leave_pinned in BOTH {
        for reads in [false, true] {
            for (full, is_lost) in [(0, false), (1, false), (0, true), (1, true)] {
                let mut traffic = Traffic::new(script(2, 1), &options(0, leave_pinned));
                fake::fill(full);
                let before = fake::regions_so_far().len();
                traffic.access_of(0, reads, LONG);
                let other = 1 - full;
                if is_lost {
                    traffic.poll(0);
                    fake::cut(other, 1);
                }
                traffic.finish();
                let so_far = fake::regions_so_far().len();
                assert!(so_far > before, "the other device has room");
                let carried = carried(2, 1);
                let carries = usize::from(if is_lost { full } else { other });
                assert!(
                    carried[carries] > LONG as u64 / 2,
                    "{leave_pinned:?}, reads {reads}, {full} is full: {carried:?}"
                );
                traffic.check();
            }
        }
    }
}

/// More pieces at once than the only queue pair takes that reaches them, which others of the peer do not.
#[test]
fn pieces_wait_for_the_device_that_registers_them() {
    for full in [0, 1] {
        let mut traffic = Traffic::new(script(2, 1), &options(0, LeavePinned::Off));
        fake::fill(full);
        for _ in 0..24 {
            traffic.access_of(0, false, LONG);
        }
        traffic.check();
        let carried = carried(2, 1);
        let by_pieces = carried[usize::from(1 - full)];
        assert!(by_pieces > 24 * LONG as u64 / 2, "{carried:?}");
    }
}

/// The first device of one rank may be joined with the second one of the other.
#[test]
fn each_device_of_a_rail_has_a_key_of_its_own() {
    for (reads, leave_pinned) in [false, true]
        .into_iter()
        .flat_map(|of| BOTH.map(|by| (of, by)))
    {
        let ends = joined(2, script(2, 1), &options(0, leave_pinned), true);
        let mut traffic = Traffic::of(ends, script(2, 1));
        traffic.access_of(0, reads, LONG);
        traffic.finish();
        let carried = carried(2, 1);
        let used = carried.iter().filter(|bytes| **bytes > LONG as u64 / 4);
        assert_eq!(used.count(), if reads { 1 } else { 2 }, "{carried:?}");
        traffic.check();
    }
}

/// A put to memory of which `change` changes the key. Both ends have two devices, of which the second registers no memory of this
/// rank if it `is_full`.
fn put_to(is_full: bool, change: impl Fn(&mut RegionKey)) -> (EventLog, [HeapMemory; 2]) {
    let ends = connected(2, script(2, 1), &with_queues("P,1000,4"));
    let mut ends: [(VerbsTx, VerbsRx); 2] = ends.try_into().expect("two ends");
    let memory = [pattern(LONG, 1), vec![0; LONG]].map(HeapMemory::new);
    // Registered as a whole whatever other threads do to memory meanwhile.
    let both = Access::READ | Access::WRITE;
    let there = memory[1].bytes();
    let there = (ends[1].0.register(there, both, Peer(0))).expect("memory");
    let mut key = RegionKey::from_key(&ends[1].0.expose(&there, Peer(0)));
    change(&mut key);
    if is_full {
        fake::fill(1);
    }
    let here = memory[0].bytes();
    let here = (ends[0].0.register(here, both, Peer(1))).expect("memory");
    let mut log = EventLog::default();
    for (at, token) in [(0, Token(0)), (LONG as u64 / 2, Token(1))] {
        let (key, len): (&Key, _) = (&key.key(), LONG as u64 / 2);
        let local = Local {
            region: &here,
            at,
            len,
        };
        let remote = Remote { key, at, len };
        ends[0].0.put(Peer(1), local, remote, token).expect("room");
    }
    let [a, b] = &mut ends;
    settle(&mut [a, b], &mut log);
    drop(ends);
    assert_eq!(fake::registered(), 0);
    (log, memory)
}

/// This rank's memory and that of the peer may have no device in common that a rail joins.
#[test]
fn memory_without_a_common_device_goes_by_frames() {
    let changes: [fn(&mut RegionKey); 2] = [
        |key| key.start.rkeys[0] = None,
        |key| key.start.rkeys = [None; 2],
    ];
    for change in changes {
        let (log, [from, to]) = put_to(true, change);
        assert_eq!(log.done, [0, 1].map(|token| (Token(token), Ok(()))));
        assert_eq!(log.lost, []);
        assert!(from.to_vec() == to.to_vec());
    }
}

/// A wrong rkey of either device ends the operation and the peer, once, and writes nothing elsewhere.
#[test]
fn a_wrong_rkey_of_one_device_loses_the_peer() {
    for device in [0, 1] {
        let (log, _) = put_to(false, |key| {
            let rkey = key.start.rkeys[device].as_mut();
            *rkey.expect("registered with both") ^= 0x8000_0000;
        });
        let mut done = log.done.clone();
        done.sort_by_key(|(token, _)| token.0);
        let tokens: Vec<u64> = done.iter().map(|(token, _)| token.0).collect();
        assert_eq!(tokens, [0, 1], "each ends once");
        assert!(
            log.done
                .contains(&(Token(device as u64), Err(Fault::NOT_REGISTERED))),
            "device {device}: {:?}",
            log.done
        );
        assert_eq!(log.lost.len(), 2, "by both ends: {:?}", log.lost);
    }
}
