//! Frames that are sent inline without a completion each.

use super::{HeapMemory, connected, settle, with_queues};
use crate::fake::{self, Script};
use crate::transport::{EagerRings, VerbsOptions, VerbsRx, VerbsTx};
use oxmpi_testkit::conformance::{EventLog, TestMemory, eager};
use oxmpi_wire::{Access, Busy, Fault, Local, Memory, Peer, Put, Remote, Rma, Rx, Slot, Token, Tx};

const QUEUES: [&str; 3] = [
    "P,128,64,32,16:P,1000,64,32,16",
    "S,128,256,128,64:S,1000,256,128,64",
    "X,128,256,128,64:X,1000,256,128,64",
];

fn two_ends(script: Script, queues: &str) -> [(VerbsTx, VerbsRx); 2] {
    let ends = connected(2, script, &with_queues(queues));
    ends.try_into().expect("two ends were asked for")
}

/// Sends 8 bytes inline.
fn short(tx: &mut VerbsTx, to: u32) -> Result<(), Busy> {
    let memory = HeapMemory::new(vec![7; 8]);
    tx.short(Peer(to), &eager(0, 8), &memory.bytes())
}

/// Sends 1000 bytes by a buffer.
fn long(tx: &mut VerbsTx, to: u32) -> Result<(), Busy> {
    let mut slot = tx.frame(Peer(to), &eager(0, 1000), 1000)?;
    slot.put(&[7; 1000]);
    slot.send();
    Ok(())
}

/// A rank that asks whether all has left gets to know of the last frames, too; without that, few complete.
#[test]
fn a_rank_that_leaves_knows_of_the_end_of_all_frames() {
    for queues in QUEUES {
        for late in [None, Some(3)] {
            let script = Script {
                late,
                ..Script::GOOD
            };
            let mut ends = two_ends(script, queues);
            let mut log = EventLog::default();
            for _ in 0..5 {
                short(&mut ends[0].0, 1).expect("room");
            }
            let [a, b] = &mut ends;
            settle(&mut [a, b], &mut log);
            assert_eq!(ends[0].1.taken(), 0, "{queues}: no completion");
            assert!(ends[0].0.has_unsent() && ends[0].0.has_local_work());
            let [a, b] = &mut ends;
            settle(&mut [a, b], &mut log);
            assert_eq!(ends[0].1.taken(), 1, "{queues}: that of a write of nothing");
            assert!(!ends[0].0.has_unsent() && !ends[0].0.has_local_work());
            assert_eq!((log.frames.len(), log.lost.len()), (5, 0));
        }
    }
}

/// Any number of frames has room, however few completions there are.
#[test]
fn frames_without_completions_fill_no_send_queue() {
    for queues in QUEUES {
        for late in [None, Some(5)] {
            let script = Script {
                late,
                ..Script::GOOD
            };
            let mut ends = two_ends(script, queues);
            let mut log = EventLog::default();
            let mut sent = 0;
            for step in 0..10_000 {
                sent += usize::from(short(&mut ends[0].0, 1).is_ok());
                if step % 64 == 0 {
                    let [a, b] = &mut ends;
                    settle(&mut [a, b], &mut log);
                }
            }
            let [a, b] = &mut ends;
            settle(&mut [a, b], &mut log);
            assert!(sent > 5000, "{queues}: {sent} sent");
            assert_eq!((log.frames.len(), &log.lost[..]), (sent, &[][..]));
        }
    }
}

/// A frame without a completion keeps later ones of another queue waiting no longer than it is in flight.
#[test]
fn a_frame_whose_end_nobody_tells_closes_no_window() {
    for queues in QUEUES {
        let mut ends = two_ends(Script::GOOD, queues);
        let mut log = EventLog::default();
        short(&mut ends[0].0, 1).expect("room");
        let mut sent = 0;
        for _ in 0..2000 {
            sent += usize::from(long(&mut ends[0].0, 1).is_ok());
            let [a, b] = &mut ends;
            settle(&mut [a, b], &mut log);
        }
        assert!(sent > 1900, "{queues}: {sent} sent");
        assert_eq!((log.frames.len(), log.lost.len()), (1 + sent, 0));
    }
}

