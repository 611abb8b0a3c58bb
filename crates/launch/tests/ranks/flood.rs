//! Tests of many messages to a rank that does not receive: its memory stays bounded, and all messages arrive.

use oxmpi::{Result, Source, World};

use crate::job::Job;

const RANKS: usize = 4;
const MESSAGES: u32 = 5000;
/// Words of a message: short enough for the eager protocol, so that the receiver keeps unexpected messages.
const WORDS: usize = 1000;

/// Private memory of this process, in bytes.
fn private() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a process has one");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|line| line.trim().strip_suffix("kB"));
    number
        .and_then(|number| number.trim().parse::<u64>().ok())
        .expect("a number")
        << 10
}

fn send_all(world: &World) -> Result<()> {
    let comm = world.comm();
    for number in 0..MESSAGES {
        let message = vec![number; WORDS];
        if comm.rank() == 1 {
            // Nothing waits for these sends. Their data stays with the sender; the receiver keeps an envelope
            // of each.
            comm.isend_owned(message, 0, 1)?;
        } else {
            comm.send(&message, 0, 1)?;
        }
    }
    Ok(())
}

/// Ranks send 60 MB to rank 0. It may keep about 16 MiB, and the messages that are on their way when it stops
/// the senders.
#[test]
fn unexpected_messages_take_bounded_memory() {
    Job::of(RANKS).succeed(|world| {
        let comm = world.comm();
        if comm.rank() > 0 {
            return send_all(world);
        }
        let before = private();
        // Rank 0 probes for a message that is never sent, until its memory stops growing.
        let (mut kept, mut looks) = (0, 0);
        while looks < 20 {
            for _ in 0..2000 {
                assert!(comm.iprobe(Source::Any, 2)?.is_none());
            }
            // The value can fall, as the kernel may reclaim pages.
            let now = private().saturating_sub(before);
            looks = if now > kept { 0 } else { looks + 1 };
            kept = kept.max(now);
        }
        assert!(kept < 30 << 20, "{kept} B are kept");

        let mut next = [0; RANKS];
        let mut room = vec![0; WORDS];
        for _ in 0..MESSAGES as usize * (RANKS - 1) {
            let status = comm.recv(&mut room, Source::Any, 1)?;
            let number = &mut next[status.source];
            assert!(room.iter().all(|word| word == number), "out of order");
            *number += 1;
        }
        assert!(next[1..].iter().all(|&number| number == MESSAGES));
        Ok(())
    });
}
