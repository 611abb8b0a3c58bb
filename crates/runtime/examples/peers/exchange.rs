//! Measures Exchange of the Intel MPI Benchmarks: `exchange BYTES...`; the twin of
//! `crates/bench/peers/exchange.c`.
//!
//! Each rank starts a send to both neighbours, receives from both, and waits for its sends. Prints one line
//! for each length: nanoseconds of one round.

mod blocks;
mod buffers;
mod content;
mod report;

use buffers::Pages;
use oxmpi::{Comm, Request, Result, World};

struct Messages {
    out: Pages,
    from_left: Pages,
    from_right: Pages,
}

fn exchanges(comm: &Comm, messages: &mut Messages, times: u64) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    let out = &messages.out[..];
    for _ in 0..times {
        comm.scope(|s| {
            let sends = [s.isend(out, right, 1)?, s.isend(out, left, 1)?];
            comm.recv(&mut messages.from_left[..], left, 1)?;
            comm.recv(&mut messages.from_right[..], right, 1)?;
            sends
                .into_iter()
                .map(Request::wait)
                .try_for_each(|sent| sent.map(drop))
        })?;
    }
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let world = World::init()?;
    let comm = world.comm();
    let (rank, size) = (comm.rank(), comm.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    for bytes in buffers::lengths(0)? {
        let mut messages = Messages {
            out: Pages::new(bytes),
            from_left: Pages::new(bytes),
            from_right: Pages::new(bytes),
        };
        content::write(&mut messages.out, rank);
        let measured = blocks::measure(
            comm,
            size,
            &mut messages,
            |messages, times| exchanges(comm, messages, times),
            |messages| {
                content::write_wrong(&mut messages.from_left, left);
                content::write_wrong(&mut messages.from_right, right);
            },
        )?;
        let arrived = content::are_right(&messages.from_left, left)
            && content::are_right(&messages.from_right, right);
        report::report("exchange", comm, bytes, &measured, 1.0, arrived);
    }
    Ok(())
}
