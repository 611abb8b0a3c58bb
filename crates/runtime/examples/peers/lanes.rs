//! One rank, two threads, a lane each: messages of 8 B that each thread sends to itself.
//!
//! One line: nanoseconds for each message of one thread alone and of both together, and the ratio of
//! the two rates, over blocks that take turns. On two idle processors the ratio is near 2: lanes
//! share nothing. Start it by hand, or as a job of one rank.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use oxmpi::{Comm, Result, World};

/// Pairs of blocks.
const BLOCKS: usize = 41;

/// Messages that each thread sends in a block.
const MESSAGES: u64 = 40_000;

/// Messages under way at once.
const WINDOW: u64 = 32;

fn messages(comm: &Comm) -> Result<()> {
    for first in (0..MESSAGES).step_by(WINDOW as usize) {
        for value in first..first + WINDOW {
            comm.send(&[value], 0, 1)?;
        }
        for value in first..first + WINDOW {
            let mut got = [0u64];
            comm.recv(&mut got, 0, 1)?;
            assert_eq!(got, [value]);
        }
    }
    Ok(())
}

/// Where two threads wait for each other without sleeping.
struct Meeting(AtomicU32);

impl Meeting {
    /// The `n`th meeting, from 0.
    fn hold(&self, n: u32) {
        self.0.fetch_add(1, Ordering::AcqRel);
        while self.0.load(Ordering::Acquire) < 2 * (n + 1) {
            std::hint::spin_loop();
        }
    }
}

fn main() -> Result<()> {
    let world = World::init()?;
    let lane = world.comm().lane()?;
    let meeting = Meeting(AtomicU32::new(0));
    let meetings = 3 * BLOCKS as u32;
    let (mut alone, mut both) = ([0.0; BLOCKS], [0.0; BLOCKS]);
    std::thread::scope(|threads| {
        let other = threads.spawn(|| {
            let comm = lane.open();
            (0..meetings).try_for_each(|n| {
                meeting.hold(n);
                if n % 3 == 1 { messages(&comm) } else { Ok(()) }
            })
        });
        for block in 0..BLOCKS {
            let n = 3 * block as u32;
            let time = |count: u64, work: &dyn Fn() -> Result<()>| {
                let start = Instant::now();
                work()?;
                Ok(start.elapsed().as_nanos() as f64 / count as f64)
            };
            alone[block] = time(MESSAGES, &|| messages(world.comm()))?;
            meeting.hold(n);
            meeting.hold(n + 1);
            both[block] = time(2 * MESSAGES, &|| {
                messages(world.comm())?;
                meeting.hold(n + 2);
                Ok(())
            })?;
        }
        other.join().expect("no panic")
    })?;
    alone.sort_by(f64::total_cmp);
    both.sort_by(f64::total_cmp);
    let [alone, both] = [alone, both].map(|blocks| [blocks[0], blocks[BLOCKS / 2]]);
    println!(
        "{{\"kernel\":\"lanes\",\"bytes\":8,\"blocks\":{BLOCKS},\"messages\":{MESSAGES},\
         \"one_min_ns\":{:.1},\"one_median_ns\":{:.1},\"two_min_ns\":{:.1},\"two_median_ns\":{:.1},\
         \"ratio\":{:.2}}}",
        alone[0],
        alone[1],
        both[0],
        both[1],
        alone[1] / both[1]
    );
    Ok(())
}
