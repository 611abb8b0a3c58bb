//! Memory that is mapped, unmapped, moved, discarded and freed among transfers: no registration outlives its memory.

use super::{HeapMemory, connected, settle, with_queues};
use crate::fake::{self, MappedMemory, PAGE, Script};
use crate::registration::{
    CacheCounts, LeavePinned, RegistrationCaps, RegistrationOptions, notifier_unavailable,
};
use crate::transport::{VerbsOptions, VerbsRx, VerbsTx};
use oxmpi_os::RawBytes;
use oxmpi_testkit::conformance::{EventLog, TestMemory};
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::regions::Region;
use oxmpi_wire::{Access, Bytes as _, Local, Memory, Peer, Remote, Rma, Rx, Token};

const A: Peer = Peer(0);
const B: Peer = Peer(1);

/// Mappings at once.
const SLOTS: usize = 24;

/// Pages of the longest mapping.
const MOST_PAGES: u64 = 40;

/// Transfers in flight at most.
const IN_FLIGHT: usize = 4;

const CAPS: RegistrationCaps = RegistrationCaps {
    ranges: 20,
    bytes: 2 << 20,
};

/// A mapping, and whether a transfer uses it.
struct Slot {
    memory: MappedMemory,
    is_used: bool,
}

/// A get of `a` from `b`.
struct Transfer {
    token: u64,
    from: usize,
    to: usize,
    /// Where the bytes are in both.
    at: usize,
    bytes: Vec<u8>,
    /// Here and there.
    regions: [Region; 2],
}

/// A rank on either side, the memory of both, and what is in flight.
struct Churn {
    ends: [(VerbsTx, VerbsRx); 2],
    log: EventLog,
    slots: Vec<Slot>,
    transfers: Vec<Transfer>,
    seed: u64,
    steps: u64,
    devices: usize,
}

impl Churn {
    fn new(registration: RegistrationOptions) -> Self {
        Self::on(Script::GOOD, registration)
    }

    fn on(script: Script, registration: RegistrationOptions) -> Self {
        let script = Script {
            late: Some(0xc0ffee),
            ..script
        };
        let options = VerbsOptions {
            registration,
            ..with_queues("P,1000,8")
        };
        let ends = connected(2, script, &options);
        let slot = |_| Slot {
            memory: MappedMemory::new(1),
            is_used: false,
        };
        Self {
            ends: ends.try_into().expect("two ends"),
            log: EventLog::default(),
            slots: (0..SLOTS).map(slot).collect(),
            transfers: Vec::new(),
            seed: 0x5eed,
            steps: 0,
            devices: script.devices.into(),
        }
    }

    /// A number below `below`: xorshift64 (Marsaglia, "Xorshift RNGs", 2003).
    fn draw(&mut self, below: u64) -> u64 {
        for shift in [13, -7_i32, 17] {
            self.seed ^= match shift {
                left if left > 0 => self.seed << left,
                right => self.seed >> -right,
            };
        }
        self.seed % below
    }

    fn step(&mut self) {
        self.steps += 1;
        let at = self.draw(SLOTS as u64) as usize;
        let what = self.draw(1000);
        if what < 700 {
            let to = self.draw(SLOTS as u64) as usize;
            return self.start(at, to);
        }
        if self.slots[at].is_used {
            return self.poll();
        }
        let pages = 1 + self.draw(MOST_PAGES);
        let slot = &mut self.slots[at].memory;
        match what {
            700..750 => *slot = MappedMemory::new(pages as usize),
            750..780 => *slot = MappedMemory::shared(pages as usize),
            780..840 => slot.resize(pages as usize),
            840..900 => {
                let first = pages as usize % slot.pages();
                slot.discard(first..slot.pages());
            }
            900..998 => self.send_from_the_heap(pages as usize * PAGE * 2),
            _ => fake::fork_and_wait(|| true),
        }
    }

    /// Starts a transfer between the mappings of two slots.
    fn start(&mut self, from: usize, to: usize) {
        if from == to || self.slots[from].is_used || self.slots[to].is_used {
            return self.poll();
        }
        let shorter = self.slots[from]
            .memory
            .pages()
            .min(self.slots[to].memory.pages());
        let at = self.draw(PAGE as u64) as usize;
        let len = 1 + self.draw((shorter * PAGE - at) as u64) as usize;
        let bytes = pattern(len, self.steps);
        let [here, there] = [to, from].map(|slot| self.slots[slot].memory.bytes(at..at + len));
        there.fill(0, &mut &bytes[..]);
        let regions = self.get(there, here);
        (self.slots[from].is_used, self.slots[to].is_used) = (true, true);
        self.transfers.push(Transfer {
            token: self.steps,
            from,
            to,
            at,
            bytes,
            regions,
        });
        while self.transfers.len() > IN_FLIGHT {
            self.poll();
        }
    }

