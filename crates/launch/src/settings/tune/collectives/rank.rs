//! One rank of a job: calls a collective again and again.

use std::time::{Duration, Instant};

use oxmpi::{Comm, Op, Result, World};
use oxmpi_coll::catalog::Collective;

/// Blocks for each length.
const BLOCKS: usize = 5;
/// Least time of a block.
const BLOCK: Duration = Duration::from_millis(2);
/// Calls before the first block: they make tables, map memory and end the trials of protocols.
const WARM_UP: u32 = 20;

/// Takes part in a job that measures a collective. Rank 0 returns a line `BYTES NANOSECONDS` for each length.
///
/// # Errors
/// A sentence that says what failed.
pub(in crate::settings) fn measure(
    collective: Collective,
    lengths: &[u64],
) -> std::result::Result<String, String> {
    let world = World::init().map_err(|why| why.to_string())?;
    let comm = world.comm();
    let mut text = String::new();
    for &bytes in lengths {
        let mut calls = Calls::new(collective, bytes as usize, comm);
        let time = calls.fastest(comm).map_err(|why| why.to_string())?;
        if comm.rank() == 0 {
            text += &format!("{bytes} {time:.1}\n");
        }
    }
    world.finalize().map_err(|why| why.to_string())?;
    Ok(text)
}

/// The buffers of a collective: one vector or block, and one for each rank, those to send apart from those received.
struct Calls {
    collective: Collective,
    one: Vec<u8>,
    all: Vec<u8>,
    sent: Vec<u8>,
}

impl Calls {
    fn new(collective: Collective, bytes: usize, comm: &Comm) -> Self {
        let each = || vec![1; bytes * comm.size()];
        Calls {
            collective,
            one: vec![1; bytes],
            all: each(),
            sent: each(),
        }
    }

    /// Calls the collective once.
    fn call(&mut self, comm: &Comm) -> Result<()> {
        let Calls {
            collective,
            one,
            all,
            sent,
        } = self;
        let at_root = comm.rank() == 0;
        let op = Op::MAX;
        match collective {
            Collective::Barrier => comm.barrier(),
            Collective::Bcast => comm.bcast_into(one, 0),
            Collective::Gather => comm.gather_into(one, at_root.then_some(all), 0),
            Collective::Scatter => comm.scatter_into(at_root.then_some(all), one, 0),
            Collective::Allgather => comm.allgather_into(one, all),
            // In place, its algorithms have other plans, and some have none.
            Collective::Alltoall => comm.alltoall_into(sent, all),
            Collective::Reduce => comm.reduce_in_place(one, op, 0),
            Collective::Allreduce => comm.allreduce_in_place(one, op),
            _ => comm.reduce_scatter_block_into(all, one, op),
        }
    }

    fn calls(&mut self, comm: &Comm, times: u32) -> Result<Duration> {
        comm.barrier()?;
        let start = Instant::now();
        for _ in 0..times {
            self.call(comm)?;
        }
        // The last rank ends the block.
        comm.barrier()?;
        Ok(start.elapsed())
    }

    /// The nanoseconds of a call in the fastest block at rank 0.
    fn fastest(&mut self, comm: &Comm) -> Result<f64> {
        self.calls(comm, WARM_UP)?;
        let mut times = 1;
        loop {
            let mut enough = [u8::from(self.calls(comm, times)? >= BLOCK)];
            comm.bcast_into(&mut enough, 0)?;
            if enough[0] != 0 {
                break;
            }
            times *= 2;
        }
        let mut fastest = Duration::MAX;
        for _ in 0..BLOCKS {
            fastest = fastest.min(self.calls(comm, times)?);
        }
        Ok(fastest.as_nanos() as f64 / f64::from(times))
    }
}
