//! Long messages that several port pairs carry: of a device, and of several.

use super::rails::{Traffic, options};
use super::{HeapMemory, connected, joined, settle, with_queues};
use crate::fake::{self, MappedMemory, PAGE, Script};
use crate::registration::{
    LeavePinned, RegistrationCaps, RegistrationOptions, notifier_unavailable,
};
use crate::transport::region_key::RegionKey;
use crate::transport::{VerbsOptions, VerbsRx, VerbsTx};
use oxmpi_testkit::conformance::{EventLog, TestMemory};
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::{Access, Fault, Local, Memory, Peer, Remote, Rma, Token};

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

/// Puts of a rank of two devices to another one.
struct Puts {
    /// Each moves as many bytes of a long message.
    count: u64,
    leave_pinned: LeavePinned,
    /// What the peer might do to this rank's memory, too.
    own: Access,
    /// The second device registers no memory of this rank.
    is_full: bool,
}

impl Puts {
    /// To memory that is registered as a whole, of which `change` changes the key. Returns what becomes of them, and the memory.
    fn run(&self, change: impl Fn(&mut RegionKey)) -> (EventLog, [HeapMemory; 2]) {
        let ends = connected(2, script(2, 1), &options(0, self.leave_pinned));
        let mut ends: [(VerbsTx, VerbsRx); 2] = ends.try_into().expect("two ends");
        let memory = [pattern(LONG, 1), vec![0; LONG]].map(HeapMemory::new);
        let there = memory[1].bytes();
        let there = (ends[1].0.register(there, READ_WRITE, Peer(0))).expect("memory");
        let mut key = RegionKey::from_key(&ends[1].0.expose(&there, Peer(0)));
        change(&mut key);
        if self.is_full {
            fake::fill(1);
        }
        let here = memory[0].bytes();
        let here = (ends[0].0.register(here, self.own, Peer(1))).expect("memory");
        let mut log = EventLog::default();
        let (key, len) = (key.key(), LONG as u64 / self.count);
        for token in 0..self.count {
            let at = token * len;
            let local = Local {
                region: &here,
                at,
                len,
            };
            let remote = Remote { key: &key, at, len };
            let begun = ends[0].0.put(Peer(1), local, remote, Token(token));
            begun.expect("room");
        }
        let [a, b] = &mut ends;
        settle(&mut [a, b], &mut log);
        drop(ends);
        assert_eq!(fake::registered(), 0);
        log.done.sort_by_key(|(token, _)| token.0);
        (log, memory)
    }

    /// As [`Puts::run`]; all bytes arrive.
    fn check(&self, change: impl Fn(&mut RegionKey)) {
        let (log, [from, to]) = self.run(change);
        let all: Vec<_> = (0..self.count)
            .map(|token| (Token(token), Ok(())))
            .collect();
        assert_eq!((log.done, log.lost), (all, vec![]));
        assert!(from.to_vec() == to.to_vec());
    }
}

/// Memory of such access is registered as a whole, even if it is not cached.
const READ_WRITE: Access = Access::READ.union(Access::WRITE);

const WHOLE: Puts = Puts {
    count: 2,
    leave_pinned: LeavePinned::On,
    own: READ_WRITE,
    is_full: false,
};

/// More pieces at once than the only queue pair takes by whose device they are registered.
#[test]
fn pieces_wait_for_the_device_that_registers_them() {
    let puts = Puts {
        count: 40,
        leave_pinned: LeavePinned::Off,
        own: Access::READ,
        is_full: true,
    };
    let (log, memory) = puts.run(|_| {});
    assert_eq!((log.done.len(), &log.lost[..]), (40, &[][..]));
    let [from, to] = memory.each_ref().map(HeapMemory::to_vec);
    assert!(from == to);
    // By the first device, each piece once, however long it waits.
    let start = memory[0].bytes().start().addr() as u64;
    let mut pieces = fake::regions_so_far();
    pieces.retain(|(at, _)| (start..start + LONG as u64).contains(at));
    let all = pieces.len();
    pieces.sort_unstable();
    pieces.dedup();
    assert_eq!(pieces.len(), all, "pieces that were registered twice");
}

