//! Floods over queues and devices of all kinds.

use super::{connected, with_queues};
use crate::fake::Script;
use crate::transport::{EagerRings, VerbsOptions};
use oxmpi_testkit::conformance::{EventLog, eager};
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::{Peer, Put, Rx, Slot, Tx};
use proptest::prelude::*;

/// What an end does next: so many frames of this length, and a poll with this budget.
type Step = (usize, u8, u16, u32);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the queue, the device and the order of sends and polls: all frames arrive in order, and an end that was
    /// busy gets room.
    #[test]
    fn all_frames_arrive_in_order(
        (buffers, low, window, reserve) in (1..12u32, 1..12u32, 1..6u32, 1..4u32),
        (inline, late) in (prop_oneof![Just(0), 0..200u32], prop::option::of(1..u64::MAX)),
        (kind, shared, slots) in (0..3u8, 1..6u32, 0..5u32),
        steps in prop::collection::vec((0..3usize, 0..12u8, 0..128u16, 1..20u32), 1..200),
    ) {
        let low = 1 + low % buffers;
        let window = 1 + window % buffers.min(low + 1);
        let own = |size| format!("P,{size},{buffers},{low},{window},{reserve}");
        let queues = match kind {
            0 => own(128),
            1 => format!("{}:S,128,{shared},1,{slots}:S,90,{shared}", own(60)).replace(",0:", ",1:"),
            _ => format!("S,128,{shared},1,2:S,60,{shared},{shared},1"),
        };
        let rings = EagerRings { threshold: 2, peers: 2, slots, size: 100 };
        let options = VerbsOptions { inline, rings, ..with_queues(&queues) };
        let mut ends = connected(3, Script { inline: 128, late, ..Script::GOOD }, &options);
        let mut logs = [(); 3].map(|()| EventLog::default());
        let mut sent = [[0; 3]; 3];
        let mut busy = [[false; 3]; 3];
        let rest = [0, 1, 2].map(|at| -> Step { (at, 0, 0, 64) });
        for &(at, count, len, budget) in steps.iter().chain(rest.iter().cycle().take(600)) {
            let (tx, rx) = &mut ends[at];
            for frame in 0..usize::from(count) {
                let to = (at + 1 + frame % 2) % 3;
                let (tag, len) = (sent[at][to], usize::from(len));
                busy[at][to] = match tx.frame(Peer(to as u32), &eager(tag, len), len) {
                    Ok(mut slot) => {
                        slot.put(&pattern(len, u64::from(tag)));
                        slot.send();
                        sent[at][to] += 1;
                        false
                    }
                    Err(_) => true,
                };
            }
            rx.poll(tx, budget, &mut logs[at]);
        }
        for (at, log) in logs.iter().enumerate() {
            prop_assert!(log.lost.is_empty(), "{:?}", log.lost);
            for from in 0..3 {
                let frames = log.frames.iter().filter(|(peer, ..)| peer.0 as usize == from);
                let tags: Vec<u32> = frames.clone().map(|(_, head, _)| head.envelope.tag).collect();
                prop_assert_eq!(tags, (0..sent[from][at]).collect::<Vec<_>>());
                for (_, head, body) in frames {
                    prop_assert_eq!(body, &pattern(body.len(), head.envelope.tag.into()));
                }
                prop_assert!(!busy[at][from] || log.room.contains(&Peer(from as u32)));
            }
        }
    }
}
