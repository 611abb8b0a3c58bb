//! Measures PingPong between two ranks with receives posted in advance: `posted BYTES...`; the twin of
//! `crates/bench/peers/posted.c`.
//!
//! Each receive is posted while the message before it is under way, so that every message finds its receive
//! posted. Prints one line for each length: nanoseconds one way, half the round trip.

mod blocks;
mod buffers;
mod content;
mod report;

use buffers::Pages;
use oxmpi::{Comm, Result, World};

struct Messages {
    out: Pages,
    into: [Pages; 2],
}

/// Runs `2 * times` round trips, an even number, so that the last message is in the second buffer.
fn round_trips(comm: &Comm, messages: &mut Messages, times: u64) -> Result<()> {
    let (out, [first, second]) = (&*messages.out, &mut messages.into);
    let (rank, other) = (comm.rank(), 1 - comm.rank());
    comm.scope(|s| {
        let mut earlier = s.irecv(&mut first[..], other, 1)?;
        let mut later = s.irecv(&mut second[..], other, 1)?;
        if rank == 0 {
            comm.send(out, 1, 1)?;
        }
        for i in 0..2 * times {
            let (into, _) = earlier.wait()?;
            if rank == 1 || i + 1 < 2 * times {
                comm.send(out, other, 1)?;
            }
            if i + 2 == 2 * times {
                later.wait()?;
                return if rank == 1 {
                    comm.send(out, 0, 1)
                } else {
                    Ok(())
                };
            }
            earlier = later;
            later = s.irecv(into, other, 1)?;
        }
        Ok(())
    })
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let world = World::init()?;
    let comm = world.comm();
    let rank = comm.rank();
    if comm.size() != 2 {
        return Err("posted: two ranks".into());
    }
    for bytes in buffers::lengths(0)? {
        let mut messages = Messages {
            out: Pages::new(bytes),
            into: [Pages::new(bytes), Pages::new(bytes)],
        };
        content::write(&mut messages.out, rank);
        let measured = blocks::measure(
            comm,
            2,
            &mut messages,
            |messages, times| round_trips(comm, messages, times),
            |messages| {
                for into in &mut messages.into {
                    content::write_wrong(into, 1 - rank);
                }
            },
        )?;
        let right = messages
            .into
            .iter()
            .all(|into| content::are_right(into, 1 - rank));
        report::report("posted", comm, bytes, &measured, 4.0, right);
    }
    Ok(())
}