/// Nor does one behind a long put: when that has ended, nothing else tells of the frame.
#[test]
fn a_frame_behind_a_put_closes_no_window() {
    for queues in [
        "P,128,64,32,16:P,1000,400,64,16",
        "S,128,256,128,64:S,1000,1200,1000,400",
        "X,128,256,128,64:X,1000,1200,1000,400",
    ] {
        let [mut a, mut b] = two_ends(Script::GOOD, queues);
        let memory = [1, 2].map(|byte| HeapMemory::new(vec![byte; 64_000]));
        let both = Access::READ | Access::WRITE;
        let region = (a.0.register(memory[0].bytes(), both, Peer(1))).expect("memory");
        let there = (b.0.register(memory[1].bytes(), both, Peer(0))).expect("memory");
        let key = b.0.expose(&there, Peer(0));
        let (at, len) = (0, 64_000);
        let (key, region) = (&key, &region);
        let (from, to) = (Local { region, at, len }, Remote { key, at, len });
        a.0.put(Peer(1), from, to, Token(0)).expect("room");
        short(&mut a.0, 1).expect("room");
        let sent = (0..).find(|_| long(&mut a.0, 1).is_err());
        assert_eq!(sent, Some(255), "{queues}: the window");
        let mut log = EventLog::default();
        settle(&mut [&mut a], &mut log);
        assert_eq!(
            (&log.done[..], &log.lost[..]),
            (&[(Token(0), Ok(()))][..], &[][..])
        );
        assert_eq!(log.room, [Peer(1)], "{queues}");
    }
}

/// What asks for the end of frames has room beside as many messages as a queue takes, whichever queue it is.
#[test]
fn a_confirmation_has_a_place_of_its_own() {
    for queues in [
        "P,1000,64:P,128,8,4,2,2",
        "P,1000,64:S,128,64,48,8",
        "X,1000,64,48,8:X,128,64,48,8",
    ] {
        for seed in 1..20 {
            let script = Script {
                late: Some(seed),
                max_qp_wr: 200,
                ..Script::GOOD
            };
            let options = VerbsOptions {
                rings: EagerRings::OFF,
                ..with_queues(queues)
            };
            let ends = connected(2, script, &options);
            let [mut a, mut b] = ends.try_into().expect("two ends were asked for");
            let mut log = EventLog::default();
            let mut sent = 0;
            for step in 0..2000 {
                sent += usize::from(short(&mut a.0, 1).is_ok());
                if step % 3 == 0 {
                    a.0.has_unsent();
                    b.1.poll(&mut b.0, 64, &mut log);
                    a.1.poll(&mut a.0, 1, &mut log);
                }
            }
            settle(&mut [&mut a, &mut b], &mut log);
            assert_eq!(
                (log.frames.len(), &log.lost[..]),
                (sent, &[][..]),
                "{queues}"
            );
        }
    }
}

/// A frame without a completion that fails loses its peer, as any other does, and frees what the queue pair had.
#[test]
fn a_frame_that_fails_completes_nevertheless() {
    for queues in QUEUES {
        let [mut a, b] = two_ends(Script::GOOD, queues);
        let mut log = EventLog::default();
        settle(&mut [&mut a], &mut log);
        drop(b);
        short(&mut a.0, 1).expect("room");
        settle(&mut [&mut a], &mut log);
        let is_lost = matches!(
            log.lost[..],
            [(Peer(1), Fault::Silent | Fault::PeerDead | Fault::Refused(_))]
        );
        assert!(is_lost, "{queues}: {:?}", log.lost);
        assert!(!a.0.has_unsent());
        drop(a);
        assert_eq!(fake::registered(), 0);
    }
}