/// This rank's memory and that of the peer may have no device in common that a rail joins.
#[test]
fn memory_without_a_common_device_goes_by_frames() {
    let puts = Puts {
        is_full: true,
        ..WHOLE
    };
    puts.check(|key| key.start.rkeys[0] = None);
    puts.check(|key| key.start.rkeys = [None; 2]);
}

/// A wrong rkey of either device ends each operation once, and the peer.
#[test]
fn a_wrong_rkey_of_one_device_loses_the_peer() {
    for device in [0, 1] {
        let (log, _) = WHOLE.run(|key| {
            let rkey = key.start.rkeys[device].as_mut();
            *rkey.expect("registered with both") ^= 0x8000_0000;
        });
        let tokens: Vec<u64> = log.done.iter().map(|(token, _)| token.0).collect();
        assert_eq!(tokens, [0, 1], "each ends once");
        let refused = (Token(0), Err(Fault::NOT_REGISTERED));
        assert_eq!(log.done[0], refused, "device {device}");
        assert_eq!(log.lost.len(), 2, "by both ends: {:?}", log.lost);
    }
}

/// Memory that one of two devices has no room for is registered with the other one, and what stays registered stays.
#[test]
fn a_full_device_beside_another_empties_no_cache() {
    let script = Script {
        paging_devices: 2,
        ..script(2, 1)
    };
    let registration = RegistrationOptions {
        uses_notifier: false,
        ..RegistrationOptions::default()
    };
    let options = VerbsOptions {
        registration,
        ..with_queues("P,1000,4")
    };
    let mut ends = connected(2, script, &options);
    let memory = MappedMemory::new(30);
    let mut use_pages = |pages: std::ops::Range<usize>| {
        let bytes = memory.bytes(pages.start * PAGE..pages.end * PAGE);
        let region = ends[0].0.register(bytes, READ_WRITE, Peer(1));
        ends[0].0.release(region.expect("memory"), Token(0));
        let counts = ends[0].0.registration_counts().expect("a cache");
        (counts.hits, counts.misses)
    };
    assert_eq!(use_pages(0..10), (0, 1));
    fake::fill(1);
    assert_eq!(use_pages(20..30), (0, 2));
    assert_eq!(use_pages(0..10), (1, 2));
    assert_eq!(use_pages(20..30), (2, 2));
}

/// A page that two devices pin counts twice, also for the caps.
#[test]
fn pages_of_two_devices_count_twice() {
    const PAGES: usize = 30;
    for (devices, cap, is_cached) in [(1, 30, true), (2, 59, false), (2, 60, true)] {
        let caps = RegistrationCaps {
            bytes: cap * PAGE as u64,
            ..RegistrationCaps::default()
        };
        let registration = RegistrationOptions {
            caps,
            ..RegistrationOptions::default()
        };
        let options = VerbsOptions {
            registration,
            ..with_queues("P,1000,4")
        };
        let mut ends = connected(2, script(devices, 1), &options);
        let memory = MappedMemory::new(PAGES);
        let before = fake::registered_bytes();
        let bytes = memory.bytes(0..PAGES * PAGE);
        let region = ends[0].0.register(bytes, READ_WRITE, Peer(1));
        let Some(counts) = ends[0].0.registration_counts() else {
            return assert!(notifier_unavailable().is_some());
        };
        let pinned = u64::from(devices) * (PAGES * PAGE) as u64;
        assert_eq!(fake::registered_bytes() - before, pinned);
        let cached = if is_cached { pinned } else { 0 };
        assert_eq!(counts.bytes, cached, "{devices} devices, {cap} pages");
        ends[0].0.release(region.expect("memory"), Token(0));
    }
}
