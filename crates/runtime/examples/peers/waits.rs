//! Measures the processor time of waiting: `waits MILLISECONDS`. Rank 0 makes no call for that time, while
//! the others wait for its message, and then in a barrier.
//!
//! Prints two lines from rank 1: its processor time, the number of its sleeps, and how long it waited after
//! rank 0 continued, as exactly as the two clocks allow. With `OXMPI_WAIT=passive` a rank is asleep within 10
//! ms, and takes less processor time than that however long the wait is.

use std::time::{Duration, Instant};

use oxmpi::World;

/// Processor time of this thread in milliseconds, and its voluntary context switches: sleeps, and yields to
/// another thread.
fn processor_time_and_switches() -> Result<(f64, u64), Box<dyn std::error::Error>> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds: f64 = schedstat.split(' ').next().unwrap_or_default().parse()?;
    let status = std::fs::read_to_string("/proc/thread-self/status")?;
    let mut lines = status.lines();
    let switches = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    Ok((
        nanoseconds / 1e6,
        switches.unwrap_or_default().trim().parse()?,
    ))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let world = World::init()?;
    let comm = world.comm();
    let away = std::env::args().nth(1).ok_or("waits MILLISECONDS")?;
    let away = Duration::from_millis(away.parse()?);
    for call in ["recv", "barrier"] {
        comm.barrier()?;
        let start = Instant::now();
        let before = processor_time_and_switches()?;
        if comm.rank() == 0 {
            std::thread::sleep(away);
        }
        match call {
            "barrier" => comm.barrier()?,
            _ if comm.rank() == 0 => {
                (1..comm.size()).try_for_each(|to| comm.send(&[0u8], to, 1))?
            }
            _ => drop(comm.recv_vec::<u8>(0, 1)?),
        }
        let waited = start.elapsed();
        let after = processor_time_and_switches()?;
        if comm.rank() == 1 {
            println!(
                "{{\"kernel\":\"waits\",\"call\":\"{call}\",\"ranks\":{},\"waited_ms\":{:.1},\
                 \"late_us\":{:.0},\"cpu_ms\":{:.3},\"switches\":{}}}",
                comm.size(),
                waited.as_secs_f64() * 1e3,
                waited.saturating_sub(away).as_secs_f64() * 1e6,
                after.0 - before.0,
                after.1 - before.1
            );
        }
    }
    Ok(())
}
