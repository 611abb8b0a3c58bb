//! One rank of a measurement: messages to and fro, timed in blocks.

use std::time::{Duration, Instant};

use oxmpi::{Comm, Result, World};
use oxmpi_os::affinity;

use super::plan::Timing;

/// Blocks for each length.
const BLOCKS: usize = 7;
/// What a block takes at least; up to twice as long.
const BLOCK: Duration = Duration::from_millis(1);
/// Messages before the first block: windows are mapped, pages touched, and roads have been tried.
const WARM_UP: u64 = 40;

const TAG: u32 = 1;

/// Messages of a row: many, and few enough that all fit where they wait for their receiver.
const BURST: u64 = 32;

/// What a rank is to do.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::settings) struct MeasureOptions {
    /// Bytes of the messages, one measurement each.
    pub(in crate::settings) lengths: Vec<u64>,
    /// What is timed of each.
    pub(in crate::settings) timing: Timing,
    /// Processors of the ranks; where there are none, each stays where it was put.
    pub(in crate::settings) processors: Vec<usize>,
}

/// Takes part in a job of two ranks; rank 0 gives a line `BYTES NANOSECONDS` for each length.
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

/// Binds this rank to its own one of `processors`. The rank is not known before the job is joined, and
/// then it is late: so the process manager's word is taken.
fn bind(processors: &[usize]) -> std::result::Result<(), String> {
    if processors.is_empty() {
        return Ok(());
    }
    let rank = std::env::var("PMI_RANK")
        .ok()
        .and_then(|text| text.parse::<usize>().ok());
    let Some(&cpu) = rank.and_then(|rank| processors.get(rank)) else {
        return Err("--on names a processor for each rank of a job that `oxmpi run` starts".into());
    };
    affinity::set_current(&affinity::mask([cpu]))
        .map_err(|why| format!("cannot run on processor {cpu}: {why}"))
}

/// Nanoseconds of one message of `bytes` bytes, in the fastest block, which nothing else disturbed.
fn message(comm: &Comm, bytes: usize, timing: Timing) -> Result<f64> {
    Ok(match timing {
        Timing::OneWay => exchange(comm, bytes, 1)? / 2.0,
        Timing::BackToBack => {
            let (row, one) = (exchange(comm, bytes, BURST)?, exchange(comm, bytes, 1)?);
            // Of a row that takes no longer than one message nothing is known but that it is short.
            ((row - one) / (BURST - 1) as f64).max(1.0)
        }
    })
}

/// Nanoseconds of `row` messages there and one back.
fn exchange(comm: &Comm, bytes: usize, row: u64) -> Result<f64> {
    let (out, mut into) = (vec![1; bytes], vec![0; bytes]);
    ping_pong(comm, &out, &mut into, row, WARM_UP)?;
    let mut times = 1;
    loop {
        let start = Instant::now();
        ping_pong(comm, &out, &mut into, row, times)?;
        let mut enough = [u8::from(start.elapsed() >= BLOCK)];
        comm.bcast(&mut enough, 0)?;
        if enough[0] != 0 {
            break;
        }
        times *= 2;
    }
    let mut fastest = f64::INFINITY;
    for _ in 0..BLOCKS {
        let start = Instant::now();
        ping_pong(comm, &out, &mut into, row, times)?;
        fastest = fastest.min(start.elapsed().as_nanos() as f64 / times as f64);
    }
    Ok(fastest)
}

/// `times` rows of messages to the other rank, each answered by one.
fn ping_pong(comm: &Comm, out: &[u8], into: &mut [u8], row: u64, times: u64) -> Result<()> {
    let other = 1 - comm.rank();
    for _ in 0..times {
        if comm.rank() == 0 {
            for _ in 0..row {
                comm.send(out, other, TAG)?;
            }
            comm.recv(into, other, TAG)?;
        } else {
            for _ in 0..row {
                comm.recv(into, other, TAG)?;
            }
            comm.send(out, other, TAG)?;
        }
    }
    Ok(())
}
