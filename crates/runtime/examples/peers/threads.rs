//! Measures messages of 8 B of a rank to itself, by one thread and by two, each with its own endpoint.
//!
//! Prints two lines: nanoseconds of one message, all threads combined; `ranks` is the number of threads.
//! There is no C twin.

mod blocks;

use blocks::Measured;
use oxmpi::{Endpoint, Result, World};
use std::sync::Barrier;

const BYTES: usize = 8;

/// Measures messages of this thread to itself on `endpoint`, after all threads are ready. Returns the
/// measurement and whether the last message arrived.
fn measure_thread(endpoint: Endpoint, ready: &Barrier) -> Result<(Measured, bool)> {
    let comm = endpoint.open();
    let (out, mut into) = ([7u8; BYTES], [0; BYTES]);
    let measured = blocks::measure(
        &comm,
        1,
        &mut into,
        |into, times| {
            (0..times).try_for_each(|_| {
                comm.send(&out, 0, 1)?;
                comm.recv(into, 0, 1).map(drop)
            })
        },
        |into| {
            into.fill(0);
            ready.wait();
        },
    )?;
    Ok((measured, into == out))
}

/// The time of one message of all threads together, from the sum of their rates.
fn combined(all: &[Measured]) -> Measured {
    let rate = |block: usize| -> f64 { all.iter().map(|one| 1.0 / one.nanoseconds[block]).sum() };
    Measured {
        nanoseconds: std::array::from_fn(|block| 1.0 / rate(block)),
        repetitions: all.iter().map(|one| one.repetitions).sum(),
    }
}

fn main() -> Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    for threads in 1..=2 {
        let endpoints: Vec<Endpoint> = (0..threads)
            .map(|_| comm.endpoint())
            .collect::<Result<_>>()?;
        let ready = Barrier::new(threads);
        let ended: Vec<_> = std::thread::scope(|scope| {
            let start = |endpoint| scope.spawn(|| measure_thread(endpoint, &ready));
            let running: Vec<_> = endpoints.into_iter().map(start).collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            running.into_iter().map(join).collect::<Result<_>>()
        })?;
        let (measured, right): (Vec<Measured>, Vec<bool>) = ended.into_iter().unzip();
        let right = right.into_iter().all(|right| right);
        blocks::print("threads", threads, BYTES, &combined(&measured), 1.0, right);
    }
    Ok(())
}
