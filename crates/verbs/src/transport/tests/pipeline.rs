//! Long memory that does not stay registered.

use super::{HeapMemory, device, settle, with_queues};
use crate::fake::{self, PAGE, Script};
use crate::registration::{LeavePinned, RegistrationOptions, notifier_unavailable};
use crate::transport::control::Control;
use crate::transport::{
    EagerRings, LongMessages, PairAddress, PortPair, VerbsEndpoint, VerbsOptions, VerbsRx, VerbsTx,
};
use oxmpi_testkit::conformance::{EventLog, TestMemory};
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::regions::Region;
use oxmpi_wire::{Access, Fault, Local, Memory, Peer, Remote, Rma, Rx, Token, Tx};

const A: Peer = Peer(0);
const B: Peer = Peer(1);

/// Bytes before the pieces, and behind them, and of one of them.
const FIRST: u32 = 1000;
const LAST: u32 = 6000;
const FRAGMENT: u32 = 4 * PAGE as u32;

/// Two connected ends, of which each leaves what it says pinned.
fn ends(script: Script, leave_pinned: [LeavePinned; 2]) -> [(VerbsTx, VerbsRx); 2] {
    let context = device(script);
    let [mut a, mut b] = leave_pinned.map(|leave_pinned| {
        let options = VerbsOptions {
            long: LongMessages {
                first: Some(FIRST),
                last: LAST,
                fragment: FRAGMENT,
                ..with_queues("P,4096,8").long
            },
            piece: 2 * FRAGMENT,
            rings: EagerRings::OFF,
            registration: RegistrationOptions {
                leave_pinned,
                copied: 0,
                ..RegistrationOptions::default()
            },
            ..with_queues("P,4096,8")
        };
        VerbsEndpoint::open(&context, 2, options).expect("an endpoint")
    });
    let port_pair = |mut there: Vec<PairAddress>| PortPair {
        rail: 0,
        device: 0,
        there: there.remove(0),
    };
    let [here, there] = [a.offer(B), b.offer(A)].map(|pairs| port_pair(pairs.expect("pairs")));
    a.connect(B, &[there]).expect("a connection");
    b.connect(A, &[here]).expect("a connection");
    [a.into_halves(), b.into_halves()]
}

/// A transfer of `a`, which gets from `b` or puts to it.
struct Transfer {
    is_get: bool,
    source: HeapMemory,
    target: HeapMemory,
    regions: [Region; 2],
    log: EventLog,
}

impl Transfer {
    /// Starts to move `part` bytes of `len` from byte `at` of `a` on, and from byte `there` of `b` on.
    fn begin(
        [(a, _), (b, _)]: &mut [(VerbsTx, VerbsRx); 2],
        is_get: bool,
        len: usize,
        [at, there, part]: [usize; 3],
    ) -> Self {
        let source = HeapMemory::new(pattern(len, 1));
        let target = HeapMemory::new(vec![0xee; len]);
        let (from, to) = ((&source, Access::READ), (&target, Access::WRITE));
        let (mine, theirs) = if is_get { (to, from) } else { (from, to) };
        let region = a.register(mine.0.bytes(), mine.1, B).unwrap();
        let other = b.register(theirs.0.bytes(), theirs.1, A).unwrap();
        let (key, part) = (b.expose(&other, A), part as u64);
        let remote = Remote {
            key: &key,
            at: there as u64,
            len: part,
        };
        let local = Local {
            region: &region,
            at: at as u64,
            len: part,
        };
        match is_get {
            true => a.get(B, remote, local, Token(1)).unwrap(),
            false => a.put(B, local, remote, Token(1)).unwrap(),
        }
        Self {
            is_get,
            source,
            target,
            regions: [region, other],
            log: EventLog::default(),
        }
    }

