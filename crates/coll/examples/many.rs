//! Measures the processor time of simulating every one of 700,000 ranks: a barrier, a gatherv and an
//! allreduce on the machine gemini. Fails if one of them takes more than a minute.
//!
//! ```sh
//! cargo run --release -p oxmpi-coll --features sim --example many
//! ```

use std::process::ExitCode;
use std::time::{Duration, Instant};

use oxmpi_coll::catalog::{Algorithm, Parameters};
use oxmpi_coll::sim::{Machine, Order, Placement, Setup, Simulation, Workload};

const RANKS: u32 = 700_000;

/// The most processor time for one simulation.
const LIMIT: Duration = Duration::from_secs(60);

/// The processor time of this thread, from the kernel's schedstat file
/// (`Documentation/scheduler/sched-stats.rst`), or the time since `start` if it cannot be read.
fn processor_time(start: Instant) -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let first = stat.as_deref().and_then(|line| line.split(' ').next());
    let nanoseconds = first.and_then(|number| number.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

fn main() -> ExitCode {
    let machine = Machine::GEMINI;
    let placement = Placement::new(Order::Block, RANKS, machine.per_node);
    let setup = Setup::new(machine, placement);
    let cases = [
        (Algorithm::BarrierNodeAware, 0, true),
        (Algorithm::GathervKnomial, 8, false),
        (Algorithm::AllreduceRecursiveDoubling, 8, false),
    ];
    let parameters = Parameters::NONE
        .with_radix(4)
        .with_per_node(machine.per_node);
    let (start, mut failed) = (Instant::now(), false);
    for (algorithm, bytes, flags) in cases {
        let before = processor_time(start);
        let work = Workload::new(algorithm.collective(), RANKS, bytes);
        let setup = setup.with_flags(flags);
        let report = match Simulation::new(&setup).work(&work, algorithm, &parameters) {
            Ok(report) => report,
            Err(why) => {
                eprintln!("{algorithm}: {why}");
                return ExitCode::FAILURE;
            }
        };
        let took = processor_time(start) - before;
        println!(
            "{algorithm}, {RANKS} ranks: {:.1} us simulated in {:.1} s of processor time",
            report.last() as f64 / 1e6,
            took.as_secs_f64(),
        );
        failed |= took > LIMIT;
    }
    if failed {
        eprintln!("many: a simulation took more than {LIMIT:?} of processor time");
    }
    ExitCode::from(u8::from(failed))
}
