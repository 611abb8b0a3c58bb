//! Measures the time that `oxmpi bench` adds to PingPong: `oxmpi run -n 2 --bind-to core overhead`.
//!
//! Blocks of the kernel, as `oxmpi bench` runs it, alternate with blocks of a loop of plain sends and
//! receives in one job. Rank 0 prints the median half round trip of both in nanoseconds, and their difference
//! in percent.

#[path = "../src/bench/timed_comm.rs"]
mod timed_comm;

use oxmpi::{Result, Source, World};
use oxmpi_bench::kernels::Sample;
use oxmpi_bench::{Comm, Kernel, Memory};
use timed_comm::TimedComm;

/// Number of blocks of the kernel, and of the loop.
const BLOCKS: usize = 401;
/// Round trips in a block.
const TRIPS: u32 = 2000;

const TAG: u32 = 1;

fn main() -> Result<()> {
    let world = World::init()?;
    let bare = world.comm().dup()?;
    let mut bound = TimedComm::new(world.comm().dup()?);
    let kernel = Kernel::PingPong;
    let buffer_sizes = (kernel.info().buffer_sizes)(0, 2);
    let mut memory = Memory::new(buffer_sizes, None);
    let mut buffers = memory.buffers(buffer_sizes);
    let sample = Sample {
        rank: bare.rank(),
        ranks: 2,
        seed: 0,
    };
    kernel.fill(sample, &mut buffers);

    let mut times = [Vec::new(), Vec::new()];
    for block in 0..2 * BLOCKS {
        bare.barrier()?;
        let start = bound.now();
        if block % 2 == 0 {
            kernel.repeat(&mut bound, TRIPS, &mut buffers)?;
        } else {
            bare_loop(&bare)?;
        }
        times[block % 2].push(bound.now() - start);
    }
    let half = |times: &mut Vec<u64>| {
        times.sort_unstable();
        times[times.len() / 2] as f64 / f64::from(2 * TRIPS)
    };
    let [kernel, loops] = times.each_mut().map(half);
    if bare.rank() == 0 {
        let percent = (kernel / loops - 1.0) * 100.0;
        println!("PingPong 0 B: kernel {kernel:.1} ns, bare loop {loops:.1} ns: {percent:+.1} %");
    }
    world.finalize()
}

/// PingPong in a loop of plain sends and receives.
fn bare_loop(comm: &oxmpi::Comm) -> Result<()> {
    let (out, mut into): ([u8; 0], [u8; 0]) = ([], []);
    for _ in 0..TRIPS {
        if comm.rank() == 0 {
            comm.send(&out, 1, TAG)?;
            comm.recv(&mut into, Source::Any, TAG)?;
        } else {
            comm.recv(&mut into, Source::Any, TAG)?;
            comm.send(&out, 0, TAG)?;
        }
    }
    Ok(())
}