    /// Releases both regions when the transfer has ended well, and checks its bytes.
    fn end(mut self, ends: &mut [(VerbsTx, VerbsRx); 2], [at, there, part]: [usize; 3]) {
        let [first, second] = ends;
        settle(&mut [first, second], &mut self.log);
        assert_eq!(self.log.done, [(Token(1), Ok(()))]);
        let (source, target) = (self.source.to_vec(), self.target.to_vec());
        let (from, to) = if self.is_get {
            (there, at)
        } else {
            (at, there)
        };
        let mut expected = vec![0xee; target.len()];
        expected[to..][..part].copy_from_slice(&source[from..][..part]);
        assert!(target == expected, "get {}: other bytes", self.is_get);
        self.release(ends);
    }

    fn release(mut self, ends: &mut [(VerbsTx, VerbsRx); 2]) {
        for ((tx, _), region) in ends.iter_mut().zip(self.regions) {
            tx.release(region, Token(2));
        }
        let [first, second] = ends;
        settle(&mut [first, second], &mut self.log);
        assert_eq!(self.log.done.len(), 3, "both releases have ended");
    }
}

/// Moves all of `len` bytes.
fn whole(ends: &mut [(VerbsTx, VerbsRx); 2], is_get: bool, len: usize) {
    Transfer::begin(ends, is_get, len, [0, 0, len]).end(ends, [0, 0, len]);
}

const BOTH_OFF: [LeavePinned; 2] = [LeavePinned::Off; 2];
const LEN: usize = 60 * PAGE + 500;

/// On a device that is late or not, whichever side asks, also where memory of one side stays registered.
#[test]
fn few_pieces_are_registered_at_a_time_and_never_the_last_page() {
    use LeavePinned::{Off, On};
    for leave_pinned in [BOTH_OFF, [Off, On], [On, Off]] {
        if leave_pinned != BOTH_OFF && notifier_unavailable().is_some() {
            continue;
        }
        for (is_get, late) in [
            (true, None),
            (true, Some(7)),
            (false, None),
            (false, Some(7)),
        ] {
            let script = Script {
                late,
                ..Script::GOOD
            };
            let mut ends = ends(script, leave_pinned);
            let own = fake::registered_bytes();
            let before = fake::regions_so_far().len();
            let all = [0, 0, LEN];
            let transfer = Transfer::begin(&mut ends, is_get, LEN, all);
            let all_but_last = [&transfer.source, &transfer.target].map(|memory| {
                let start = memory.bytes().start().addr();
                start as u64..((start + LEN - 1) / PAGE * PAGE) as u64
            });
            transfer.end(&mut ends, all);
            if leave_pinned != BOTH_OFF {
                continue;
            }
            assert_eq!(fake::registered_bytes(), own, "all pieces are released");
            let most = fake::most_registered_bytes() - own;
            assert!(most <= 2 * 4 * u64::from(FRAGMENT), "{most} B at a time");
            let regions = &fake::regions_so_far()[before..];
            let bytes: usize = regions.iter().map(|(_, len)| len).sum();
            assert_eq!(bytes, 2 * (LEN - (FIRST + LAST) as usize));
            for (at, len) in regions {
                let of = all_but_last.iter().find(|pages| pages.contains(at));
                let end = of.expect("a piece of either").end;
                assert!(at + *len as u64 <= end, "on the last page");
            }
        }
    }
}

/// Whichever registration of a piece fails, here or there, its bytes go by frames.
#[test]
fn a_piece_that_is_not_registered_goes_by_frames() {
    for is_get in [true, false] {
        // Each end has registered its receives and its sends.
        for number in 5..5 + 28 {
            let script = Script {
                failing_registration: Some(number),
                ..Script::GOOD
            };
            let mut ends = ends(script, BOTH_OFF);
            whole(&mut ends, is_get, LEN);
            let pieces = fake::regions_so_far().len() - 4;
            assert!((27..40).contains(&pieces), "{pieces} of both");
        }
    }
}

