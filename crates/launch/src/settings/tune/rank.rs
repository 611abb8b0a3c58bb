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
    let round_trip = exchange(comm, bytes, 1)?;
    Ok(match timing {
        Timing::OneWay => one_way(round_trip),
        Timing::BackToBack => one_more(round_trip, exchange(comm, bytes, BURST)?),
    })
}

/// The time of one message from that of a message and its answer of the same length.
fn one_way(round_trip: f64) -> f64 {
    round_trip / 2.0
}

/// The time of one more message, from a series of one and of [`BURST`] messages, each with one answer.
fn one_more(round_trip: f64, series: f64) -> f64 {
    // A series that takes no longer than one message gives the least time.
    ((series - round_trip) / (BURST - 1) as f64).max(1.0)
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

#[cfg(test)]
mod tests {
    use super::{BURST, one_more, one_way};

    #[test]
    fn a_message_takes_half_of_a_round_trip() {
        for latency in [1.0, 250.5, 1e6] {
            assert_eq!(one_way(latency + latency), latency);
        }
    }

    #[test]
    fn only_the_further_messages_of_a_series_count() {
        for (latency, overhead) in [(500.0, 40.0), (1000.0, 1.5), (100.0, 100.0)] {
            let series = |messages: u64| 2.0 * latency + (messages - 1) as f64 * overhead;
            assert_eq!(one_more(series(1), series(BURST)), overhead);
        }
        // A busy processor can make one message slower than a series.
        assert_eq!(one_more(900.0, 800.0), 1.0);
    }
}
