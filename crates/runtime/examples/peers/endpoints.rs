//! Measures the memory of endpoints: `endpoints`, as a single process or as a job of any size.
//!
//! Prints one line from rank 0: KiB of private and of shared memory for each endpoint that was opened, and
//! for each that has sent to all ranks. (`threads` measures the speed of several endpoints.)

use oxmpi::{Comm, Endpoint, Result, World};

/// Endpoints whose memory is measured.
const MANY: usize = 64;

/// KiB of this process in private and in shared memory.
fn memory() -> [u64; 2] {
    let status = std::fs::read_to_string("/proc/self/status").expect("a system with /proc");
    ["RssAnon:", "RssShmem:"].map(|name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let word = line.and_then(|line| line.split_whitespace().next());
        word.and_then(|word| word.parse().ok()).unwrap_or_default()
    })
}

/// Exchanges a short message between every two ranks.
fn exchange(comm: &Comm) -> Result<()> {
    for to in 0..comm.size() {
        comm.bsend(&[7u64], to, 1)?;
    }
    for from in 0..comm.size() {
        comm.recv(&mut [0u64], from, 1)?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    exchange(comm)?;
    let before = memory();
    let endpoints = (0..MANY).map(|_| comm.endpoint());
    let endpoints = endpoints.collect::<Result<Vec<Endpoint>>>()?;
    let comms: Vec<Comm> = endpoints.into_iter().map(Endpoint::open).collect();
    let opened = memory();
    comms.iter().try_for_each(exchange)?;
    let used = memory();
    comm.barrier()?;
    if comm.rank() == 0 {
        let each = |now: u64, before: u64| now.saturating_sub(before) as f64 / MANY as f64;
        println!(
            "{{\"kernel\":\"endpoints\",\"ranks\":{},\"endpoints\":{MANY},\"private_kib\":{:.1},\
             \"shared_kib\":{:.1},\"used_private_kib\":{:.1},\"used_shared_kib\":{:.1}}}",
            comm.size(),
            each(opened[0], before[0]),
            each(opened[1], before[1]),
            each(used[0], before[0]),
            each(used[1], before[1]),
        );
    }
    Ok(())
}