/// Parts of a region that begin and end within its pieces or outside of them.
#[test]
fn parts_of_long_memory_move_alike() {
    let mut ends = ends(Script::GOOD, BOTH_OFF);
    for is_get in [true, false] {
        for part in [
            [0, 0, 500],
            [0, 5000, LEN / 2],
            [LEN / 2, 3, LEN / 2],
            [LEN - 7000, 0, 7000],
            [900, 900, LEN - 900],
            [1, 0, LEN - 1],
        ] {
            Transfer::begin(&mut ends, is_get, LEN, part).end(&mut ends, part);
        }
    }
}

/// A key of memory that was released is refused, and breaks nothing.
#[test]
fn a_released_key_is_refused() {
    for is_get in [true, false] {
        let mut ends = ends(Script::GOOD, BOTH_OFF);
        let mut transfer = Transfer::begin(&mut ends, is_get, LEN, [0, 0, LEN]);
        // Released before the request has come.
        let [here, there] = transfer.regions;
        ends[1].0.release(there, Token(0));
        let [first, second] = &mut ends;
        settle(&mut [first, second], &mut transfer.log);
        let refused = (Token(1), Err(Fault::NOT_REGISTERED));
        assert!(
            transfer.log.done.contains(&refused),
            "{:?}",
            transfer.log.done
        );
        assert!(transfer.log.lost.is_empty());
        ends[0].0.release(here, Token(2));
    }
}

/// Whenever a peer is lost, transfers end, and nothing stays registered.
#[test]
fn a_loss_ends_both_sides() {
    for is_get in [true, false] {
        for polls in 0..20 {
            let script = Script {
                late: Some(3),
                ..Script::GOOD
            };
            let mut ends = ends(script, BOTH_OFF);
            let own = fake::registered_bytes();
            let mut transfer = Transfer::begin(&mut ends, is_get, LEN, [0, 0, LEN]);
            for _ in 0..polls {
                for (tx, rx) in &mut ends {
                    rx.poll(tx, 64, &mut transfer.log);
                }
            }
            for ((tx, _), peer) in ends.iter_mut().zip([B, A]) {
                tx.give_up(peer, Fault::PeerDead);
            }
            transfer.release(&mut ends);
            assert_eq!(fake::registered_bytes(), own, "after {polls} polls");
        }
    }
}

/// A peer that shows more pieces than an owner registers at a time, or longer ones than a request moves, breaks the protocol.
#[test]
fn pieces_are_bounded() {
    let show = |len| {
        let mut ends = ends(Script::GOOD, BOTH_OFF);
        let _transfer = Transfer::begin(&mut ends, true, LEN, [0, 0, LEN]);
        // Of the first operation of a rank; a piece that is not registered goes by frames, and others wait for its end.
        let mut at = FIRST.into();
        let mut next = || {
            let shown = Control::Piece {
                id: 0,
                at,
                len,
                start: None,
            };
            at += len;
            ends[0].0.control(1, shown)
        };
        let good = std::iter::from_fn(|| Some(next())).take(100);
        let results: Vec<_> = good.collect();
        let first = results.iter().position(Result::is_err);
        first.map(|at| (at, results[at].unwrap_err()))
    };
    let [many, long] = [1, 4 * u64::from(FRAGMENT)].map(show);
    assert_eq!(many, Some((5, "more pieces at once than a rank registers")));
    assert_eq!(long, Some((0, "a piece that one request does not move")));
}

/// As `mpi_leave_pinned_pipeline` says.
#[test]
fn pieces_that_stay_registered_are_found() {
    if notifier_unavailable().is_some() {
        return;
    }
    let mut ends = ends(Script::GOOD, [LeavePinned::Pipeline; 2]);
    whole(&mut ends, true, LEN);
    let counts = ends[0].0.registration_counts().expect("a cache");
    assert!(
        counts.misses >= 10 && counts.bytes > 50 * PAGE as u64,
        "{counts:?}"
    );
    assert_eq!(counts.uncached, 0);
    for is_get in [true, false] {
        whole(&mut ends, is_get, 3 * PAGE);
    }
}
