//! One rank of a trial: measures ping-pong messages in blocks.

use std::time::{Duration, Instant};

use oxmpi::{Comm, Result, World};
use oxmpi_os::affinity;

use super::plan::Timing;

/// Blocks for each length.
const BLOCKS: usize = 7;
/// Least time of a block.
const BLOCK: Duration = Duration::from_millis(1);
/// Messages before the first block: they map memory, touch pages and end the trials of protocols.
const WARM_UP: u64 = 40;

const TAG: u32 = 1;

/// Messages of a series: few enough that all fit in the buffers of the receiver.
const BURST: u64 = 32;

/// The options of `oxmpi settings --measure`.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::settings) struct MeasureOptions {
    /// Lengths of the messages in bytes.
    pub(in crate::settings) lengths: Vec<u64>,
    /// Which time is measured.
    pub(in crate::settings) timing: Timing,
    /// The processor of each rank; empty: ranks stay on their processors.
    pub(in crate::settings) processors: Vec<usize>,
}

/// Takes part in a job of two ranks. Rank 0 returns a line `BYTES NANOSECONDS` for each length.
///
/// # Errors
/// A sentence that says what failed.
pub(in crate::settings) fn measure(wanted: &MeasureOptions) -> std::result::Result<String, String> {
    bind(&wanted.processors)?;
    let world = World::init().map_err(|why| why.to_string())?;
    let comm = world.comm();
    if comm.size() != 2 {
        return Err(format!(
            "--measure is for a job of 2 ranks: oxmpi run -n 2 oxmpi settings --measure 1K,64K; \
             this one has {}",
            comm.size()
        ));
    }
    let mut text = String::new();
    for &bytes in &wanted.lengths {
        let time = message(comm, bytes as usize, wanted.timing);
        let time = time.map_err(|why| why.to_string())?;
        if comm.rank() == 0 {
            text += &format!("{bytes} {time:.1}\n");
        }
    }
    world.finalize().map_err(|why| why.to_string())?;
    Ok(text)
}

/// Binds this rank to its processor. The rank comes from the process manager, because init is too late for binding.
fn bind(processors: &[usize]) -> std::result::Result<(), String> {
    if processors.is_empty() {
        return Ok(());
    }
    let rank = std::env::var("PMI_RANK")
        .ok()
        .and_then(|text| text.parse::<usize>().ok());
    let Some(&cpu) = rank.and_then(|rank| processors.get(rank)) else {
        return Err("--on needs a processor for each rank of a job of `oxmpi run`".into());
    };
    affinity::set_current(&affinity::mask([cpu]))
        .map_err(|why| format!("cannot run on processor {cpu}: {why}"))
}

/// Nanoseconds of one message of `bytes` bytes, in the fastest block.
fn message(comm: &Comm, bytes: usize, timing: Timing) -> Result<f64> {
    Ok(match timing {
        Timing::OneWay => exchange(comm, bytes, 1)? / 2.0,
        Timing::BackToBack => {
            let (series, one) = (exchange(comm, bytes, BURST)?, exchange(comm, bytes, 1)?);
            // A series that takes no longer than one message gives the least time.
            ((series - one) / (BURST - 1) as f64).max(1.0)
        }
    })
}

/// Nanoseconds of `series` messages and one answer.
fn exchange(comm: &Comm, bytes: usize, series: u64) -> Result<f64> {
    let (out, mut into) = (vec![1; bytes], vec![0; bytes]);
    ping_pong(comm, &out, &mut into, series, WARM_UP)?;
    let mut times = 1;
    loop {
        let start = Instant::now();
        ping_pong(comm, &out, &mut into, series, times)?;
        let mut enough = [u8::from(start.elapsed() >= BLOCK)];
        comm.bcast_into(&mut enough, 0)?;
        if enough[0] != 0 {
            break;
        }
        times *= 2;
    }
    let mut fastest = f64::INFINITY;
    for _ in 0..BLOCKS {
        let start = Instant::now();
        ping_pong(comm, &out, &mut into, series, times)?;
        fastest = fastest.min(start.elapsed().as_nanos() as f64 / times as f64);
    }
    Ok(fastest)
}

/// `times` series of messages to the peer, each with one answer.
fn ping_pong(comm: &Comm, out: &[u8], into: &mut [u8], series: u64, times: u64) -> Result<()> {
    let peer = 1 - comm.rank();
    for _ in 0..times {
        if comm.rank() == 0 {
            for _ in 0..series {
                comm.send(out, peer, TAG)?;
            }
            comm.recv(into, peer, TAG)?;
        } else {
            for _ in 0..series {
                comm.recv(into, peer, TAG)?;
            }
            comm.send(out, peer, TAG)?;
        }
    }
    Ok(())
}