    /// Starts to get `from` to `to`, under the number of this step.
    fn get(&mut self, from: RawBytes, to: RawBytes) -> [Region; 2] {
        let [(a, _), (b, _)] = &mut self.ends;
        let here = a.register(to, Access::WRITE, B).expect("memory");
        let there = b.register(from, Access::READ, A).expect("memory");
        let key = b.expose(&there, A);
        let len = from.len();
        let remote = Remote {
            key: &key,
            at: 0,
            len,
        };
        let local = Local {
            region: &here,
            at: 0,
            len,
        };
        a.get(B, remote, local, Token(self.steps)).expect("room");
        [here, there]
    }

    /// Memory of the allocator, which is freed when it is sent, and may be unmapped then.
    fn send_from_the_heap(&mut self, len: usize) {
        let sent = HeapMemory::new(pattern(len, self.steps));
        let got = HeapMemory::new(vec![0; len]);
        let regions = self.get(sent.bytes(), got.bytes());
        let token = (Token(self.steps), Ok(()));
        while !self.log.done.contains(&token) {
            self.poll_ends();
        }
        self.log.done.retain(|done| *done != token);
        assert!(sent.to_vec() == got.to_vec(), "step {}", self.steps);
        self.release(regions);
    }

    /// Ends the registrations, and waits until both have ended.
    fn release(&mut self, [here, there]: [Region; 2]) {
        let [(a, _), (b, _)] = &mut self.ends;
        let tokens = [u64::MAX, u64::MAX - 1].map(Token);
        a.release(here, tokens[0]);
        b.release(there, tokens[1]);
        let is_done = |log: &EventLog| {
            tokens
                .iter()
                .all(|token| log.done.contains(&(*token, Ok(()))))
        };
        while !is_done(&self.log) {
            self.poll_ends();
        }
        self.log.done.retain(|(token, _)| !tokens.contains(token));
    }

    fn poll_ends(&mut self) {
        for (tx, rx) in &mut self.ends {
            rx.poll(tx, 64, &mut self.log);
        }
        assert!(self.log.lost.is_empty(), "{:?}", self.log.lost);
    }

    /// Ends the transfers that are done, and checks what they have brought.
    fn poll(&mut self) {
        self.poll_ends();
        while let Some(at) = self
            .log
            .done
            .iter()
            .position(|(token, _)| token.0 <= self.steps)
        {
            let (token, result) = self.log.done.swap_remove(at);
            assert_eq!(result, Ok(()), "step {}", self.steps);
            let ended = self
                .transfers
                .iter()
                .position(|transfer| transfer.token == token.0);
            let transfer = self.transfers.swap_remove(ended.expect("a transfer"));
            let mut got = Vec::new();
            let to = &self.slots[transfer.to].memory;
            let len = transfer.bytes.len();
            let bytes = to.bytes(transfer.at..transfer.at + len);
            bytes.drain(0, len, &mut Collected(&mut got, len));
            assert!(got == transfer.bytes, "step {}: other bytes", self.steps);
            self.release(transfer.regions);
            for slot in [transfer.from, transfer.to] {
                self.slots[slot].is_used = false;
            }
        }
    }

    /// Runs `steps` steps; returns what the first rank's cache says.
    fn run(mut self, steps: u64) -> Option<CacheCounts> {
        let before = fake::registered();
        let most = before + 2 * self.devices * (CAPS.ranges + 2 * IN_FLIGHT + 16);
        for _ in 0..steps {
            self.step();
            assert!(
                fake::registered() <= most,
                "step {}: registrations are left",
                self.steps
            );
        }
        while !self.transfers.is_empty() {
            self.poll();
        }
        let counts = self.ends[0].0.registration_counts();
        drop(self.ends);
        assert_eq!(fake::registered(), 0, "no memory is left to the device");
        counts
    }
}

/// Bytes to be put into a vector.
struct Collected<'a>(&'a mut Vec<u8>, usize);

impl oxmpi_wire::Put for Collected<'_> {
    fn room(&self) -> usize {
        self.1 - self.0.len()
    }

    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// `OXMPI_TEST_MEMORY_STEPS` sets the number of steps.
#[test]
fn no_registration_outlives_its_memory() {
    let steps = std::env::var("OXMPI_TEST_MEMORY_STEPS");
    let steps = steps.map_or(20_000, |steps| steps.parse().expect("a number"));
    let counts = Churn::new(RegistrationOptions {
        caps: CAPS,
        ..RegistrationOptions::default()
    });
    let Some(counts) = counts.run(steps) else {
        return assert!(notifier_unavailable().is_some(), "a notifier, and no cache");
    };
    let CacheCounts {
        hits,
        misses,
        uncached,
        bytes,
    } = counts;
    let all = hits + misses + uncached;
    let rate = hits * 100 / all;
    println!(
        "{steps} steps: {all} look-ups, {rate} % hits, {misses} misses, {uncached} uncached, {bytes} B"
    );
    assert!(bytes <= CAPS.bytes, "{counts:?}");
    assert!(hits > all / 10, "{counts:?}");
    assert!(uncached < all / 10, "{counts:?}");
}

/// Caps hold for both devices together.
#[test]
fn two_devices_forget_memory_that_goes() {
    let script = Script {
        devices: 2,
        ..Script::GOOD
    };
    let registration = RegistrationOptions {
        caps: CAPS,
        ..RegistrationOptions::default()
    };
    let Some(counts) = Churn::on(script, registration).run(5000) else {
        return assert!(notifier_unavailable().is_some(), "a notifier, and no cache");
    };
    assert!(counts.bytes > 0 && counts.bytes <= CAPS.bytes, "{counts:?}");
    assert!(counts.hits > counts.misses / 10, "{counts:?}");
}

#[test]
fn without_a_notifier_nothing_is_cached() {
    for copied in [0, u64::MAX] {
        let churn = Churn::new(RegistrationOptions {
            leave_pinned: LeavePinned::Off,
            caps: CAPS,
            copied,
            ..RegistrationOptions::default()
        });
        assert_eq!(churn.run(3000), None);
    }
}

/// Without a notifier, memory stays registered where the first device asks for pages on demand, with those that do.
#[test]
fn a_device_that_pages_on_demand_needs_no_notifier() {
    for (devices, paging_devices) in [(1, 0), (1, 1), (2, 1), (2, 2)] {
        let script = Script {
            devices,
            paging_devices,
            ..Script::GOOD
        };
        let churn = Churn::on(
            script,
            RegistrationOptions {
                caps: CAPS,
                uses_notifier: false,
                ..RegistrationOptions::default()
            },
        );
        let counts = churn.run(10_000);
        assert_eq!(counts.is_some(), paging_devices > 0);
        let Some(CacheCounts {
            hits,
            misses,
            uncached,
            bytes,
        }) = counts
        else {
            continue;
        };
        assert!(hits > (hits + misses) / 10, "{counts:?}");
        assert!(uncached < (hits + misses) / 10, "{counts:?}");
        assert!(bytes <= CAPS.bytes, "{counts:?}");
    }
}

/// Memory that was received into, and may no more be written, can be sent: its registration for writing is no use for that.
#[test]
fn memory_that_has_become_read_only_is_sent_on_demand() {
    let script = Script {
        paging_devices: 1,
        ..Script::GOOD
    };
    let options = VerbsOptions {
        registration: RegistrationOptions {
            uses_notifier: false,
            ..RegistrationOptions::default()
        },
        ..with_queues("P,1000,8")
    };
    let [mut a, mut b] = <[_; 2]>::try_from(connected(2, script, &options)).expect("two ends");
    let mut log = EventLog::default();
    let mut there = MappedMemory::new(1);
    for (token, access) in [(1, Access::WRITE), (2, Access::READ)] {
        let own = HeapMemory::new(pattern(PAGE, 3 * (2 - token)));
        let here = (a.0).register(own.bytes(), Access::READ | Access::WRITE, B);
        let of_b = b.0.register(there.bytes(0..PAGE), access, A);
        let (here, of_b) = (here.expect("memory"), of_b.expect("memory"));
        let key = b.0.expose(&of_b, A);
        let (at, len) = (0, PAGE as u64);
        let (remote, local) = (
            Remote { key: &key, at, len },
            Local {
                region: &here,
                at,
                len,
            },
        );
        match token {
            1 => a.0.put(B, local, remote, Token(token)),
            _ => a.0.get(B, remote, local, Token(token)),
        }
        .expect("room");
        settle(&mut [&mut a, &mut b], &mut log);
        assert_eq!(log.done.pop(), Some((Token(token), Ok(()))));
        assert_eq!(own.to_vec(), pattern(PAGE, 3), "put, and got back");
        a.0.release(here, Token(10));
        b.0.release(of_b, Token(10));
        settle(&mut [&mut a, &mut b], &mut log);
        there.protect();
        log.done.clear();
    }
}
